"""`landbridge pki rotate`: a phase a call, going on where it stopped, and no step before the one it needs."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from components.control_plane.rotation import BACK, ON, SUBJECTS, Way
from fleet import rotations
from fleet.rotations import Standing, rotations_path
from landbridge.cluster.info import ClusterInfo, MachineInfo
from landbridge.cluster.session import Session
from landbridge.engine.stack_report import Step
from landbridge.errors import ConsentError, UsageError
from landbridge.output import Output
from landbridge.pki import rotate
from landbridge.pki.phases import moving, picked, standings
from landbridge.pki.rotate import Rotation, RotationError, dropped, refusals, under
from landbridge.places import Place
from landbridge.remote_execution import CommandResult

KEY, CERT, BYTES, LEAF = (
    "tls:index/privateKey:PrivateKey",
    "tls:index/selfSignedCert:SelfSignedCert",
    "random:index/randomBytes:RandomBytes",
    "tls:index/locallySignedCert:LocallySignedCert",
)
URN = "urn:pulumi:main::landbridge::landbridge:control-plane:Authority$"


class World:
    """All that a rotation asks of a fleet."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "fleet.yaml"


class Cloud:
    """What a run did, in order. `broken`: what fails, once."""

    def __init__(self, folder: Path) -> None:
        self.world, self.did, self.broken = World(folder), list[str](), ""

    def fails(self, what: str) -> None:
        if self.broken == what:
            self.broken = ""
            raise ConsentError(what)

    def rotation(self, *, now: bool = True, way: Way = ON) -> Rotation:
        cloud = self
        machines = {f"main-etcd-{n}": MachineInfo(f"main-etcd-{n}", "etcd", "a", "", "", "") for n in (1, 2)}
        given = dict.fromkeys(ClusterInfo._fields, "")
        info = ClusterInfo(**{**given, "name": "main", "machines": machines})  # type: ignore[arg-type]
        place = Place("local", Path(), "", "", Path())
        session = Session(self.world, place, info)  # type: ignore[arg-type]

        class Fake(Rotation):
            def up(self, undo: str | None) -> None:
                cloud.did.append(f"up {phases(self.path)}")
                try:
                    cloud.fails("preview")
                except ConsentError:
                    self.undo(undo)
                    raise

        console = Console(file=StringIO())
        return Fake(session, Output(console, console, as_json=False), now=now, way=way)

    def call(self, *only: str, whole: bool = False, now: bool = True, way: Way = ON) -> Rotation:
        rotation = self.rotation(now=now, way=way)
        rotation.run(only, whole=whole)
        return rotation

    def back(self, *only: str, whole: bool = False, now: bool = True) -> Rotation:
        return self.call(*only, whole=whole, now=now, way=BACK)

    @property
    def at(self) -> dict[str, Standing]:
        return standings(rotations_path(self.world.path), "main")  # type: ignore[arg-type]


def phases(path: Path) -> str:
    found = {at.phase + ("" if at.since else "…") for at in rotations.load(path).get("main", {}).values()}
    return " ".join(sorted(found))


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    made = Cloud(tmp_path)

    class Roll:
        def __init__(self, *_: Any) -> None:
            self.done: list[Any] = []

        def run(self, _chosen: Collection[str], *, force: bool) -> None:
            assert not force
            made.did.append("roll")
            made.fails("roll")

    monkeypatch.setattr(rotate, "Roll", Roll)
    monkeypatch.setattr(rotate.info, "read", lambda _place, _name: made.rotation().session.info)

    def rewrite(_session: Session, old: int, _tell: Any) -> None:
        made.fails("secrets")
        made.did.append(f"secrets off {old}")

    monkeypatch.setattr(rotate, "rewrite_secrets", rewrite)
    return made


def test_each_call_is_one_phase_and_three_are_a_rotation(cloud: Cloud) -> None:
    seen = []
    for _ in range(3):
        cloud.call()
        seen.append({(at.generation, at.phase) for at in cloud.at.values()})
    assert seen == [{(1, "trust")}, {(1, "issue")}, {(2, "steady")}]
    assert cloud.did == ["up trust…", "roll", "up issue…", "roll", "secrets off 1", "up steady…", "roll"]
    assert all(at.since for at in cloud.at.values())
    assert moving(cloud.at, datetime.now(UTC)) == []


