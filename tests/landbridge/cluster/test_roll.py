"""A roll decides from what is, touches one machine at a time, and stops at the first that is not healthy."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fleet.image_names import parameter
from landbridge import waiting
from landbridge.cluster import roll as rolls
from landbridge.cluster.info import ClusterInfo, MachineInfo
from landbridge.cluster.machines import State
from landbridge.cluster.roll import Roll, RollError, check, check_versions, order
from landbridge.cluster.session import Session
from landbridge.errors import UsageError
from landbridge.etcd.ring import Member, View
from landbridge.places import Place

NAMES = ("main-api-1", "main-api-2", "main-etcd-1", "main-etcd-2", "main-etcd-3")


def state(name: str, **given: Any) -> State:
    role = "etcd" if "etcd" in name else "api"
    base = State(name, role, "a", "10.0.0.1", f"i-{name}", "v1", "v2", "ami-1", "ami-1", (), ())
    return replace(base, **given)


def fleet_of(**given: dict[str, Any]) -> list[State]:
    return [state(name, **given.get(name.replace("-", "_"), {})) for name in NAMES]


def test_followers_go_first_leaders_last_and_api_machines_after_them() -> None:
    states = fleet_of(main_etcd_1={"leads": ("main",)}, main_etcd_2={"leads": ("events",)})
    assert order(states, (), force=False) == ["main-etcd-3", "main-etcd-2", "main-etcd-1", "main-api-1", "main-api-2"]


def test_what_ails_goes_before_all_others() -> None:
    states = fleet_of(main_api_2={"ails": ("its API server is not ready",)})
    assert order(states, (), force=False)[0] == "main-api-2"


def test_current_machines_stay_unless_forced() -> None:
    states = fleet_of(**{name.replace("-", "_"): {"bundle": "v2"} for name in NAMES})
    assert order(states, (), force=False) == []
    assert len(order(states, (), force=True)) == len(NAMES)
    assert order(states, ["main-api-1"], force=True) == ["main-api-1"]


def test_a_new_image_is_a_reason_and_an_unset_parameter_is_none() -> None:
    assert state("main-api-1", bundle="v2", wanted_image="ami-2").behind == ["image"]
    assert state("main-api-1", bundle="v2", wanted_image="").behind == []


def test_nothing_is_touched_while_another_machine_ails() -> None:
    states = fleet_of(main_etcd_2={"ails": ("etcd main: it does not answer",)})
    check(states, "main-etcd-2")
    with pytest.raises(RollError, match=r"stops before main-etcd-1(.|\n)*main-etcd-2: etcd main: it does not answer"):
        check(states, "main-etcd-1")


class Cloud:
    """Machines and their scaling groups: a successor comes a look later, with the newest bundle unless told else."""

    def __init__(self, states: list[State], *, broken: str = "", has: str = "1.36.2") -> None:
        self.states = {one.name: one for one in states}
        self.broken, self.ended, self.has = broken, list[str](), has
        self.moved: list[tuple[str, str]] = []
        self.ctl = self

    def __call__(self, service: str) -> "Cloud":
        assert service == "autoscaling"
        return self

    def terminate_instance_in_auto_scaling_group(self, **given: Any) -> None:
        assert given["ShouldDecrementDesiredCapacity"] is False
        name = given["InstanceId"].removeprefix("i-").removeprefix("new-")
        self.ended.append(name)
        others = [one.name for one in self.states.values() if one.ails and one.name != name]
        assert others == [], "two were away at once"
        ails = ("its boot stopped at keys",) if name == self.broken else ()
        was = self.states[name]
        new = {"instance": f"i-new-{name}", "bundle": was.wanted_bundle, "kubernetes": was.wanted_kubernetes}
        self.states[name] = replace(was, **new, ails=ails, leads=())

    def installed(self, machine: str) -> str:
        return self.has

    def look(self, ring: str = "") -> Any:
        if not ring:
            return dict(self.states)
        members = [
            Member(one.name, f"{n}", answers=True, leader=ring in one.leads, raft_index=5, applied=5)
            for n, one in enumerate(one for one in self.states.values() if one.role == "etcd")
        ]
        return View(ring, members)

    def call(self, machine: str, ring: str, verb: str, target: str) -> None:
        assert verb == "move-leader"
        names = [one.name for one in self.states.values() if one.role == "etcd"]
        self.moved.append((machine, names[int(target)]))
        self.states[machine] = replace(self.states[machine], leads=())
        to = self.states[names[int(target)]]
        self.states[to.name] = replace(to, leads=(*to.leads, ring))


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000_000, 10))
    time = SimpleNamespace(sleep=lambda _seconds: None, monotonic=lambda: next(clock))
    for module in (rolls, waiting):
        monkeypatch.setattr(module, "time", time)


def rolled(cloud: Cloud, *chosen: str, force: bool = False) -> tuple[Roll, list[str]]:
    machines = {name: MachineInfo(name, "", "", "", "", "") for name in NAMES}
    given = dict.fromkeys(ClusterInfo._fields, "")
    info = ClusterInfo(**{**given, "name": "main", "machines": machines})  # type: ignore[arg-type]
    session = Session(None, Place("local", Path(), "", "", Path()), info)  # type: ignore[arg-type]
    session.__dict__.update(of=cloud, remote=None)
    told: list[str] = []
    roll = Roll(session, told.append)
    roll.machines = cloud  # type: ignore[assignment]
    try:
        roll.run(chosen, force=force)
    except RollError as error:
        told.append(str(error))
    return roll, told


@pytest.mark.usefixtures("hurried")
def test_every_machine_is_replaced_once_and_leaders_hand_over_first() -> None:
    cloud = Cloud(fleet_of(main_etcd_1={"leads": ("main", "events")}))
    roll, _ = rolled(cloud)
    assert cloud.ended == ["main-etcd-2", "main-etcd-3", "main-etcd-1", "main-api-1", "main-api-2"]
    assert [moved[0] for moved in cloud.moved] == ["main-etcd-1", "main-etcd-1"]
    assert [one.machine for one in roll.done] == cloud.ended


@pytest.mark.usefixtures("hurried")
def test_it_stops_at_the_first_successor_that_is_not_healthy_and_says_what_it_lacks() -> None:
    cloud = Cloud(fleet_of(), broken="main-etcd-2")
    roll, told = rolled(cloud)
    assert cloud.ended == ["main-etcd-1", "main-etcd-2"]
    assert [one.machine for one in roll.done] == ["main-etcd-1"]
    assert "stops at main-etcd-2" in told[-1]
    assert "its boot stopped at keys" in told[-1]


@pytest.mark.usefixtures("hurried")
def test_run_again_it_goes_on_where_it_stopped() -> None:
    done = {"bundle": "v2"}
    cloud = Cloud(fleet_of(main_etcd_1=done, main_etcd_2=done))
    rolled(cloud)
    assert cloud.ended == ["main-etcd-3", "main-api-1", "main-api-2"]
    again = Cloud(list(cloud.states.values()))
    rolled(again)
    assert again.ended == []


OLD = {"bundle": "v2", "image": "ami-0", "kubernetes": "1.35.8", "wanted_kubernetes": "1.36.2"}


def aged(**given: Any) -> list[State]:
    return fleet_of(**{name.replace("-", "_"): {**OLD, **given} for name in NAMES})


def test_another_kubernetes_is_a_reason_which_its_image_is_not_told_beside() -> None:
    assert aged()[0].behind == ["Kubernetes"]
    assert aged(kubernetes="1.36.2")[0].behind == ["image"]
    assert aged(kubernetes="")[0].behind == ["Kubernetes"], "what was started before versions were told is older"


@pytest.mark.usefixtures("hurried")
def test_every_machine_goes_to_the_published_kubernetes() -> None:
    cloud = Cloud(aged())
    _, told = rolled(cloud)
    assert len(cloud.ended) == len(NAMES)
    assert "main-etcd-1: new Kubernetes" in told
    assert {one.kubernetes for one in cloud.states.values()} == {"1.36.2"}


@pytest.mark.usefixtures("hurried")
def test_an_image_with_another_kubernetes_than_it_was_promoted_for_ends_the_roll_at_the_first_machine() -> None:
    cloud = Cloud(aged(), has="1.35.8")
    _, told = rolled(cloud)
    assert cloud.ended == ["main-etcd-1"]
    assert "was to have Kubernetes 1.36.2, and says: 1.35.8" in told[-1]
    assert "images/cpu/1.36.2/stable" in told[-1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kubernetes": "1.34.9"}, "main-api-1: kubernetes 1.36.2 skips a minor version after 1.34.9"),
        ({"kubernetes": "1.37.0"}, "main-api-1: kubernetes 1.36.2 is older than 1.37.0"),
        ({"wanted_image": ""}, "nobody has set /example/images/cpu/1.36.2/stable"),
    ],
)
@pytest.mark.usefixtures("hurried")
def test_no_machine_goes_where_its_successor_may_not_run(given: dict[str, str], words: str) -> None:
    with pytest.raises(RollError) as refused:
        check_versions(aged(**given), "main", lambda version: parameter("example", version))
    assert words in str(refused.value)
    cloud = Cloud(aged(**given))
    rolled(cloud)
    assert cloud.ended == []


@pytest.mark.usefixtures("hurried")
def test_a_machine_that_is_no_machine_is_refused() -> None:
    with pytest.raises(UsageError, match="main-etcd-9: no machine of main"):
        rolled(Cloud(fleet_of()), "main-etcd-9")


@pytest.mark.usefixtures("hurried")
def test_no_machine_goes_while_another_that_is_current_ails() -> None:
    cloud = Cloud(fleet_of(main_etcd_2={"bundle": "v2", "ails": ("etcd main: it does not answer",)}))
    _, told = rolled(cloud)
    assert cloud.ended == []
    assert "waiting for main-etcd-2" in told[0]
    assert "stops before main-etcd-1" in told[-1]
