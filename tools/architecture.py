"""Draws docs/img/architecture.svg from the code's own imports: `make golden` writes it anew."""

import ast
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as Xml

Graph = Mapping[str, frozenset[str]]
PARTED = "components"  # its topics are shown, too
# What each package is; the order is that of the picture.
PACKAGES = {
    "landbridge": "the command line: runs stacks in their order, and has a command for all that operators do",
    "stacks": "the programs, one a kind of stack, and the contract between them",
    "components": "Pulumi components, a package a topic; each turns fleet and plan into plain data first",
    "images": "node images: recipe, bake, checks, publishing",
    "local": "the local cloud; no program knows of it",
    "policies": "what every fleet must hold, judged at preview",
    "services": "in a cluster: the autoscaler's cloud side, and runs' code",
    "evidence": "what a pod's end shows, and which cause that is",
    "fleet": "what a fleet is: model, loader, rules, address plan. It knows neither Pulumi nor any other package",
}
STYLE = """
.name{font-size:16px;font-weight:600;fill:#16324f}.topic{font-size:13px;font-weight:600;fill:#16324f}
.what{font-size:12px;fill:#3b4a5a}.knows{font-size:11px;fill:#5b6b7b}
"""
ARROW = "#d9822b"
LINE = 15.0
LETTERS = {"what": 6.3, "knows": 5.6}


class Box(NamedTuple):
    """Pixels from the picture's upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


WIDTH, HEIGHT = 1180, 614
BOXES = {
    "landbridge": Box(20, 20, 1140, 56),
    "stacks": Box(130, 114, 510, 56),
    "components": Box(70, 208, 510, 302),
    "images": Box(670, 114, 235, 74),
    "local": Box(925, 114, 235, 74),
    "policies": Box(690, 320, 205, 74),
    "services": Box(940, 320, 220, 74),
    "evidence": Box(900, 436, 210, 74),
    "fleet": Box(20, 548, 1140, 56),
}
COLUMNS, TOPIC, GAP = 3, Box(84, 280, 156, 68), 6.0


def module(path: Path, root: Path) -> list[str]:
    """a/b/c.py → a, b, c; of a package's own file the last part is __init__."""
    return list(path.relative_to(root).with_suffix("").parts)


def imported(tree: ast.AST, inside: list[str]) -> Iterator[list[str]]:
    """What a module imports, as dotted parts; `inside` is the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = inside[: -node.level] if node.level else []
            base += node.module.split(".") if node.module else []
            yield from ([*base, alias.name] for alias in node.names)


def packages(root: Path) -> Graph:
    """Package → the other ones of ours that its files import."""
    return _graph(root, list(PACKAGES), depth=0)


def topics(root: Path) -> Graph:
    """The same of the topics in components/; files beside them belong to none."""
    found = sorted(path.name for path in (root / PARTED).iterdir() if path.is_dir() and any(path.rglob("*.py")))
    return _graph(root, found, depth=1)


def _graph(root: Path, names: list[str], depth: int) -> Graph:
    graph = {}
    for name in names:
        folder = root / PARTED / name if depth else root / name
        known = {
            parts[depth]
            for path in folder.rglob("*.py")
            for parts in imported(ast.parse(path.read_text()), module(path, root))
            if len(parts) > depth and (not depth or parts[0] == PARTED)
        }
        graph[name] = frozenset(known & {*names} - {name})
    return graph


def lane(begin: Box, end: Box) -> float:
    """Where a straight arrow down meets no box between the two. Raises ValueError where none does."""
    between = [box for box in BOXES.values() if begin.bottom < box.bottom and box.y < end.y and box not in (begin, end)]
    free, at = [], max(begin.x, end.x)
    for box in [*sorted(between), Box(min(begin.right, end.right), 0, 0, 0)]:
        if box.x > at:
            free.append((min(box.x, begin.right, end.right) - at, -at))
        at = max(at, box.right)
    widest = max(free, default=(0.0, 0.0))
    if widest[0] <= 0:
        raise ValueError(f"no way from {begin} to {end}: move the boxes")
    return widest[0] / 2 - widest[1]


def svg(between: Graph, within: Graph) -> str:
    """The picture of both graphs."""
    picture = Xml.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img")
    picture.set("font-family", "Helvetica, Arial, sans-serif")
    Xml.SubElement(picture, "title").text = "Landbridge's packages, and which imports which"
    Xml.SubElement(picture, "style").text = STYLE
    marker = Xml.SubElement(Xml.SubElement(picture, "defs"), "marker", id="a", viewBox="0 0 8 8", orient="auto")
    for key, value in (("refX", "7"), ("refY", "4"), ("markerWidth", "7"), ("markerHeight", "7")):
        marker.set(key, value)
    Xml.SubElement(marker, "path", d="M0 0 L8 4 L0 8 z", fill=ARROW)
    Xml.SubElement(picture, "rect", width="100%", height="100%", fill="#ffffff")
    for name, box in BOXES.items():
        _card(picture, name, box)
    for number, (name, known) in enumerate(sorted(within.items())):
        row, column = divmod(number, COLUMNS)
        x, y = TOPIC.x + column * (TOPIC.width + GAP), TOPIC.y + row * (TOPIC.height + GAP)
        _rect(picture, Box(x, y, TOPIC.width, TOPIC.height), "#ffffff", "#9dbfe2")
        _text(picture, x + 8, y + 17, "topic", [name])
        _text(picture, x + 8, y + 32, "knows", _wrapped(_known(known), TOPIC, "knows"))
    for name, known in between.items():
        for other in sorted(known):
            at = f"{lane(BOXES[name], BOXES[other]):g}"
            path = f"M{at} {BOXES[name].bottom:g} L{at} {BOXES[other].y:g}"
            line = Xml.SubElement(picture, "path", {"d": path, "stroke": ARROW, "stroke-width": "1.8"})
            line.set("marker-end", "url(#a)")
            Xml.SubElement(line, "title").text = f"{name} imports {other}"
    Xml.indent(picture, space="")
    return Xml.tostring(picture, encoding="unicode") + "\n"


def _card(picture: Xml.Element, name: str, box: Box) -> None:
    fill, border = {"fleet": ("#e4f3ec", "#3f9a6d"), "local": ("#fdf4e8", "#c98a2e")}.get(name, ("#eef5fc", "#4a86c5"))
    _rect(picture, box, fill, border)
    _text(picture, box.x + 12, box.y + 24, "name", [name])
    _text(picture, box.x + 12, box.y + 42, "what", _wrapped(PACKAGES[name], box, "what"))


def _known(names: frozenset[str]) -> str:
    return f"knows {', '.join(sorted(names))}" if names else "knows no other topic"


def _wrapped(text: str, box: Box, style: str) -> list[str]:
    return textwrap.wrap(text, int((box.width - 16) / LETTERS[style]))


def _rect(picture: Xml.Element, box: Box, fill: str, border: str) -> None:
    place = {"x": f"{box.x:g}", "y": f"{box.y:g}", "width": f"{box.width:g}", "height": f"{box.height:g}", "rx": "8"}
    Xml.SubElement(picture, "rect", {**place, "fill": fill, "stroke": border, "stroke-width": "1.5"})


def _text(picture: Xml.Element, x: float, y: float, style: str, lines: list[str]) -> None:
    for number, line in enumerate(lines):
        place = {"x": f"{x:g}", "y": f"{y + number * LINE:g}", "class": style}
        Xml.SubElement(picture, "text", place).text = line
