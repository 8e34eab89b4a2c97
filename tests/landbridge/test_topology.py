"""The picture of a fleet: all that is planned is in it, nothing lies over anything else, and the guide's is this one."""

import json
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from click.testing import CliRunner, Result

from components.links.plan import crossings, peerings, tunnels
from fleet.model import Site
from fleet.world import World, current
from landbridge.commands import landbridge
from landbridge.sheet import Sheet
from landbridge.topology import cards, drawing, labels
from tests.components.links.bed import planned
from tests.support import golden

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
# Of a letter of 12 px, generously: proportional, and of one width.
WORD, ADDRESS = 7.0, 7.3


@pytest.fixture(scope="module")
def example() -> World:
    return current(ROOT / "fleet.yaml")


def told(*words: str) -> Result:
    return CliRunner().invoke(landbridge, ["topology", "--fleet", str(ROOT / "fleet.yaml"), *words])


def drawn(sites: int = 1, *azure: str) -> Xml.Element:
    more = {f"site-{n}": Site(gateways=[f"192.0.2.{n}0", f"192.0.2.{n}1"], asn=65020 + n) for n in range(1, sites)}
    fleet, plan = planned(*azure, **more)
    joined, peered, crossed = tunnels(fleet, plan), peerings(fleet), crossings(fleet, plan)
    found = labels.regions(fleet, plan), labels.sites(fleet, plan)
    return Xml.fromstring(drawing.svg(fleet.fleet, "note", *found, joined, peered, crossed))


def words(picture: Xml.Element) -> set[str]:
    return {one.text or "" for one in picture.iter(f"{SVG}text")}


@pytest.mark.golden
def test_the_guide_s_picture_is_the_example_s(tmp_path: Path) -> None:
    file = tmp_path / "a.svg"
    assert told("--output", str(file)).exit_code == 0
    golden.same(ROOT / "docs/img/topology.svg", file.read_text())


def test_all_that_is_planned_is_in_it(example: World) -> None:
    fleet, plan = example.fleet, example.plan
    picture = Xml.fromstring(told("--output", "-").stdout)
    seen = words(picture)
    assert {*fleet.regions, *fleet.sites, *fleet.clusters, *fleet.pools} < seen
    assert {*plan.tunnels.values()} < seen
    assert {str(block) for name, block in plan.aggregates().items() if not name.startswith("cluster/")} < seen
    assert {plan.cluster("main").pods, plan.cluster("main").services, "up to 1,600", "64 h100"} < seen
    titles = [one.findtext(f"{SVG}title", "") for one in picture.iter(f"{SVG}path")]
    assert sum(title.endswith(": 2 tunnels") for title in titles) == 8
    assert sum(title.endswith(" and southcentralus: 4 tunnels") for title in titles) == 12
    assert sum(title.endswith(": peering") for title in titles) == 3


@pytest.mark.parametrize(("sites", "azure"), [(1, ()), (4, ()), (1, ("westeurope",))])
def test_nothing_lies_over_anything_else_or_outside(sites: int, azure: tuple[str, ...]) -> None:
    picture = drawn(sites, *azure)
    width, height = (float(picture.attrib[name]) for name in ("width", "height"))
    boxes = [
        tuple(float(one.attrib[key]) for key in ("x", "y", "width", "height"))
        for one in picture.iter(f"{SVG}rect")
        if "rx" in one.attrib
    ]
    big = [box for box in boxes if box[2] == drawing.SHEET.width]
    assert len(big) == 3 + len(azure) + sites
    for left, top, wide, high in boxes:
        assert left >= 0
        assert top >= 0
        assert left + wide <= width
        assert top + high <= height
    for one, other in combinations(big, 2):
        apart = one[0] + one[2] <= other[0] or other[0] + other[2] <= one[0]
        assert apart or one[1] + one[3] <= other[1] or other[1] + other[3] <= one[1]
    rows: dict[tuple[float, float], list[float]] = {}
    for text in picture.iter(f"{SVG}text"):
        kind, left = text.attrib["class"], float(text.attrib["x"])
        if kind in ("key", "word", "address"):
            long = len(text.text or "") * (ADDRESS if kind == "address" else WORD)
            card = next(
                box
                for box in big
                if box[0] <= left <= box[0] + box[2] and box[1] < float(text.attrib["y"]) < box[1] + box[3]
            )
            rows.setdefault((card[0], float(text.attrib["y"])), []).append(long)
    assert max(sum(row) for row in rows.values()) <= drawing.SHEET.width - 2 * cards.PAD


def test_a_name_that_is_too_long_is_cut_and_whole_in_its_title() -> None:
    sheet = Sheet(100, 100, "t")
    sheet.text(0, 0, "a" * 32, "name")
    (found,) = Xml.fromstring(sheet.written()).iter(f"{SVG}text")
    assert found.text == f"{'a' * 23}…"
    assert found.findtext(f"{SVG}title") == "a" * 32


def test_programs_hear_of_tunnels_and_peerings(example: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = json.loads(told("--json").stdout)
    assert not list(tmp_path.iterdir()), "no picture unless it is asked for"
    assert document["tunnels"] == [{**one._asdict(), "name": one.name} for one in tunnels(example.fleet, example.plan)]
    assert [one["name"] for one in document["peerings"]] == [one.name for one in peerings(example.fleet)]
    assert [one["name"] for one in document["crossings"]] == [
        f"{aws}/southcentralus/{number}" for aws in ("us-west-2", "us-east-1", "eu-west-1") for number in range(1, 5)
    ]
    assert told().exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["example-topology.svg"]


def test_where_it_can_t_be_written_is_said(tmp_path: Path) -> None:
    missing = tmp_path / "none" / "a.svg"
    found = told("--output", str(missing))
    assert f"{missing}: No such file or directory: name another file with --output" in str(found.exception)
    assert told("--json", "--output", "-").exit_code == 2


def test_what_is_seen_of_links_is_told_by_form_as_well_as_by_colour() -> None:
    fleet, plan = planned()
    joined, peered = tunnels(fleet, plan), peerings(fleet)
    first, whole = joined[0], [one.name for one in joined if one.region == joined[-1].region]
    states = {first.name: drawing.UP, joined[1].name: drawing.DOWN, peered[0].name: drawing.UP}
    states |= dict.fromkeys(whole, drawing.DOWN)
    found = labels.regions(fleet, plan), labels.sites(fleet, plan)
    picture = Xml.fromstring(drawing.svg(fleet.fleet, "note", *found, joined, peered, live=states))
    looks = {one.findtext(f"{SVG}title", ""): one.attrib for one in picture.iter(f"{SVG}path")}
    for title, look in (
        (f"{joined[0].name}, up", drawing.UP),
        (f"{joined[1].name}, down", drawing.DOWN),
        (f"{joined[2].name}, not known", drawing.UNKNOWN),
        (f"{peered[0].here} and {peered[0].there}: peering, up", drawing.UP),
    ):
        assert drawing.LIVE[look].items() <= looks[title].items()
    assert len({look.get("stroke-dasharray") for look in drawing.LIVE.values()}) == len(drawing.LIVE)
    assert {*drawing.LEGENDS[True][0]} < words(picture)
    signs = [
        one.findtext(f"{SVG}title") for one in picture.iter(f"{SVG}path") if drawing.SIGN.items() <= one.attrib.items()
    ]
    assert signs == [drawing.PART, drawing.DOWN], "one of two tunnels is down, and both of another link"
