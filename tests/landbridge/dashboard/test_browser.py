"""The pages in a real browser, with 1,600 GPUs: there soon, legible, and to be read without colours. It makes the guide's pictures."""

import base64
import os
import struct
import threading
import zlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from landbridge.dashboard.server import SOCKET, Newest, Server, listening
from tests.support import browser
from tests.support.browser import Box, Tab
from tests.support.golden import ACCEPT

from .played import LARGE, SMALL, Played, large, node, pod, seen, small

pytestmark = [pytest.mark.matrix, browser.needed]
ROOT = Path(__file__).parents[3]
LOOKS = (Path(__file__).parent / "looks.js").read_text()
AT = datetime(2026, 1, 1, 3, 12, tzinfo=UTC)
WIDTH, HEIGHT, TABLET, TELEPHONE = 1280, 800, 820, 400
# By cluster: names as long as people give them are a third one's.
LONG = "machine-room-number-two-a"
PAGES = {
    "front": ("large", ""),
    "run": ("large", "runs/team-vision/train-9"),
    "machine": ("large", "nodes/host-5"),
    "small": ("small", ""),
    "long": ("long", ""),
    "long run": ("long", f"runs/team-vision/{LONG}"),
    "long machine": ("long", f"nodes/{LONG}-host-1"),
}
# Of the guide: the page, and the last thing that is on the picture.
PICTURES = {
    "dashboard": ("front", "section:nth-of-type(2)"),
    "dashboard-run": ("run", "section:last-child"),
    "dashboard-machine": ("machine", "section:last-child"),
}
MOST_BYTES = 150_000
# WCAG 2.2, 1.4.3.
CONTRAST = 4.5
# Of the legend's first: one state.
SHADES = 5
SIGHTS = ("none", "protanopia", "deuteranopia", "tritanopia", "achromatopsia")


class Site(NamedTuple):
    tab: Tab
    urls: Mapping[str, str]

    def open(self, page: str, width: int = WIDTH) -> float:
        """So high that all of it is seen."""
        self.tab.size(width, HEIGHT)
        seconds = self.tab.open(self.urls[page])
        self.tab.size(width, self.tab.run("() => document.documentElement.scrollHeight"))
        return seconds

    def looks(self, what: str, *given: object) -> Any:
        return self.tab.run(f"(...given) => ({LOOKS}).{what}(...given)", *given)


def long(folder: Path) -> tuple[Played, Path]:
    file = folder / "long.yaml"
    file.write_text(SMALL.read_text().replace("room", LONG))
    host = f"{LONG}-host-1"
    names = {"run": LONG, "person": LONG}
    return Played(nodes=[node(host, LONG, f"{LONG}-gpu")], pods=[pod(f"{LONG}-0", host, **names)]), file


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder, servers = tmp_path_factory.mktemp("browser"), dict[str, Server]()
    for name, (kube, file) in {"large": (large(), LARGE), "small": (small(), SMALL), "long": long(folder)}.items():
        now = seen(kube, folder, file)._replace(taken=AT)
        servers[name] = Server(listening(0), Newest(lambda now=now: now))
        os.environ.pop(SOCKET)
        threading.Thread(target=servers[name].serve_forever, args=(0.05,)).start()
    try:
        with browser.running(folder) as led:
            yield Site(led.tab(WIDTH, HEIGHT), {page: servers[name].url + path for page, (name, path) in PAGES.items()})
    finally:
        for server in servers.values():
            server.shutdown()
            server.server_close()


def test_1600_gpus_are_drawn_in_seconds_with_what_matters_in_words(site: Site) -> None:
    seconds = site.open("front")
    assert seconds < 10
    assert len(site.looks("boxes", ".map g")) == 1600
    words = " ".join(site.looks("said"))
    for wanted in ("1600 GPUs", "69 of 70 ready", "GPUs 486 of 560 held", "held, idle", "not usable", "up in part"):
        assert wanted in words, wanted


@pytest.mark.parametrize("page", PAGES)
def test_no_word_lies_over_another_or_leaves_its_box(site: Site, page: str) -> None:
    site.open(page)
    assert site.looks("overlaps") == []
    assert site.looks("outside") == []


@pytest.mark.parametrize("width", [TABLET, TELEPHONE])
@pytest.mark.parametrize("page", PAGES)
def test_on_a_narrow_screen_sections_scroll_and_the_page_does_not(site: Site, page: str, width: int) -> None:
    site.open(page, width)
    assert site.looks("overlaps") == []
    assert site.tab.run("() => document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("page", PAGES)
def test_each_word_stands_out_from_what_is_below_it(site: Site, page: str) -> None:
    site.open(page)
    found = site.looks("contrasts")
    assert len(found) > 20
    assert [one for one in found if one["ratio"] < CONTRAST] == []


@pytest.mark.parametrize("sight", SIGHTS)
def test_states_of_gpus_and_links_differ_in_light_alone_whatever_one_sees(site: Site, sight: str) -> None:
    """In a GPU's cell, or in a piece of a link's line: at least a mark's worth of pixels is darker or lighter."""
    site.open("front")
    site.tab.seen_by(sight)
    try:
        cells, lines = (site.looks("boxes", of) for of in (".legend svg", ".topology path[d*=' h36']"))
        lines = [(left, top - 3, width, 6) for left, top, width, _ in lines]
        picture = text(site.tab.picture(Box(0, 0, WIDTH, max(top for _, top, _, _ in cells) + 40)))
    finally:
        site.tab.seen_by("none")
    for boxes, same, least in ((cells, SHADES, 8), (lines, 1, 20)):
        assert len(boxes) >= same + 3
        looks = site.looks("lights", picture, [(*box[:2], *boxes[0][2:]) for box in boxes])
        for one, other in combinations(range(len(looks)), 2):
            if other >= same:
                differs = sum(abs(a - b) > 24 for a, b in zip(looks[one], looks[other], strict=True))
                assert differs >= least, f"{sight}: {one} and {other} of {len(looks)}: {differs} pixels"


@pytest.mark.parametrize("name", PICTURES)
def test_the_guide_s_pictures_are_of_these_pages(site: Site, name: str) -> None:
    page, last = PICTURES[name]
    site.open(page)
    ((_, top, _, height),) = site.looks("boxes", last)
    made = png(**site.looks("reduced", text(site.tab.picture(Box(0, 0, WIDTH, top + height + 16)))))
    kept = ROOT / "docs/img" / f"{name}.png"
    if os.environ.get(ACCEPT):
        kept.write_bytes(made)
    assert len(made) < MOST_BYTES
    told = f"{kept.name} is of another page: {ACCEPT}=1 .venv/bin/python -m pytest -m matrix {Path(__file__).relative_to(ROOT)}"
    # Letters of another browser or another font are no other page.
    assert site.looks("differ", text(kept.read_bytes()), text(made)) < 0.02, f"{told} makes it anew; look at it"


def text(png: bytes) -> str:
    return base64.b64encode(png).decode()


def png(width: int, height: int, colours: list[list[int]], pixels: str) -> bytes:
    """Of 256 colours at most: https://www.w3.org/TR/png-3/#11PLTE."""
    read = base64.b64decode(pixels)
    lines = b"".join(b"\0" + read[begin : begin + width] for begin in range(0, len(read), width))
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = {
        b"IHDR": head,
        b"PLTE": bytes(part for colour in colours for part in colour),
        b"IDAT": zlib.compress(lines, 9),
        b"IEND": b"",
    }
    packed = (
        struct.pack(">I", len(of)) + name + of + struct.pack(">I", zlib.crc32(name + of)) for name, of in chunks.items()
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)
