"""Good files load; each bad one gives exactly the error beside it, with file, line, what and remedy."""

import os
from pathlib import Path

import pytest

from fleet.errors import FleetError
from fleet.loader import load

HERE = Path(__file__).parent
BAD = sorted(HERE.glob("bad/*/*.yaml"))
GOOD = [*sorted(HERE.glob("good/*.yaml")), HERE.parents[1] / "fleet.yaml"]


@pytest.mark.golden
@pytest.mark.parametrize("path", BAD, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_bad_file_says_what_is_wrong_where_and_what_would_be_right(path: Path) -> None:
    with pytest.raises(FleetError) as caught:
        load(path)
    expected = path.with_suffix(".error")
    if os.environ.get("LANDBRIDGE_ACCEPT"):
        expected.write_text(f"{caught.value}\n")
    assert f"{caught.value}\n" == expected.read_text()


def test_there_are_at_least_forty_bad_files() -> None:
    assert len(BAD) >= 40


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_file_loads(path: Path) -> None:
    assert load(path).regions


def test_all_problems_of_a_file_come_at_once(tmp_path: Path) -> None:
    text = (HERE / "good/smallest.yaml").read_text()
    file = tmp_path / "fleet.yaml"
    file.write_text(
        text.replace("size: small", "size: huge").replace("gid: 2000", "gid: 1").replace("owner: ops\n", "")
    )
    with pytest.raises(FleetError) as caught:
        load(file)
    assert [problem.line for problem in caught.value.problems] == [1, 6, 8]


def test_problems_of_shape_and_of_rules_come_together(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text(
        (HERE / "good/smallest.yaml").read_text().replace("zones: [a], size", "zones: [a, q], size")
        + "  b: {gid: 2000}\n"  # rule: the gid is taken
        + "sites:\n"
        + "  lab: {gateways: [192.0.2.1], asn: 65010, colour: red}\n"  # shape
        + "  two: {gateways: [192.0.2.300], asn: 65011}\n"  # shape
        + "clusters:\n  main: {region: us-west-2, kubernetes: 1.36.2}\n"
        + "pools:\n  rack: {kind: gpu, cluster: main, site: lab, owner: ops, hosts: [h1]}\n"  # fine but for its site
        + "  west: {kind: gpu, cluster: main, owner: ops, region: us-west-2, gpus: 8, max: 1, min: 2}\n"
        # Shape; that there is no pool of kind system nobody says, for there is one.
        + "  ctl: {kind: system, cluster: main, owner: ops, region: us-west-2, instance_type: m7i.large, min: two}\n"
        + "  work: {kind: cpu, cluster: main, owner: ops, region: us-west-2, instance_type: c7i.large, max: 4}\n"
    )
    with pytest.raises(FleetError) as caught:
        load(file)
    told = [(problem.line, problem.what) for problem in caught.value.problems]
    assert told == [
        (7, "zone 'q' of us-west-2 is none that aws has"),
        (10, "gid 2000 of teams.b is teams.ops's already"),
        (12, "sites.lab.colour is not known"),
        (13, "'192.0.2.300' is not an IPv4 address"),
        (18, "pool west has max 1 below min 2"),
        (18, "pool west has no instance_type"),
        (19, "pools.ctl.min is 'two'"),
    ]


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(FleetError, match=r"fleet\.yaml: there is no such file"):
        load(tmp_path / "fleet.yaml")
    (tmp_path / "fleet.yaml").write_bytes(b"fleet: \xff\xfe")
    with pytest.raises(FleetError, match="not UTF-8"):
        load(tmp_path / "fleet.yaml")


def test_anchors_and_merges_are_resolved_and_keep_their_lines(tmp_path: Path) -> None:
    text = (HERE / "good/smallest.yaml").read_text()
    site = "sites:\n  lab:\n    gateways: [192.0.2.1]\n    asn: 65010\n    hosts:\n      a: &h {cpus: 8, memory_gib: 1}\n      b: *h\n"
    file = tmp_path / "fleet.yaml"
    file.write_text(text + site + "      c: {<<: *h, cpus: 0}\n")
    with pytest.raises(FleetError, match=r"fleet\.yaml:17: sites\.lab\.hosts\.c\.cpus is 0"):
        load(file)
    file.write_text(text + site + "      c: {<<: *h, cpus: 4}\n")
    assert load(file).sites["lab"].hosts["c"].memory_gib == 1