def test_all_phases_in_one_call_end_at_rest_and_begin_no_second_rotation(cloud: Cloud) -> None:
    cloud.call(whole=True)
    assert cloud.did.count("roll") == 3
    assert {(at.generation, at.phase) for at in cloud.at.values()} == {(2, "steady")}


def test_one_key_moves_alone_and_the_next_call_goes_on_with_it(cloud: Cloud) -> None:
    cloud.call("etcd-clients")
    cloud.call()
    assert cloud.at["etcd-clients"].phase == "issue"
    assert {cloud.at[other] for other in SUBJECTS if other != "etcd-clients"} == {Standing()}
    text = rotations_path(cloud.world.path).read_text()
    assert "kubernetes" not in text
    cloud.call()
    assert "secrets off 1" not in cloud.did, "no key of Secrets ended"


def test_a_roll_that_stopped_is_gone_on_with_before_any_next_phase(cloud: Cloud) -> None:
    cloud.broken = "roll"
    with pytest.raises(ConsentError):
        cloud.call()
    assert all(at.phase == "trust" and at.since is None for at in cloud.at.values())
    assert moving(cloud.at, datetime.now(UTC))[0].finished is False
    cloud.did.clear()
    cloud.call()
    assert cloud.did == ["up trust…", "roll"]
    assert all(at.phase == "trust" and at.since for at in cloud.at.values())


def test_the_last_roll_gone_on_with_begins_no_new_rotation(cloud: Cloud) -> None:
    cloud.call()
    cloud.call()
    cloud.broken = "roll"
    with pytest.raises(ConsentError):
        cloud.call(whole=True)
    cloud.did.clear()
    cloud.call(whole=True)
    assert cloud.did == ["up steady…", "roll"]
    assert {(at.generation, at.phase) for at in cloud.at.values()} == {(2, "steady")}


@pytest.mark.parametrize("before", [0, 1])
def test_nothing_is_begun_by_a_preview_that_is_refused(cloud: Cloud, before: int) -> None:
    for _ in range(before):
        cloud.call()
    path = rotations_path(cloud.world.path)  # type: ignore[arg-type]
    was = path.read_text() if path.exists() else None
    cloud.broken = "preview"
    with pytest.raises(ConsentError):
        cloud.call()
    assert (path.read_text() if path.exists() else None) == was


def test_some_keys_wait_and_a_leaked_one_does_not(cloud: Cloud) -> None:
    cloud.call()
    cloud.call(now=False)
    assert cloud.at["service-accounts"].phase == "trust", "clouds keep the issuer's keys for a day"
    assert cloud.at["kubernetes"].phase == "issue"
    cloud.call(now=False)
    assert cloud.at["kubernetes"].phase == "issue", "kubelets' certificates live seven days"
    assert (cloud.at["encryption"].generation, cloud.at["encryption"].phase) == (2, "steady")
    cloud.did.clear()
    cloud.call(now=False)
    assert cloud.did == []
    cloud.call("kubernetes")
    assert cloud.at["kubernetes"].generation == 2


def test_back_from_issue_makes_all_anew_before_the_new_key_is_dropped(cloud: Cloud) -> None:
    cloud.call()
    cloud.call()
    cloud.did.clear()
    seen = []
    for _ in range(2):
        cloud.back()
        seen.append({(at.generation, at.phase, at.given_up) for at in cloud.at.values()})
    assert seen == [{(1, "back", 0)}, {(1, "steady", 1)}]
    assert cloud.did == ["up back…", "roll", "secrets off 2", "up steady…", "roll"]
    assert all(at.since for at in cloud.at.values())
    assert moving(cloud.at, datetime.now(UTC)) == []
    cloud.call()
    assert {at.successor for at in cloud.at.values()} == {3}, "the number of a key that was given up is not used again"


