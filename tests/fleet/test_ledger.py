"""The committed ledger: edits, merges and staleness show before anything is built on it."""

import datetime
import subprocess
from pathlib import Path
from types import MappingProxyType

import pytest

from fleet import world
from fleet.address import ledger as ledgers
from fleet.address.blocks import parse
from fleet.errors import FleetError

DAY = datetime.date(2026, 1, 1)
GOOD = Path(__file__).parent / "good/smallest.yaml"
REGION = "  {name}: {{cloud: aws, zones: [a], size: small}}\n"


def write_plan(fleet: Path) -> None:
    _, _, plan = world.drafted(fleet, DAY)
    ledgers.write(ledgers.ledger_path(fleet), plan.ledger)


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yaml"
    path.write_text(GOOD.read_text())
    write_plan(path)
    return path


def add_region(fleet: Path, name: str) -> None:
    fleet.write_text(fleet.read_text().replace("teams:\n", f"{REGION.format(name=name)}teams:\n"))


def test_a_fresh_ledger_is_taken(fleet: Path) -> None:
    assert world.current(fleet).plan.region("us-west-2").network == "10.128.0.0/20"


def test_a_missing_or_stale_ledger_names_the_command(fleet: Path) -> None:
    add_region(fleet, "us-east-1")
    with pytest.raises(
        FleetError, match=r"region/us-east-1 is new and not in the ledger\. Run `landbridge plan --write`"
    ):
        world.current(fleet)
    ledgers.ledger_path(fleet).unlink()
    with pytest.raises(FleetError, match="no ledger yet"):
        world.current(fleet)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("10.128.0.0/20", "10.128.16.0/20", "does not lie in|hold the same|edited by hand"),
        ("since: 2026-01-01", "since: 2026-01-02", "edited by hand or merged"),
        ("region/us-west-2/network: {", "region/us-west-2/netwrok: {", "is no name of a prefix"),
        ("cidr: 10.128.0.0/18", "cidr: 10.128.0.1/18", "not a network address"),
        ("version: 1", "version: 7", "version 7 of the ledger is not known"),
        ("supernet:", "supernett:", "'supernet' is missing"),
        ("cidr: 10.128.0.0/18", "cidr: 7", "'7' is not an IPv4 prefix"),
        ("released:", "released: nothing", "the ledger is damaged"),
    ],
)
def test_an_edited_ledger_is_refused_with_its_line(fleet: Path, old: str, new: str, message: str) -> None:
    path = ledgers.ledger_path(fleet)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(FleetError, match=message) as caught:
        world.current(fleet)
    assert all(problem.line is not None for problem in caught.value.problems)


def test_a_supernet_that_strands_live_prefixes_is_refused_with_its_line(fleet: Path) -> None:
    fleet.write_text(fleet.read_text().replace("supernet: 10.128.0.0/16", "supernet: 10.64.0.0/16"))
    with pytest.raises(FleetError, match=r"fleet\.yaml:4: region/us-west-2 is live as 10\.128\.0\.0/18, outside the"):
        world.drafted(fleet, DAY)
    fleet.write_text(fleet.read_text().replace("supernet: 10.64.0.0/16", "supernet: 10.128.0.0/12"))
    assert not world.drafted(fleet, DAY)[2].changes  # a larger one that holds the old is welcome


def test_a_reservation_over_a_live_prefix_is_refused(fleet: Path) -> None:
    fleet.write_text(fleet.read_text() + "reserved: [{cidr: 10.128.16.0/24, why: printers}]\n")
    with pytest.raises(FleetError, match=r"fleet\.yaml:10: reserved 10\.128\.16\.0/24 overlaps region/us-west-2"):
        world.drafted(fleet, DAY)


@pytest.mark.parametrize("cidr", ["169.254.1.0/30", "169.254.21.0/30", "10.128.0.0/30"])
def test_a_tunnel_where_no_tunnel_may_be_is_refused_whatever_the_digest_says(fleet: Path, cidr: str) -> None:
    fleet.write_text(fleet.read_text() + "sites: {lab: {gateways: [192.0.2.1], asn: 65010}}\n")
    write_plan(fleet)
    path = ledgers.ledger_path(fleet)
    old = ledgers.load(path)
    entry = old.live["link/lab/us-west-2/1"]
    moved = {**old.live, "link/lab/us-west-2/1": ledgers.Entry(parse(cidr), entry.since)}
    ledgers.write(path, ledgers.Ledger(old.supernet, MappingProxyType(moved), old.resting))
    with pytest.raises(FleetError, match=f"link/lab/us-west-2/1 is live as {cidr}, where AWS has no tunnels"):
        world.current(fleet)


def git(folder: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=check)


def test_two_branches_that_each_add_a_region_conflict_in_the_ledger(fleet: Path) -> None:
    folder = fleet.parent
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "base")
    for name in ("us-east-1", "eu-west-1"):
        git(folder, "checkout", "-q", "-b", name, "main")
        add_region(fleet, name)
        write_plan(fleet)
        git(folder, "commit", "-qam", name)
    merged = git(folder, "merge", "us-east-1", check=False)
    assert merged.returncode != 0
    assert "fleet.lock.yaml" in merged.stdout
    with pytest.raises(FleetError, match="Take the ledger of the branch you merge into"):
        ledgers.load(ledgers.ledger_path(fleet))
    # Even a merge that keeps both sides' lines, as a hasty hand would, does not pass the check.
    text = ledgers.ledger_path(fleet).read_text()
    kept = "\n".join(line for line in text.splitlines() if not line.startswith(("<<<<<<<", "=======", ">>>>>>>")))
    ledgers.ledger_path(fleet).write_text(kept)
    fleet.write_text(
        "\n".join(line for line in fleet.read_text().splitlines() if line[:7] not in ("<<<<<<<", "=======", ">>>>>>>"))
    )
    with pytest.raises(FleetError):
        world.current(fleet)
