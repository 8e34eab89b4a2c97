"""`landbridge cluster rebuild`: refused where there is nothing to rebuild, and going on where it stopped."""

import datetime
import json
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from components.control_plane.rotation import SUBJECTS
from fleet import rebuilds, rotations
from fleet.address import ledger as ledgers
from fleet.rebuilds import Origin
from fleet.rotations import Standing as Phase
from fleet.world import World, current, drafted
from landbridge.cluster import rebuild, rebuild_state
from landbridge.cluster.rebuild import Rebuild, RebuildError, Taken
from landbridge.commands.cluster_rebuild import following
from landbridge.errors import ConsentError, LandbridgeError, UsageError
from landbridge.etcd.restore import Restored
from landbridge.etcd.store import Snapshot
from landbridge.output import Output
from landbridge.places import Place

WEST, EAST = "us-west-2", "us-east-1"
SECRET = "test/main/recovery-1f2e3d4c"
OLDER, NEWER = (f"copies/{WEST}/main/main/2026-11-21T{time}Z-{n}.db" for time, n in (("154500", 41), ("160000", 42)))
FLEET = """\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
regions:
  us-west-2: {cloud: aws, zones: [a, b]}
  us-east-1: {cloud: aws, zones: [a, b]}
clusters:
  main: {region: us-east-1, kubernetes: 1.36.2}
teams:
  ops: {gid: 2000}
"""
PAIR = {"crt": "a", "key": "b", "pub": "c"}
KEPT = {
    "issuer": "https://old",
    "authorities": {name: {"1": PAIR} for name in SUBJECTS if name not in ("service-accounts", "encryption")},
    "service_accounts": {"1": PAIR},
    "encryption": {"1": "key"},
}
ONCE = dict.fromkeys(SUBJECTS, (1,))
TOLD = {subject: {"trusted": [1], "signing": 1} for subject in SUBJECTS}


def state(region: str, **more: Any) -> dict[str, Any]:
    copies = {"region": EAST, "recovery_secret": SECRET}
    outputs = {
        "region": region,
        "endpoint": "https://127.0.0.1:1",
        "authority": "",
        "generations": TOLD,
        "copies": copies,
    }
    return {"resources": [{"type": "pulumi:pulumi:Stack", "urn": "::main", "outputs": {**outputs, **more}}]}


class Cloud:
    """The engine's stacks and what lies in the region that is left. `broken`: the step that fails, once."""

    def __init__(self, world: World) -> None:
        self.world, self.did, self.broken = world, list[str](), ""
        self.stacks: dict[str, Any] = {"main": state(WEST)}
        self.replica, self.secrets_, self.objects = True, {SECRET: json.dumps(KEPT)}, [NEWER, OLDER]

    def does(self, what: str) -> None:
        if self.broken == what:
            self.broken = ""
            raise ConsentError(what)
        self.did.append(what)

    def secret(self, name: str) -> str:
        return self.secrets_[name]

    def has_secret(self, name: str) -> bool:
        return name in self.secrets_

    def secrets(self, prefix: str) -> list[str]:
        return sorted(name for name in self.secrets_ if name.startswith(prefix))

    def adopt(self, name: str) -> bool:
        if self.replica:
            self.does(f"adopt {name}")
        was, self.replica = self.replica, False
        return was

    def where(self, key: str) -> str:
        return f"at {key}"

    def listed(self, prefix: str) -> list[Snapshot]:
        at = datetime.datetime.now(datetime.UTC)
        return [Snapshot(key, 1, at) for key in self.objects if key.startswith(prefix)]

    def engine(self, stack: str) -> Any:
        def rename(name: str) -> None:
            self.does(f"rename {stack} {name}")
            self.stacks[name] = self.stacks.pop(stack)

        def remove() -> None:
            self.does(f"remove {stack}")
            del self.stacks[stack]

        return SimpleNamespace(state=lambda: self.stacks.get(stack), rename=rename, remove=remove)

    @property
    def origin(self) -> Origin | None:
        return rebuilds.load(rebuilds.rebuilds_path(self.world.path)).get("main")

    def run(self, *, agreed: bool = True, although_alive: bool = False, source: str | None = None) -> Rebuild:
        made_of, console = self, Console(file=StringIO())

        class Fake(Rebuild):
            cloud = store = made_of  # type: ignore[assignment]

            def engine(self, stack: str) -> Any:
                return made_of.engine(stack)

            def up(self) -> None:
                made_of.does("up")
                made_of.stacks["main"] = state(EAST)

        def agree(taken: Taken) -> None:
            self.asked = taken.lines()
            if not agreed:
                raise ConsentError("no")

        place = Place("local", Path(), "", "", Path())
        made = Fake(self.world, place, "main", Output(console, console, as_json=False), source)
        made.run(agree, although_alive=although_alive)
        return made


