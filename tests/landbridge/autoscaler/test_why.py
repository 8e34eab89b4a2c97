"""`landbridge autoscaler explain` and `history`: from notes as the autoscaler's pod writes them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from components.addons import autoscaler_notes
from fleet.world import current
from landbridge.autoscaler import causes, notes
from landbridge.commands import landbridge, options
from landbridge.errors import LandbridgeError, UsageError
from services.autoscaler import hours
from services.autoscaler.causes import Cause
from services.autoscaler.hours import Hour, Waiting
from tests.test_docs import tables

ROOT = Path(__file__).parents[3]
NOW = datetime(2026, 11, 22, 13, 40, 30, tzinfo=UTC)
# Yesterday's noon: a day and more before.
THEN = datetime(2026, 11, 21, 14, 10, tzinfo=UTC).timestamp()
WEST, EAST = "example-west-gpu-a", "example-east-gpu-a"
CAPACITY = "We currently do not have sufficient p5.48xlarge capacity. Our system will be working on it."
CAUSES = [
    Cause("refused-capacity", CAPACITY, WEST),
    Cause("backoff", "it failed, and is asked again later", WEST, THEN + 60),
    Cause("pool-maximum", "pool east-gpu has 60 machines, and 60 at most", EAST),
    *(Cause("selector", "it wants landbridge.dev/kind=gpu, and this pool has cpu", f"cpu-{zone}") for zone in "ab"),
]


def waits(name: str = "train-x7k2p", namespace: str = "research", why: Any = CAUSES) -> Waiting:
    said = "0/8 nodes are available: 8 Insufficient nvidia.com/gpu."
    return Waiting(
        namespace, name, "Job/train", "shape", {"nvidia.com/gpu": "8"}, {"landbridge.dev/kind": "gpu"}, said, why
    )


def decided(at: float, decision: str, **more: Any) -> dict[str, Any]:
    return {"at": f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S.%fZ}", "decision": decision, **more}


def yesterday(*pods: Waiting) -> Hour:
    hour = Hour(hours.number(THEN))
    hour.see([*(pods or (waits(), waits("train-b")))], THEN)
    hour.see([waits()], THEN + 90)
    grow = {"group": WEST, "region": "us-west-2"}
    hour.decide(
        [
            decided(THEN - 5, "grow", machines=40, **grow),
            decided(THEN + 2, "refused", machines=40, code="capacity", why=CAPACITY, **grow),
            decided(THEN + 3, "end", group="cpu-a", region="us-west-2", ids=["i-1", "i-2", "i-3", "i-4", "i-5"]),
            decided(THEN + 900, "grow", machines=1, **grow),
        ]
    )
    return hour


def config_map(hour: Hour) -> dict[str, Any]:
    name = autoscaler_notes.names()[hour.place]
    labels = {hours.LABEL: hours.VALUE}
    return {"metadata": {"name": name, "labels": labels}, "binaryData": hours.encoded(hour)}


class Kube:
    def __init__(self, *hours: Hour, pods: Any = ()) -> None:
        self.maps, self.pods = [config_map(hour) for hour in hours], list(pods)

    def get(self, kind: str, *words: str) -> Any:
        if kind == "configmaps":
            assert f"--selector={hours.LABEL}={hours.VALUE}" in words
            return {"items": self.maps}
        (name,) = [word.rpartition("=")[2] for word in words if word.startswith("--field-selector")]
        spaces = [word.partition("=")[2] for word in words if word.startswith("--namespace")]
        found = [one for one in self.pods if one["metadata"]["name"] == name]
        return {"items": [one for one in found if not spaces or one["metadata"]["namespace"] in spaces]}


def pod(name: str = "train-x7k2p", namespace: str = "research", node: str = "") -> dict[str, Any]:
    spec = {"nodeName": node} if node else {}
    phase = "Running" if node else "Pending"
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec, "status": {"phase": phase}}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    def call(kube: Kube, *words: str, cluster: str = "main") -> tuple[int, str]:
        info = SimpleNamespace(name=cluster)
        session = SimpleNamespace(admin=kube, info=info, world=current(ROOT / "fleet.yaml"))
        monkeypatch.setattr(options, "the_cluster", lambda *_, **__: session)
        monkeypatch.setattr("landbridge.commands.autoscaler_why.datetime", SimpleNamespace(now=lambda _: NOW))
        monkeypatch.setenv("COLUMNS", "200")
        result = CliRunner().invoke(landbridge, ["autoscaler", *words], catch_exceptions=False, standalone_mode=False)
        return result.return_value, result.stdout

    return call


def test_a_pod_that_has_gone_is_explained_a_day_later(run: Any) -> None:
    code, text = run(Kube(yesterday()), "explain", "train-x7k2p", "--json")
    told = json.loads(text)
    assert code == 0
    assert (told["cluster"], told["namespace"], told["state"], told["node"]) == ("main", "research", "gone", "")
    assert (told["owner"], told["requests"]) == ("Job/train", {"nvidia.com/gpu": "8"})
    (wait,) = told["waits"]
    assert (wait["since"], wait["until"]) == ("2026-11-21T14:10:00+00:00", "2026-11-21T14:11:30+00:00")
    found = [(one["code"], one["group"], one["until"]) for one in wait["causes"]]
    assert found[:3] == [
        ("refused-capacity", WEST, None),
        ("backoff", WEST, "2026-11-21T14:11:00+00:00"),
        ("pool-maximum", EAST, None),
    ]
    assert wait["causes"][2]["help"].startswith("wait for others to end, or raise it")
    # What a group did that would not help is no part of it, nor what came long after.
    assert [one["decision"] for one in told["decisions"]] == ["grow", "refused"]


def test_each_of_a_job_s_pods_has_its_own_times(run: Any) -> None:
    _, text = run(Kube(yesterday()), "explain", "train-b", "--json")
    assert json.loads(text)["waits"][0]["until"] == "2026-11-21T14:10:00+00:00"


def test_people_see_causes_with_what_to_do_and_groups_that_fail_alike_in_one_row(run: Any) -> None:
    _, text = run(Kube(yesterday(), pods=[pod(node="host-1.lab")]), "explain", "train-x7k2p")
    assert "research/train-x7k2p, of Job/train, is Running on host-1.lab." in text
    assert "It asks for 8 nvidia.com/gpu, landbridge.dev/kind=gpu." in text
    assert "It waited from 21 Nov 14:10:00 to 14:11:30 UTC:" in text
    assert "The scheduler: 0/8 nodes are available" in text
    assert f"{WEST} (until 14:11:00)" in text
    assert "pool-maximum: wait for others to end, or raise it" in text
    assert text.count("it wants landbridge.dev/kind=gpu") == 1
    assert "40 refused (capacity): We currently" in text
    assert "Our system" not in text, "the first sentence says all"


def test_a_pod_that_waits_for_other_reasons_later_has_waits_of_its_own(run: Any) -> None:
    hour = yesterday()
    hour.see([waits(why=[Cause("coming", "0 of 1 machines are ready", WEST)])], THEN + 120)
    _, text = run(Kube(hour), "explain", "train-x7k2p", "--json")
    assert [one["causes"][0]["code"] for one in json.loads(text)["waits"]] == ["refused-capacity", "coming"]
    _, text = run(Kube(hour), "explain", "train-b", "--json")
    assert [one["causes"][0]["code"] for one in json.loads(text)["waits"]] == ["refused-capacity"], (
        "it had gone by then"
    )
    _, text = run(Kube(hour), "explain", "train-x7k2p")
    assert "to 14:11:30 UTC: refused-capacity, backoff, pool-maximum." in text, "the last alone in full"
    assert "It waited from 21 Nov 14:12:00 to 14:12:00 UTC:" in text


def test_a_pod_that_never_waited_says_so(run: Any) -> None:
    code, text = run(Kube(yesterday(), pods=[pod("quick", node="host-1.lab")]), "explain", "quick")
    assert code == 0
    assert "Nobody noted that it waited for a node." in text


def test_a_pod_of_which_nobody_knows_is_an_error_that_says_what_was_looked_at(run: Any) -> None:
    with pytest.raises(LandbridgeError, match="none of that name waited for a node in the last 24 hours"):
        run(Kube(yesterday()), "explain", "no-such")
    with pytest.raises(LandbridgeError, match=r"kept no notes yet\. `landbridge autoscaler status`"):
        run(Kube(), "explain", "no-such")


def test_one_name_in_two_namespaces_is_asked_about(run: Any) -> None:
    kube = Kube(yesterday(waits(), waits(namespace="vision")))
    with pytest.raises(UsageError, match=r"are in research, vision\. Name one with --namespace NAME"):
        run(kube, "explain", "train-x7k2p")
    _, text = run(kube, "explain", "train-x7k2p", "--namespace", "vision", "--json")
    assert json.loads(text)["namespace"] == "vision"


def test_the_guide_has_every_cause() -> None:
    (found,) = tables(ROOT / "docs/guide/autoscaler.md")["Why a pod waits"]
    assert [tuple(row) for row in found[1:]] == [(code, one.short) for code, one in causes.CAUSES.items()]


def test_history_is_in_the_order_of_time_and_waits_stand_in_it(run: Any) -> None:
    code, text = run(Kube(yesterday()), "history", "--json")
    told = json.loads(text)
    assert code == 0
    assert [one["decision"] for one in told["lines"]] == ["grow", "wait", "refused", "end", "grow"]
    grow, wait, refused, end, _ = told["lines"]
    assert (grow["about"], grow["machines"], grow["text"]) == (WEST, 40, "asks for 40 machines")
    assert (wait["about"], wait["pods"]) == ("research", ["train-b", "train-x7k2p"])
    assert refused["code"] == "capacity"
    assert len(end["ids"]) == 5
    assert told["since"] == "2026-11-21T14:00:00+00:00"


def test_people_see_a_line_a_decision_and_that_nobody_writes_any_more(run: Any) -> None:
    _, text = run(Kube(yesterday()), "history")
    assert "ends i-1, i-2, i-3 and 2 more" in text
    assert "2 pods of Job/train wait: backoff, pool-maximum, refused-capacity, selector" in text
    assert "The newest note is 1396 minutes old." in " ".join(text.split())


def test_a_dry_run_s_decisions_are_told_as_such(run: Any) -> None:
    now = Hour(hours.number(NOW.timestamp()))
    now.decide([decided(NOW.timestamp() - 60, "grow", group=WEST, machines=2, dry_run=True)])
    _, text = run(Kube(now), "history", "--hours", "1")
    assert "asks for 2 machines (a dry run: nothing was done)" in " ".join(text.split())


def test_history_of_the_last_hours_alone(run: Any) -> None:
    now = Hour(hours.number(NOW.timestamp()))
    now.decide([decided(NOW.timestamp() - 60, "newer-word", group=WEST, machines=2)])
    _, text = run(Kube(yesterday(), now), "history", "--hours", "1", "--json")
    (line,) = json.loads(text)["lines"]
    assert (line["decision"], line["text"]) == ("newer-word", f"group={WEST} machines=2")
    _, text = run(Kube(yesterday()), "history", "--hours", "1")
    assert "Nothing was decided, and no pod waited." in text


def test_notes_that_are_none_are_named_with_how_to_be_rid_of_them(run: Any) -> None:
    kube = Kube(yesterday())
    kube.maps[0]["binaryData"] = {notes.FILE: "bm90ZXM="}
    with pytest.raises(LandbridgeError, match=r"kube-system/cluster-autoscaler-history-\d\d: these are no notes"):
        run(kube, "history")


def test_a_cluster_without_an_autoscaler_says_so(run: Any) -> None:
    with pytest.raises(LandbridgeError, match="Cluster other has no autoscaler"):
        run(Kube(), "history", cluster="other")
