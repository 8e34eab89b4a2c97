"""`landbridge maintenance` on a real API server, with its policy and people's own rights, and the service beside it."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner

from fleet.model import Maintenance
from fleet.world import World, current
from landbridge.access import rbac
from landbridge.access.person import OPERATOR, Person
from landbridge.cluster.kube import Kube
from landbridge.commands import landbridge, maintenance
from landbridge.errors import LandbridgeError, UsageError
from landbridge.places import Place
from tests.components.addons.bed import ROOT, Applying
from tests.services.maintenance.bed import HOUR, Bed
from tests.support.apiserver import server

Command = Callable[..., str]
RESEARCH = "team-research"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    made = tmp_path_factory.mktemp("maintenance")
    with server(made, controllers=False) as kube:
        bed = Bed(kube, made, Maintenance(), RESEARCH)
        fleet, applied = current(ROOT / "fleet.yaml").fleet, Applying(kube)
        for one in [*rbac.teams(fleet), *rbac.person(fleet, "bob", "")]:
            applied(one)
        yield bed


@pytest.fixture
def bed(cluster: Bed) -> Bed:
    cluster.clear()
    cluster.node("lab-host-1")
    cluster.node("lab-host-2")
    cluster.pod("train-0", "lab-host-1")
    cluster.at = datetime.now(UTC).timestamp()
    return cluster


@pytest.fixture
def run(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> Command:
    """As an operator, or as a person by `--kubeconfig NAME`."""
    world = current(ROOT / "fleet.yaml")

    def opened(*, kubeconfigs: tuple[Any, ...], **_: Any) -> Person:
        who = str(kubeconfigs[0]) if kubeconfigs else ""
        return person(bed, world, who)

    monkeypatch.setattr(maintenance, "opened", opened)

    def call(*words: str) -> str:
        result = CliRunner().invoke(landbridge, ["maintenance", *words], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    return call


def person(bed: Bed, world: World, name: str) -> Person:
    place = cast(Place, SimpleNamespace(options=" --local"))
    if not name:
        return Person(world, place, "main", Kube(bed.server.kubeconfig()), OPERATOR, "")
    team = world.fleet.people[name].team
    kube = Kube(bed.server.kubeconfig(name, [f"landbridge:team:{team}"]))
    return Person(world, place, "main", kube, name, team)


def planned(run: Command, *words: str, after: str = "3h") -> str:
    told = run("plan", *(words or ("host-1",)), "--at", after, "--why", "new NIC", "--yes", "--json")
    return str(json.loads(told)["maintenance"])


def told(run: Command, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("--json", *words))["maintenances"]
    return found


def test_a_plan_says_whom_it_concerns_before_it_is_made(bed: Bed, run: Command) -> None:
    said = run("plan", "host-1", "--at", "3h", "--for", "90m", "--why", "new NIC", "--dry-run")
    assert "lab-host-1: 1 node, from " in said
    assert "Work there now: 1 pod (1 of research). It is told 60 min before at the latest." in said
    assert bed.names() == []
    assert planned(run).startswith("lab-host-1-")
    assert "Nothing is planned" not in run()


def test_what_would_be_too_soon_is_refused_and_the_remedy_is_taken(bed: Bed, run: Command) -> None:
    with pytest.raises(UsageError, match="whoever works there is told 60 min before") as error:
        planned(run, after="30m")
    earliest = re.search(r"--at (\S+);", str(error.value))
    assert earliest
    name = planned(run, after=earliest[1])
    # What can't wait begins by another command.
    bed.look(3)
    assert bed.there() == ["train-0"]
    run("now", name, "--yes")
    bed.pass_(30, times=4)
    assert bed.there() == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("host-7",), "main has no node host-7. Perhaps you mean lab-host-2"),
        (("pool", "site-gpus"), "main has no pool site-gpus. Perhaps you mean site-gpu"),
        (("rack", "3"), "rack is nothing that machines are planned by"),
        (("site", "lab", "host-1"), "that is more than one thing"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(words: tuple[str, ...], why: str, run: Command) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        planned(run, *words)


def test_a_time_that_is_none_is_refused_with_the_forms(run: Command) -> None:
    for text in ("25:00", "tonight"):
        with pytest.raises(UsageError, match=r"Write 22:00, 2026-12-01T22:00"):
            planned(run, after=text)


def test_mine_comes_first_and_people_see_whose_work_it_concerns(bed: Bed, run: Command) -> None:
    planned(run, "host-2", after="2h")
    name = planned(run)
    bed.look(2)
    assert [one["mine"] for one in told(run, "--kubeconfig", "bob")] == [True, False]
    assert [one["mine"] for one in told(run)] == [False, False]
    table = run("--kubeconfig", "bob").splitlines()
    assert table[1].split()[0] == name
    assert table[2] == "  lab-host-1: new NIC (an operator); work of research"
    shown = run("show", name, "--kubeconfig", "bob")
    assert "team-research/train-0" in shown


def test_who_has_work_there_postpones_it_as_often_as_the_fleet_allows(bed: Bed, run: Command) -> None:
    name = planned(run)
    bed.look(2)
    before = told(run)[0]["start"]
    assert f"{name} is postponed, to " in run("postpone", name, "2h", "--kubeconfig", "bob")
    after = told(run)[0]
    assert datetime.fromisoformat(after["start"]) - datetime.fromisoformat(before) == timedelta(hours=2)
    assert [one["by"] for one in after["postponed"]] == ["bob"]
    with pytest.raises(LandbridgeError, match=r"postponed by 4 hours in all\. Operators of main may do it"):
        run("postpone", name, "3h", "--kubeconfig", "bob")
    run("postpone", name, "1h", "--kubeconfig", "bob")
    with pytest.raises(LandbridgeError, match="it was postponed 2 times already"):
        run("postpone", name, "30m", "--kubeconfig", "bob")
    # The remedy: an operator may.
    run("postpone", name, "30m")


def test_who_has_none_there_may_not(bed: Bed, run: Command) -> None:
    name = planned(run, "host-2")
    bed.look(2)
    with pytest.raises(LandbridgeError, match="your team has no work there"):
        run("postpone", name, "1h", "--kubeconfig", "bob")


def test_people_plan_cancel_and_begin_nothing(bed: Bed, run: Command) -> None:
    with pytest.raises(LandbridgeError, match=r"not planned: bob may not\. Operators of main may"):
        run("plan", "host-1", "--at", "3h", "--why", "x", "--yes", "--kubeconfig", "bob")
    name = planned(run)
    bed.look(2)
    with pytest.raises(LandbridgeError, match="only its time may be changed"):
        run("cancel", name, "--kubeconfig", "bob")
    with pytest.raises(LandbridgeError, match="not begun: bob may not"):
        run("now", name, "--yes", "--kubeconfig", "bob")
    assert [one["phase"] for one in told(run)] == ["told"]


@pytest.mark.parametrize(
    "spec",
    [
        {"noticeSeconds": 0},
        {"why": "another one"},
        {"over": True},
        {"start": "2020-01-01T00:00:00Z"},
        {"postponed": [{"by": "alice", "at": "2026-01-01T00:00:00Z", "minutes": 60}]},
        {"postponed": [{"by": "bob", "at": "2026-01-01T00:00:00Z", "minutes": 60}]},
    ],
)
def test_by_hand_people_change_nothing_else(spec: dict[str, Any], bed: Bed, run: Command) -> None:
    name = planned(run)
    bed.look(2)
    kube = person(bed, current(ROOT / "fleet.yaml"), "bob").kube
    words = ("patch", "maintenance", name, "--type=merge", f"--patch={json.dumps({'spec': spec})}")
    result = kube.run(*words)
    assert result.code != 0
    assert "ValidatingAdmissionPolicy" in result.err


def test_what_has_begun_is_postponed_no_more_at_its_last_second_it_is(bed: Bed, run: Command) -> None:
    name = planned(run, after="2h")
    bed.look(2)
    start = datetime.fromisoformat(told(run)[0]["start"]).timestamp()
    bed.at = start - 1
    bed.look(3)
    assert [one["phase"] for one in told(run)] == ["closed"]
    run("postpone", name, "2h", "--kubeconfig", "bob")
    bed.pass_(1)
    assert [one["phase"] for one in told(run)] == ["told"]
    assert bed.there() == ["train-0"]
    bed.pass_(2 * HOUR)
    with pytest.raises(UsageError, match="not postponed: it has begun, on lab-host-1"):
        run("postpone", name, "1h", "--kubeconfig", "bob")
    run("done", name)
    bed.looked()
    assert told(run) == []
    assert [one["phase"] for one in told(run, "--all")] == ["done"]
    with pytest.raises(UsageError, match="it is done"):
        run("cancel", name)


def test_what_a_cloud_announces_is_not_ours_to_move(bed: Bed, run: Command) -> None:
    bed.plan("i-1", "node/lab-host-1", after=HOUR, source="ec2-event")
    bed.look(2)
    for words in (("postpone", "i-1", "1h"), ("cancel", "i-1"), ("now", "i-1", "--yes")):
        with pytest.raises(UsageError, match="it comes from EC2"):
            run(*words)


def test_a_name_that_is_none_is_answered_with_those_that_are(bed: Bed, run: Command) -> None:
    with pytest.raises(UsageError, match=r"main has no maintenance nic\. Nothing is planned"):
        run("cancel", "nic")
    name = planned(run)
    with pytest.raises(UsageError, match=rf"There are {name}"):
        run("cancel", "nic")
    run("cancel", name)
    bed.look(2)
    assert told(run) == []


@pytest.mark.parametrize("why", ["", "x" * 501])
def test_a_reason_that_nobody_can_store_is_refused_with_the_bounds(why: str, run: Command) -> None:
    with pytest.raises(UsageError, match=f"--why has {len(why)} characters, and may have 1 to 500"):
        run("plan", "host-1", "--at", "3h", "--why", why, "--yes")
