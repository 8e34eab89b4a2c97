"""A drill that does not end: what tells of it, who puts it right, and that no second one begins meanwhile."""

import json
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from click.testing import CliRunner
from moto import mock_aws

from landbridge import waiting
from landbridge.clouds.aws.cloud import Aws
from landbridge.commands.drill import drill
from landbridge.drill import cleanup, run
from landbridge.drill.bench import Bench, DrillError, Outcome
from landbridge.drill.marker import Mark
from landbridge.errors import LandbridgeError, UsageError

BUCKET = "fleet-bucket"


class Session:
    """As much of a session as marks and runs look at."""

    def __init__(self, s3: Any) -> None:
        self.s3 = s3
        machines = {"main-etcd-1": object()}
        self.info = type("Info", (), {"name": "main", "bucket": BUCKET, "machines": machines, "etcd": [], "api": []})()
        self.remote = self.cloud = None

    @property
    def bucket(self) -> Any:
        return Aws(lambda _service: self.s3, "us-west-2").bucket(BUCKET)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with mock_aws():
        s3 = boto3.client("s3", region_name="us-west-2")
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        yield Session(s3)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a run asks of the API, and whether it clears up."""
    made: list[str] = []
    monkeypatch.setattr(run, "api_request", lambda _s, _c, method, *_more: made.append(method))
    monkeypatch.setattr(run.kubeconfig, "admin", lambda *_given: None)
    monkeypatch.setattr(run, "clear", lambda *_given: made.append("clear"))
    return made


def ran(session: Any, monkeypatch: pytest.MonkeyPatch, one: Any, *, whole: bool = True) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(run, "one", one)
    monkeypatch.setattr(run, "whole", lambda _bench: whole)
    run.run(session, ["leader-killed", "rolled"], told.append)
    return told


def test_each_drill_is_marked_while_it_works(session: Any, monkeypatch: pytest.MonkeyPatch, calls: list[str]) -> None:
    seen: list[str] = []

    def one(drill: Any, _bench: Any) -> Any:
        seen.append(Mark(session).read()["drill"])
        return run.Result(drill.name)

    ran(session, monkeypatch, one)
    assert seen == ["leader-killed", "rolled"]
    assert Mark(session).read() == {}
    assert calls == ["POST", "DELETE"]


def test_no_drill_begins_where_another_has_not_ended(session: Any, calls: list[str]) -> None:
    mark = Mark(session)
    mark.begin("quota-filled", "landbridge-drill-1")
    mark.add(files={"main-etcd-1": {"/etc/etcd/main.json": "text"}})
    with pytest.raises(LandbridgeError, match=r"Nothing was broken: the drill quota-filled began .*drill --clear"):
        run.run(session, ["rolled"], print)
    assert calls == []
    assert mark.read()["files"] == {"main-etcd-1": {"/etc/etcd/main.json": "text"}}


def test_an_interrupted_drill_is_put_right_at_once(
    session: Any, monkeypatch: pytest.MonkeyPatch, calls: list[str]
) -> None:
    def one(*_given: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ran(session, monkeypatch, one)
    assert calls == ["POST", "clear"]


def test_a_drill_that_leaves_its_cluster_ailing_leaves_its_mark(
    session: Any, monkeypatch: pytest.MonkeyPatch, calls: list[str]
) -> None:
    told = ran(session, monkeypatch, lambda drill, _bench: run.Result(drill.name, problem="no"), whole=False)
    assert "landbridge drill --clear" in told[-1]
    assert Mark(session).read()["drill"] == "leader-killed"
    assert calls == ["POST"]


def test_a_restore_that_was_not_finished_leaves_the_cluster_ailing(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = Mark(session)
    mark.begin("everything-lost", "n")
    bench: Any = type("Bench", (), {"mark": mark, "healthy": lambda *_given: None, "tell": print})()
    assert run.whole(bench)
    mark.add(restore={"source": "key"})
    assert not run.whole(bench)


def test_machines_that_nobody_brings_back_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Azure, between the end of a machine and its successor."""
    there, did = {"main-etcd-1": "i-1"}, list[str]()

    def successor(name: str, old: str) -> None:
        did.append(f"{name} after {old or 'none'}")
        there[name] = "i-2"

    names = ("main-etcd-1", "main-etcd-2")
    how = {"instance": lambda name: there.get(name, ""), "successor": successor, "boots": lambda: did.append("boots")}
    bench: Any = SimpleNamespace(info=SimpleNamespace(machines=names), tell=did.append, **how)
    monkeypatch.setattr(cleanup, "unfit", lambda _bench, name: "" if there.get(name) else "is not there")
    cleanup.boots(bench)
    assert did == ["no instance of main-etcd-2 runs: it gets a successor", "main-etcd-2 after none", "boots"]


