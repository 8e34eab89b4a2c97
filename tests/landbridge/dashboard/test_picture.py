"""The picture of places and links: what stands on it is what nodes, pods and clouds tell."""

import re
from pathlib import Path

import pytest

from components.addons.monitoring import fleet_metrics
from fleet.address.plan import draft
from fleet.loader import load
from fleet.model import Fleet
from landbridge.dashboard.front import front
from landbridge.dashboard.picture import states
from landbridge.dashboard.planned import Planned, planned
from landbridge.dashboard.style import BAD, CELLS, INK, KEY, PAPER, STYLE
from landbridge.sheet import STYLE as SHEET
from landbridge.topology import cards, drawing
from tests.components.addons import bed

from .played import LARGE, Played, large, seen, small, tunnels

# Ratios by WCAG 2.2: of words (1.4.3), and of what is no word and says something (1.4.11).
WORDS, FORMS = 4.5, 3.0


def of(fleet: Fleet) -> Planned:
    return planned(fleet, draft(fleet, None, bed.BORN).plan, "main")


def picture(text: str) -> str:
    return text.partition('<div class="topology">')[2].partition("</svg>")[0]


def rows(text: str) -> dict[str, dict[str, str]]:
    """By place; names have a badge after them."""
    found: dict[str, dict[str, str]] = {}
    words = re.findall(r'class="(\w+)"[^>]*>([^<]+)<', picture(text))
    for number, (kind, said) in enumerate(words):
        if kind == "name":
            found[said] = {}
        if kind == "key":
            found[[*found][-1]][said] = words[number + 1][1]
    return found


def titles(text: str) -> list[str]:
    return re.findall(r"<title>([^<]*)</title>", picture(text))


def test_what_clouds_are_asked_of_is_what_is_drawn() -> None:
    fleet = load(LARGE)
    fleet.sites["lab"].gateways.append("192.0.2.11")
    told = {one["connection"] for one in fleet_metrics.connections(fleet, "main")}
    drawn = [*of(fleet).connections()]
    assert {connection for _, connection in drawn} == told
    assert len({name for name, _ in drawn}) == len(drawn) == 4 * 2 * 2 + 3 * 4


def test_places_of_the_cluster_are_drawn_and_no_others() -> None:
    fleet = load(LARGE)
    found = of(fleet)
    assert [(one.name, one.badge, one.home) for one in (*found.regions, *found.sites)] == [
        ("us-west-2", "AWS", True),
        ("us-east-1", "AWS", False),
        ("eu-west-1", "AWS", False),
        ("southcentralus", "Azure", False),
        ("lab", "site", False),
    ]
    fewer = of(fleet.model_copy(update={"pools": {name: fleet.pools[name] for name in ("west-gpu", "east-gpu")}}))
    assert [one.name for one in fewer.regions] == ["us-west-2", "us-east-1"]
    assert (fewer.sites, fewer.tunnels, fewer.crossings) == ([], [], [])
    assert [one.name for one in fewer.peerings] == ["us-east-1/us-west-2"]


def test_cards_say_what_is_there_and_what_is_wrong(tmp_path: Path) -> None:
    text = front(seen(small(), tmp_path))
    assert rows(text) == {
        "us-west-2": {"control plane": "main", "machines": "2 of 2 ready", "GPUs": "0 of 8 held"},
        "room": {
            "machines": "4 of 5 ready",
            "GPUs": "18 of 40 held",
            "held, idle": "8",
            "not usable": "9",
            "alarms": "2",
        },
    }
    bad = re.findall(r'class="bad"[^>]*>([^<]+)<', picture(text))
    assert bad == ["4 of 5 ready", "8", "9", "2"]
    assert titles(text)[-9:-4] == ["10 at work", "8 held, idle", "5 free", "8 free, but closed", "9 not usable"]


def test_where_no_machine_is_that_is_said(tmp_path: Path) -> None:
    found = rows(front(seen(Played(), tmp_path)))
    assert found["room"] == {"machines": "none", "GPUs": "none"}


@pytest.mark.parametrize(("up", "state"), [(1.0, drawing.UP), (0.5, drawing.PART), (0.0, drawing.DOWN)])
def test_a_link_is_drawn_as_its_cloud_sees_it(up: float, state: str, tmp_path: Path) -> None:
    found = front(seen(Played(links=[tunnels("room", "us-west-2", up)]), tmp_path))
    assert [one for one in titles(found) if one.startswith("room/")] == [f"room/us-west-2/{n}, {state}" for n in (1, 2)]
    signs = [sign for sign in drawing.SIGNS.values() if sign in picture(found)]
    assert signs == ([drawing.SIGNS[state]] if state in drawing.SIGNS else [])


def test_of_what_nobody_asked_nothing_is_claimed(tmp_path: Path) -> None:
    now = seen(large(), tmp_path, LARGE)
    assert len(states(now)) == 20
    assert states(now._replace(links=[])) == {}
    team = front(seen(large(), tmp_path, LARGE, name="ann", team="vision"))
    links = [one for one in titles(team) if one.startswith(("lab/", "us-west-2/"))]
    assert len(links) == 12
    assert {one.partition(", ")[2] for one in links} == {drawing.UNKNOWN}


def light(colour: str) -> float:
    """https://www.w3.org/TR/WCAG22/#dfn-relative-luminance, of #rgb and #rrggbb."""
    full = "".join(2 * letter for letter in colour[1:]) if len(colour) == 4 else colour[1:]
    shares = (int(full[at : at + 2], 16) / 255 for at in (0, 2, 4))
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    less, more = sorted((light(one), light(other)))
    return (more + 0.05) / (less + 0.05)


def test_words_stand_out_from_every_ground_that_they_may_stand_on() -> None:
    of_pages = {*re.findall(r"[;{]color:(#\w+)", STYLE.partition("main{")[2]), BAD, KEY, INK}
    of_cards = {*re.findall(r"fill:(#\w+)", SHEET)} - {"#ffffff"}
    grounds = {"#ffffff", PAPER, *(fill for fill, _ in cards.COLOURS.values())}
    assert len(of_pages) >= 5
    for word in of_pages | of_cards:
        for ground in grounds:
            assert contrast(word, ground) >= WORDS, f"{word} on {ground}"
    for head in re.findall(r"[;{]color:(#\w+)", STYLE.partition("header{")[2].partition("main{")[0]):
        assert contrast(head, INK) >= WORDS, head
    for badge in cards.BADGES.values():
        assert contrast("#ffffff", badge) >= WORDS, badge


def test_lines_and_borders_stand_out_too() -> None:
    for state, look in drawing.LIVE.items():
        assert contrast(look["stroke"], "#ffffff") >= FORMS, state
    for state in ("free", "shut", "broken"):
        (border,) = re.findall(r"stroke:(#\w+)", CELLS[state])
        assert contrast(border, "#ffffff") >= FORMS, state