@pytest.fixture
def world(tmp_path: Path) -> World:
    path = tmp_path / "fleet.yaml"
    path.write_text(FLEET)
    ledgers.write(tmp_path / "fleet.lock.yaml", drafted(path, datetime.date(2026, 11, 21))[2].ledger)
    return current(path)


@pytest.fixture
def cloud(world: World, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    made = Cloud(world)

    class Restore:
        def __init__(self, _reach: Any, _info: Any, _store: Any, ring: str, _tell: Any) -> None:
            self.ring = ring

        def run(self, source: Any, _survivor: None) -> Restored:
            made.does(f"restore {self.ring} {source.key}")
            return Restored(self.ring, source.label, 42, 1042, source.at, 60, 0, "")

    monkeypatch.setattr(rebuild, "Restore", Restore)
    monkeypatch.setattr(rebuild, "Session", lambda *_: SimpleNamespace(remote=None, info=SimpleNamespace(bucket="b")))
    monkeypatch.setattr(rebuild.info, "read", lambda *_: None)
    monkeypatch.setattr(rebuild, "froze", lambda *_: made.does("freeze") or "")
    monkeypatch.setattr(rebuild.bootstrap, "ensure", lambda *_: made.does("birth"))
    return made


STEPS = [
    f"adopt {SECRET}",
    f"rename main main-lost-{WEST}",
    "up",
    f"restore main {NEWER}",
    "freeze",
    "birth",
]


def test_a_rebuild_takes_its_steps_in_order_and_writes_down_what_it_takes(cloud: Cloud) -> None:
    made = cloud.run()
    assert cloud.did == STEPS
    origin = cloud.origin
    assert origin is not None
    assert (origin.lost, origin.region, origin.secret, origin.snapshot) == (WEST, EAST, SECRET, NEWER)
    assert (origin.issuer, origin.generations) == ("https://old", ONCE)
    assert origin.restored
    assert made.done["frozen"]
    told = " ".join(cloud.asked)
    assert "revision 42" in told
    assert "one of 2 copies" in told
    assert "Lost: everything written after 2026-11-21 16:00:00 UTC" in told


def test_done_it_does_nothing(cloud: Cloud) -> None:
    cloud.run()
    cloud.did.clear()
    assert cloud.run().done == {}
    assert cloud.did == []


@pytest.mark.parametrize("broken", STEPS[:5])
def test_stopped_anywhere_it_goes_on_there_with_the_same_snapshot(cloud: Cloud, broken: str) -> None:
    cloud.broken = broken
    with pytest.raises(ConsentError):
        cloud.run()
    done = list(cloud.did)
    assert cloud.origin is not None
    assert cloud.origin.restored is None
    # A newer copy has come meanwhile, and nobody is asked again.
    cloud.objects.append(f"copies/{WEST}/main/main/2026-11-21T161500Z-43.db")
    cloud.did.clear()
    cloud.run(agreed=False)
    kept = [step for step in done if step.startswith(("adopt", "rename"))]
    assert [*kept, *cloud.did] == STEPS
    assert cloud.origin.restored


def test_another_copy_than_the_newest_can_be_named_before_it_is_begun(cloud: Cloud) -> None:
    with pytest.raises(UsageError, match=f"there is no copy x. The newest are: {OLDER}, {NEWER}"):
        cloud.run(source="x")
    cloud.broken = "up"
    with pytest.raises(ConsentError):
        cloud.run(source=OLDER.rpartition("/")[2])
    with pytest.raises(UsageError, match=f"was begun from {OLDER}"):
        cloud.run(source=NEWER)
    cloud.run()
    assert f"restore main {OLDER}" in cloud.did


def test_a_newest_copy_of_a_ring_that_had_begun_anew_is_not_taken_unasked(cloud: Cloud) -> None:
    empty = f"copies/{WEST}/main/main/2026-11-21T161500Z-7.db"
    cloud.objects.append(empty)
    told = refused(cloud)
    assert f"--from {NEWER} goes back to what was before, --from {empty} to what came since" in told
    cloud.run(source=empty)
    assert f"restore main {empty}" in cloud.did


def test_after_the_restore_was_written_down_it_is_never_done_again(cloud: Cloud) -> None:
    cloud.broken = "birth"
    with pytest.raises(ConsentError):
        cloud.run()
    cloud.did.clear()
    cloud.run()
    assert cloud.did == []


def test_without_consent_nothing_is_changed(cloud: Cloud) -> None:
    with pytest.raises(ConsentError):
        cloud.run(agreed=False)
    assert cloud.did == []
    assert cloud.origin is None


def refused(cloud: Cloud, error: type[LandbridgeError] = UsageError, **how: bool) -> str:
    with pytest.raises(error) as caught:
        cloud.run(**how)
    assert cloud.did == []
    assert cloud.origin is None
    return str(caught.value)


def test_nothing_is_rebuilt_where_it_stands(cloud: Cloud) -> None:
    cloud.stacks["main"] = state(EAST)
    assert "main stands in us-east-1, and fleet.yaml has it there, too" in refused(cloud)


def test_nothing_is_rebuilt_that_never_was(cloud: Cloud) -> None:
    cloud.stacks.clear()
    assert "no stack of main that was ever up" in refused(cloud)


@pytest.mark.parametrize(
    ("objects", "secrets", "copies", "told"),
    [
        ([], {SECRET: ""}, EAST, f"There: no snapshot; secrets {SECRET}."),
        ([NEWER], {}, EAST, f"There: newest snapshot of us-west-2: {NEWER}; no secret with keys."),
        (
            [NEWER.replace(WEST, "eu-west-1")],
            {SECRET: ""},
            EAST,
            "There: newest snapshot of eu-west-1: copies/eu-west-1",
        ),
        ([], {}, "eu-west-1", "copies go to eu-west-1: write that region under clusters.main.region"),
        ([], {}, "", "clusters.main.copies named no region when it was last up"),
        (
            [NEWER.replace("/main/main/", "/main/events/"), NEWER.replace("/main/main/", "/second/main/")],
            {},
            EAST,
            "no snapshot",
        ),
    ],
)
def test_without_copies_it_says_what_there_is(
    cloud: Cloud, objects: list[str], secrets: dict[str, str], copies: str, told: str
) -> None:
    cloud.objects, cloud.secrets_ = objects, secrets
    named = {"region": copies, "recovery_secret": SECRET} if copies else {}
    cloud.stacks["main"] = state(WEST, copies=named)
    said = refused(cloud, LandbridgeError)
    assert told in said
    assert f"at copies/{WEST}/main/main/" in said


def test_a_cluster_that_still_answers_is_not_rebuilt_beside_itself(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuild, "answers", lambda *_: True)
    assert "main in us-west-2 still answers (https://127.0.0.1:1)" in refused(cloud)
    cloud.run(although_alive=True)
    assert cloud.did == STEPS


def test_what_came_back_while_it_was_interrupted_is_seen(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    cloud.broken = "up"
    with pytest.raises(ConsentError):
        cloud.run()
    monkeypatch.setattr(rebuild, "answers", lambda *_: True)
    with pytest.raises(UsageError, match="main in us-west-2 still answers"):
        cloud.run()


def test_copies_in_the_lost_region_are_refused(cloud: Cloud) -> None:
    path = cloud.world.path
    path.write_text(FLEET.replace("region: us-east-1,", "region: us-east-1, copies: us-west-2,"))
    cloud.world = current(path)
    assert "clusters.main.copies is us-west-2, the region that is lost" in refused(cloud)


def test_what_an_earlier_loss_left_must_be_gone_first(cloud: Cloud) -> None:
    left = {"type": "aws:ec2/vpc:Vpc", "urn": "::vpc"}
    cloud.stacks[f"main-lost-{WEST}"] = {"resources": [*state(WEST)["resources"], left]}
    assert "`landbridge destroy main-lost-us-west-2 --ignore-protect`" in refused(cloud)
    cloud.stacks[f"main-lost-{WEST}"] = {}
    cloud.run()
    assert cloud.did[1:3] == [f"remove main-lost-{WEST}", f"rename main main-lost-{WEST}"]


def test_keys_of_another_generation_are_refused(cloud: Cloud) -> None:
    path = rotations.rotations_path(cloud.world.path)
    rotations.write(path, {"main": {"encryption": Phase(generation=2)}})
    said = refused(cloud)
    assert "encryption signs with generation 2, and the copied keys have 1" in said
    assert "newest fleet.pki.yaml" in said


def test_a_rebuild_skips_no_minor_version_either(cloud: Cloud) -> None:
    cloud.stacks["main"] = state(WEST, kubernetes="1.34.9")
    assert "kubernetes 1.36.2 skips a minor version after 1.34.9" in refused(cloud)


def test_a_snapshot_that_is_gone_meanwhile_is_told(cloud: Cloud) -> None:
    cloud.broken = STEPS[3]
    with pytest.raises(ConsentError):
        cloud.run()
    cloud.objects.clear()
    with pytest.raises(RebuildError, match=f"{NEWER} is gone"):
        cloud.run()


def test_the_next_steps_name_what_is_to_be_done(cloud: Cloud) -> None:
    cloud.run()
    assert cloud.origin is not None
    told = "\n".join(following(cloud.world, "main", cloud.origin, local=True))
    for part in (
        "fleet.rebuilt.yaml",
        "clusters.main.copies",
        "landbridge unfreeze",
        "--ignore-protect main-lost-us-west-2",
    ):
        assert part in told
    (aside,) = rebuild_state.asides({"main": cloud.origin})
    assert (aside.name, aside.kind, aside.region, aside.depends_on) == ("main-lost-us-west-2", "cluster", WEST, (WEST,))