def test_members_go_on_with_the_bundle_s_own_configuration_and_their_units_run() -> None:
    """One is halted, of another the configuration was changed, and a unit of the third was stopped."""
    asked, did = list[str](), list[str]()
    texts = {"main-etcd-1": "as it was", "main-etcd-2": "changed", "main-etcd-3": "as it was"}
    file = "/etc/etcd/main.json"

    def ask(machine: str, *argv: str) -> Any:
        asked.append(f"{machine}: {' '.join(argv)}")
        return SimpleNamespace(out=texts[machine])

    def do(machine: str, what: str, *_argv: str, stdin: bytes = b"") -> None:
        did.append(f"{machine}: {what} {stdin.decode()}".rstrip())

    steps = SimpleNamespace(
        ask=ask,
        do=do,
        active=lambda machine, unit: (machine, unit) != ("main-etcd-3", "etcd-events.service"),
        start=lambda machine, *units: did.append(f"{machine}: starting {units}"),
    )
    bench: Any = SimpleNamespace(steps=steps, etcd=list(texts), tell=lambda _line: None)
    cleanup.members(bench, {"files": {name: {file: "as it was"} for name in ("main-etcd-1", "main-etcd-2")}})
    assert [words for words in asked if "pkill" in words] == [f"{name}: pkill -CONT -x etcd" for name in texts]
    assert did == [
        f"main-etcd-2: writing {file} as it was",
        "main-etcd-2: restarting etcd main",
        "main-etcd-3: starting ('etcd-events.service',)",
    ]


def test_a_successor_is_another_instance_that_has_begun_to_boot(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter((("i-1", "of before"), ("", ""), ("i-2", ""), ("i-2", "boot: begun")))
    now = ["", ""]

    def instance(_machine: str) -> str:
        now[:] = next(looks)
        return now[0]

    revived: list[str] = []
    cloud = SimpleNamespace(revive=lambda _info, name: revived.append(name))
    nothing: Any = None
    session: Any = SimpleNamespace(info=None, remote=None, cloud=cloud)
    one = Bench(session, nothing, nothing, print)
    monkeypatch.setattr(one, "instance", instance)
    monkeypatch.setattr(one, "boot_log", lambda _machine: now[1])
    monkeypatch.setattr(waiting.time, "sleep", lambda _seconds: None)
    assert one.successor("main-etcd-1", "i-1") == "i-2"
    assert (next(looks, None), revived) == (None, ["main-etcd-1"])


def test_objects_of_the_bucket_are_put_back(session: Any) -> None:
    told: list[str] = []
    bench: Any = type("Bench", (), {"session": session, "info": session.info, "tell": staticmethod(told.append)})()
    cleanup.objects(bench, {"example/main/main-etcd-1/1.json": "good"})
    found = session.s3.get_object(Bucket=BUCKET, Key="example/main/main-etcd-1/1.json")["Body"].read()
    assert found == b"good"
    assert told == [f"put back: s3://{BUCKET}/example/main/main-etcd-1/1.json"]


def test_scale_down_is_released_only_if_the_drill_froze_it(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    told: list[str] = []
    admin = type("Admin", (), {"done": staticmethod(lambda *words: done.append(" ".join(words)))})()
    session = type("Session", (), {"admin": admin})()
    bench: Any = type("Bench", (), {"session": session, "tell": staticmethod(told.append)})()
    monkeypatch.setattr(
        cleanup.freeze, "frozen", lambda _kube: {"since": "2026-01-01T12:00:00+00:00", "why": "by hand"}
    )
    cleanup.release(bench, {"since": "2026-01-01T13:00:00+00:00"})
    cleanup.release(bench, {})
    assert done == []
    assert all("To release it" in line for line in told)
    cleanup.release(bench, {"since": "2026-01-01T11:00:00+00:00"})
    assert done == ["delete configmap landbridge-freeze --namespace=kube-system --ignore-not-found"]


def test_clearing_takes_no_drills() -> None:
    done = CliRunner().invoke(drill, ["leader-killed", "--clear"])
    assert isinstance(done.exception, UsageError)


def test_settling_needs_a_revision() -> None:
    with pytest.raises(DrillError, match="no revision"):
        run.settle(run.DRILLS["everything-lost"], run.Result("everything-lost"), Outcome(1.0), [], set())


def test_a_drill_that_held_and_went_back_to_a_snapshot_leaves_word_of_it(
    session: Any, monkeypatch: pytest.MonkeyPatch, calls: list[str]
) -> None:
    snapshot = "backups/main/main/2026-11-30T000000Z-4711.db"
    facts, problems = {"rolled": {"snapshot": snapshot}}, {"rolled": "no"}

    def one(drill: Any, _bench: Any) -> Any:
        return run.Result(drill.name, problem=problems.get(drill.name, ""), facts=facts.get(drill.name, {}))

    def left() -> list[str]:
        return [found.key for found in session.bucket.listed("restores/")]

    ran(session, monkeypatch, one)
    assert left() == [], "it did not hold"
    problems.clear()
    told = ran(session, monkeypatch, one)
    (key,) = left()
    assert re.fullmatch(r"restores/main/main/\d{4}-\d\d-\d\dT\d{6}Z-4711\.json", key)
    assert json.loads(session.bucket.read(key)) == {"drill": "rolled", "snapshot": snapshot}
    assert told[-1] == f"  kept, for monitoring: s3://{BUCKET}/{key}"
    assert Mark(session).read() == {}
    assert calls
