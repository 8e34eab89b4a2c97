"""What every page has: its head, whose it is, how old, and what was not seen. Pure."""

from datetime import datetime

from landbridge import tables

from .heat import HATCH
from .markup import NOTHING, Markup, address, tag, together
from .snapshot import Pod, Snapshot
from .style import STYLE

# Nothing comes from elsewhere, and nothing runs.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
RELOAD_SECONDS = 15


def page(seen: Snapshot, title: str, *parts: Markup, linked: bool = True) -> str:
    """Not `linked`: a file of its own, which stays as it is."""
    name = f"{title} · {seen.fleet} {seen.cluster}"
    reload = tag("meta", http_equiv="refresh", content=RELOAD_SECONDS) if linked else NOTHING
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        reload,
        tag("title", name),
        tag("style", Markup(STYLE)),
    )
    home = f"{seen.fleet} · {seen.cluster}"
    header = tag(
        "header",
        tag("h1", tag("a", home, href="/") if linked else home),
        tag("p", f"{title} · {seen.whose}"),
        tag("p", f"{seen.taken:%d %b %Y %H:%M:%S} UTC"),
    )
    body = tag("body", HATCH, header, tag("main", blind(seen), *parts))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def blind(seen: Snapshot) -> Markup:
    if not seen.not_seen:
        return NOTHING
    return tag("section", together(tag("p", f"Not seen: {one}.") for one in seen.not_seen), class_="blind")


def section(title: str, *parts: object, note: str = "") -> Markup:
    return tag("section", tag("h2", title, tag("span", note) if note else NOTHING), *parts)


def link(words: str, *path: str, linked: bool) -> Markup:
    return tag("a", words, href=address(*path)) if linked and all(path) else tag("span", words)


def run_link(pod: Pod, *, linked: bool) -> Markup:
    """What is no run has a name and no page."""
    return link(pod.run, "runs", pod.space, pod.run, linked=linked) if pod.run else tag("span", pod.name)


def since(seen: Snapshot, moment: datetime | None) -> str:
    return tables.age((seen.taken - moment).total_seconds()) if moment else ""


def share(active: float | None) -> str:
    return "-" if active is None else f"{active:.0%}"