def test_back_from_trust_is_one_call_and_waits_for_nothing(cloud: Cloud) -> None:
    cloud.call()
    cloud.did.clear()
    cloud.back(whole=True, now=False)
    assert cloud.did == ["secrets off 2", "up steady…", "roll"]
    assert {(at.generation, at.phase) for at in cloud.at.values()} == {(1, "steady")}


def test_what_the_new_key_signed_outside_is_waited_for_on_the_way_back(cloud: Cloud) -> None:
    cloud.call()
    cloud.call()
    cloud.back(whole=True, now=False)
    held = {key for key, at in cloud.at.items() if at.phase == "back"}
    assert held == {"kubernetes", "service-accounts"}, "kubelets' certificates and tokens"
    assert {at.phase for key, at in cloud.at.items() if key not in held} == {"steady"}
    until = {one.key: one.not_before for one in moving(cloud.at, datetime.now(UTC))}
    assert all(until.values()), until
    cloud.did.clear()
    cloud.back(now=False)
    assert cloud.did == []
    cloud.back()
    assert {at.phase for at in cloud.at.values()} == {"steady"}


def test_secrets_that_stay_under_the_new_key_keep_it(cloud: Cloud) -> None:
    cloud.call("encryption", whole=False)
    cloud.call()
    cloud.back()
    was = phases(rotations_path(cloud.world.path))  # type: ignore[arg-type]
    cloud.did.clear()
    cloud.broken = "secrets"
    with pytest.raises(ConsentError):
        cloud.back()
    assert cloud.did == []
    assert phases(rotations_path(cloud.world.path)) == was == "back"  # type: ignore[arg-type]


@pytest.mark.parametrize(("calls", "then"), [(0, "up steady…"), (1, "up back…")], ids=["trust", "issue"])
def test_a_phase_that_goes_wrong_half_way_turns_round_at_once(cloud: Cloud, calls: int, then: str) -> None:
    for _ in range(calls):
        cloud.call("etcd-clients")
    cloud.broken = "roll"
    with pytest.raises(ConsentError):
        cloud.call("etcd-clients")
    cloud.did.clear()
    cloud.back()
    assert cloud.did == [then, "roll"]
    assert cloud.at["etcd-clients"].since


def test_a_way_back_that_stopped_is_ended_before_its_next_phase(cloud: Cloud) -> None:
    cloud.call()
    cloud.call()
    for phase in ("back", "steady"):
        cloud.broken = "roll"
        with pytest.raises(ConsentError):
            cloud.back()
        assert all(at.phase == phase and at.since is None for at in cloud.at.values())
        cloud.did.clear()
        cloud.back()
        assert cloud.did == [f"up {phase}…", "roll"]
    assert {(at.generation, at.phase, at.given_up) for at in cloud.at.values()} == {(1, "steady", 1)}


def test_a_key_that_turns_round_takes_no_other_one_out_of_its_unfinished_phase(cloud: Cloud) -> None:
    for _ in range(2):
        cloud.call("kubernetes")
    cloud.call("etcd-clients")
    cloud.broken = "roll"
    with pytest.raises(ConsentError):
        cloud.call("etcd-clients")
    cloud.broken = "roll"
    with pytest.raises(ConsentError):
        cloud.back("kubernetes", "etcd-clients")
    path = rotations_path(cloud.world.path)  # type: ignore[arg-type]
    at = {**cloud.at, "etcd-clients": Standing(phase="issue")}
    rotations.write(path, {"main": {key: one for key, one in at.items() if one != Standing()}})
    cloud.did.clear()
    cloud.back()
    assert cloud.did == ["up back…", "roll"]
    assert {cloud.at[key].phase for key in ("kubernetes", "etcd-clients")} == {"back"}


def test_nothing_at_rest_is_taken_back(cloud: Cloud) -> None:
    with pytest.raises(UsageError, match="no way back for what is at rest in main: every key"):
        cloud.back()
    cloud.call("kubernetes")
    with pytest.raises(UsageError, match=r"at rest in main: encryption \(generation 1\)"):
        cloud.back("encryption", "kubernetes")
    assert cloud.at["kubernetes"].phase == "trust"


