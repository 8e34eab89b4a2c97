"""A picture as SVG, in the colours and letters of all of ours. Lengths are in pixels."""

from xml.etree import ElementTree as Xml

NAMESPACE = "http://www.w3.org/2000/svg"
TEXT = "Helvetica, Arial, sans-serif"
STYLE = """
.name{font-size:16px;font-weight:600;fill:#16324f}.part{font-size:13px;font-weight:600;fill:#16324f}
.key{font-size:12px;fill:#5b6b7b}.word{font-size:12px;fill:#24323f}.badge{font-size:11px;font-weight:600;fill:#ffffff}
.address{font-size:12px;fill:#24323f;font-family:Menlo,Consolas,"DejaVu Sans Mono",monospace}
.title{font-size:22px;font-weight:600;fill:#16324f}.note{font-size:13px;fill:#5b6b7b}
"""
# Letters that fit beside what stands at the other edge.
MOST = {"name": 24, "part": 24, "key": 24, "word": 26}


class Sheet:
    """An SVG that grows."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.root = Xml.Element(
            "svg",
            {
                "xmlns": NAMESPACE,
                "viewBox": f"0 0 {width:g} {height:g}",
                "width": f"{width:g}",
                "height": f"{height:g}",
                "font-family": TEXT,
                "role": "img",
            },
        )
        Xml.SubElement(self.root, "title").text = title
        Xml.SubElement(self.root, "style").text = STYLE
        Xml.SubElement(self.root, "rect", {"width": "100%", "height": "100%", "fill": "#ffffff"})

    def rect(
        self, left: float, top: float, width: float, height: float, colours: tuple[str, str], radius: float
    ) -> None:
        fill, border = colours
        place = {"x": f"{left:g}", "y": f"{top:g}", "width": f"{width:g}", "height": f"{height:g}"}
        Xml.SubElement(self.root, "rect", {**place, "rx": f"{radius:g}", "fill": fill, "stroke": border})

    def piece(self, left: float, top: float, width: float, height: float, look: str, title: str) -> None:
        """Of a bar; `look` is a class."""
        place = {"x": f"{left:g}", "y": f"{top:g}", "width": f"{width:g}", "height": f"{height:g}", "class": look}
        Xml.SubElement(Xml.SubElement(self.root, "rect", place), "title").text = title

    def text(
        self, left: float, base: float, words: str, kind: str, anchor: str = "start", most: int | None = None
    ) -> None:
        """What has more letters than `most`, or than a kind may have, is cut, and whole in its title."""
        place = {"x": f"{left:g}", "y": f"{base:g}", "class": kind, "text-anchor": anchor}
        made = Xml.SubElement(self.root, "text", place)
        most = min(MOST.get(kind, len(words)), len(words) if most is None else most)
        made.text = words if len(words) <= most else f"{words[: most - 1]}…"
        if made.text != words:
            Xml.SubElement(made, "title").text = words

    def path(self, path_data: str, look: dict[str, str], title: str) -> None:
        Xml.SubElement(Xml.SubElement(self.root, "path", {"d": path_data, **look}), "title").text = title

    def written(self) -> str:
        Xml.indent(self.root, "")
        return Xml.tostring(self.root, "unicode") + "\n"
