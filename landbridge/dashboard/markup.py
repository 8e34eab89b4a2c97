"""HTML and SVG as text, in which nothing stands unescaped that was not made here. Pure."""

from collections.abc import Iterable
from html import escape
from urllib.parse import quote

VOID = {"meta", "br"}


class Markup(str):
    """Stands as it is."""

    __slots__ = ()


NOTHING = Markup("")


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Children that are no Markup are escaped, and so are attributes; those that are None are left out.

    `class_` is class, and `stroke_width` is stroke-width.
    """
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    head = "".join(f' {key}="{escape(str(value))}"' for key, value in given.items())
    return Markup(f"<{name}{head}>" if name in VOID else f"<{name}{head}>{together(children)}</{name}>")


def together(children: Iterable[object]) -> Markup:
    return Markup("".join(child if isinstance(child, Markup) else escape(str(child)) for child in children))


def address(*parts: str) -> str:
    """Of one of our pages."""
    return "/" + "/".join(quote(part, safe="") for part in parts)


def table(heads: Iterable[str], rows: Iterable[Iterable[object]], right: Iterable[str] = (), none: str = "") -> Markup:
    """`right` are heads of columns of numbers; `none` is said where there are no rows."""
    heads, ends = [*heads], {*right}
    looks = ["number" if head in ends else None for head in heads]
    made = [[tag("td", cell, class_=look) for cell, look in zip(row, looks, strict=True)] for row in rows]
    if not made:
        return tag("p", none, class_="none")
    top = together(tag("th", head, class_=look) for head, look in zip(heads, looks, strict=True))
    body = together(tag("tr", together(row)) for row in made)
    return tag("table", tag("thead", tag("tr", top)), tag("tbody", body))