def test_a_key_on_its_way_back_goes_on_again_only_where_it_is_named(cloud: Cloud) -> None:
    for _ in range(2):
        cloud.call("kubernetes", "front-proxy")
    cloud.back("kubernetes")
    cloud.call()
    assert (cloud.at["kubernetes"].phase, cloud.at["front-proxy"].generation) == ("back", 2)
    with pytest.raises(UsageError, match="On their way back: kubernetes"):
        cloud.call()
    cloud.call("kubernetes")
    assert cloud.at["kubernetes"].phase == "issue"
    assert cloud.at["kubernetes"].successor == 2


def test_which_keys_a_call_moves() -> None:
    rest = dict.fromkeys(SUBJECTS, Standing())
    assert picked(rest, ()) == list(SUBJECTS)
    under_way = {**rest, "encryption": Standing(phase="trust")}
    assert picked(under_way, ()) == ["encryption"]
    assert picked(under_way, ("kubernetes",)) == ["kubernetes"]
    assert picked(under_way, (), BACK) == ["encryption"]
    assert picked(rest, (), BACK) == []


def resource(type_: str, name: str) -> dict[str, str]:
    return {"urn": f"{URN}{type_}::{name}", "type": type_}


def test_only_keys_of_dropped_generations_lose_their_protection() -> None:
    at = {**dict.fromkeys(SUBJECTS, Standing()), "kubernetes": Standing(generation=2)}
    state = {
        "resources": [
            *(resource(type_, f"kubernetes-{n}") for type_ in (KEY, CERT) for n in (1, 2)),
            resource(BYTES, "encryption-1"),
            resource(KEY, "manifests"),
            resource(LEAF, "main-api-1-apiserver"),
        ]
    }
    assert sorted(dropped(state, at).values()) == ["kubernetes-1", "kubernetes-1"]
    issue = {**at, "kubernetes": Standing(generation=1, phase="issue")}
    assert dropped(state, issue) == {}
    given_up = {**at, "kubernetes": Standing(given_up=1)}
    assert sorted(dropped(state, given_up).values()) == ["kubernetes-2", "kubernetes-2"]
    assert sorted(dropped(state, {**at, "kubernetes": Standing(given_up=1, phase="trust")}).values()) == [
        "kubernetes-2",
        "kubernetes-2",
    ]
    assert dropped(None, at) == {}


def test_the_run_may_delete_these_and_no_other_key() -> None:
    def step(verb: str, type_: str, name: str) -> Step:
        return Step(verb, type_, name, False, (), {})

    gone = {"kubernetes-1"}
    assert refusals("main", [step("deleted", KEY, "kubernetes-1"), step("deleted", CERT, "kubernetes-1")], gone) == []
    assert refusals("main", [step("replaced", KEY, "kubernetes-1")], gone)
    assert refusals("main", [step("deleted", KEY, "service-accounts-1")], gone)


class Reach:
    def __init__(self, *said: CommandResult) -> None:
        self.said, self.asked = list(said), list[str]()

    def run(self, machine: str, argv: Any, stdin: bytes = b"", timeout_seconds: float = 60) -> CommandResult:
        self.asked.append(machine)
        return self.said.pop(0)


@pytest.mark.parametrize(
    ("said", "count"), [("     7 k8s:enc:secretbox:v1:key-1:\n", 7), ("", 0)], ids=["some", "none"]
)
def test_what_lies_under_the_old_key_is_asked_of_a_member_that_answers(cloud: Cloud, said: str, count: int) -> None:
    session = cloud.rotation().session
    reach = Reach(CommandResult(0, "1 etcd-did-not-answer\n", ""), CommandResult(0, said, ""))
    session.__dict__["remote"] = reach
    assert under(session, 1) == count
    assert reach.asked == ["main-etcd-1", "main-etcd-2"]
    session.__dict__["remote"] = Reach(*[CommandResult(0, "1 etcd-did-not-answer\n", "")] * 2)
    with pytest.raises(RotationError, match="none answers"):
        under(session, 1)


def test_since_counts_from_the_last_machine(cloud: Cloud) -> None:
    cloud.call("kubernetes")
    since = cloud.at["kubernetes"].since
    assert since is not None
    assert datetime.now(UTC) - since < timedelta(minutes=1)
