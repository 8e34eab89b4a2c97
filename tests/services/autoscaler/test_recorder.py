"""The program that keeps notes, turn by turn, with the rights that the add-on gives it, before a real API server."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from components.addons import autoscaler
from components.addons.manifests import SPACE, rights
from kube_http import Answer, Kube
from landbridge.autoscaler import notes as day_notes
from landbridge.cluster.kube import Kube as CommandLine
from services.autoscaler import decisions, hours
from services.autoscaler.backoffs import Backoffs, written
from services.autoscaler.recorder import NOBODY, Names, Owners, Recorder
from services.kube import kube as as_account
from tests.components.addons.bed import Applying
from tests.components.addons.cloud import token
from tests.services.autoscaler.slack import Slack
from tests.services.autoscaler.why import UNSCHEDULABLE, pod, settings
from tests.support.apiserver import HERE, Server, server

CONFIGS = f"/api/v1/namespaces/{SPACE}/configmaps"
PODS = "/api/v1/namespaces/default/pods"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{SPACE}/leases"
# Half an hour after an hour began.
NOW = 497_222 * hours.HOUR_SECONDS + 1800.0
HISTORY = "cluster-autoscaler-history"


def status(at: float, growth: str = "NoActivity") -> str:
    """Both of why.py's groups at rest but for the first."""
    why = {"errorCode": "capacity", "errorMessage": "no capacity"} if growth == "Backoff" else {}
    groups = [
        {"name": "west-gpu-a", "scaleUp": {"status": growth, "backoffInfo": why}},
        {"name": "east-gpu-a", "scaleUp": {"status": "NoActivity"}},
    ]
    return json.dumps(
        {"time": f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S.%f} +0000 UTC", "nodeGroups": groups}
    )


class Bed:
    """One notebook after another, as pods of the autoscaler come and go."""

    def __init__(self, folder: Path, kube: Server, kubernetes: Kube) -> None:
        self.folder, self.server, self.api, self.kubernetes = folder, kube, kube.api, kubernetes
        self.file = folder / "decisions.jsonl"
        self.pods = 0
        self.owners = NOBODY
        self.book = self.begun()

    def begun(self, host: str = "pod-1") -> Recorder:
        names = Names(autoscaler.STATUS, autoscaler.ADDON, HISTORY, host)
        return Recorder(self.kubernetes, settings(), names, self.file, Backoffs(60, 900, 3600), -10, self.owners)

    def says(self, at: float, growth: str = "NoActivity") -> None:
        self.server.apply(
            f"{CONFIGS}/{autoscaler.STATUS}",
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": autoscaler.STATUS},
                "data": {"status": status(at, growth)},
            },
            "test",
        )

    def leads(self, host: str) -> None:
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": autoscaler.ADDON},
            "spec": {"holderIdentity": host},
        }
        self.server.apply(f"{LEASES}/{autoscaler.ADDON}", lease, "test")

    def decided(self, at: float, decision: str) -> None:
        line = {"at": written(at), "decision": decision, "group": "west-gpu-a", "machines": 1}
        with self.file.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def pod(self, name: str) -> None:
        made = pod()
        made["spec"]["containers"][0]["image"] = "example.com/work"
        del made["spec"]["priority"]
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": made["spec"]}
        self.api.call("POST", PODS, None, body)
        self.server.patch(f"{PODS}/{name}/status", {"status": {"conditions": [UNSCHEDULABLE]}})

    @property
    def kept(self) -> day_notes.Notes:
        return day_notes.read(CommandLine(self.server.kubeconfig()))


@pytest.fixture(scope="module")
def kube(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("notes"), controllers=False) as made:
        apply = Applying(made)
        for manifest in rights(autoscaler.ADDON, autoscaler.ADDON, autoscaler.everywhere(), autoscaler.here()):
            apply(manifest)
        yield made


@pytest.fixture
def one(kube: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bed]:
    (tmp_path / "ca.crt").write_text(kube.authority.pem)
    (tmp_path / "token").write_text(token(kube, SPACE, autoscaler.ADDON, kube.issuer))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", HERE)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(kube.port))
    made = Bed(tmp_path, kube, as_account(tmp_path))
    made.leads("pod-1")
    made.says(NOW)
    yield made
    for path, query in ((CONFIGS, {"labelSelector": f"{hours.LABEL}={hours.VALUE}"}), (PODS, {})):
        for found in made.api.call("GET", path, query)["items"]:
            made.api.call("DELETE", f"{path}/{found['metadata']['name']}", {"gracePeriodSeconds": "0"})


def codes(of: day_notes.Notes, name: str) -> list[list[str]]:
    return [[str(cause["code"]) for cause in wait["causes"]] for wait in of.of(name, None)]


def test_who_waits_and_what_is_decided_is_there_at_once_and_not_written_for_nothing(one: Bed) -> None:
    one.pod("train-1")
    one.decided(NOW - 5, "grow")
    one.book.step(NOW)
    assert codes(one.kept, "train-1") == [["undecided", "undecided"]]
    assert [told["decision"] for told in one.kept.decisions] == ["grow"]
    version = one.book.version
    one.book.step(NOW + 10)
    assert one.book.version == version, "that it still waits is told once a minute"
    one.book.step(NOW + 60)
    assert [wait["to"] for wait in one.kept.of("train-1", None)] == [NOW + 60]


def test_after_it_began_anew_it_goes_on_with_what_was_written_and_nothing_stands_twice(one: Bed) -> None:
    one.pod("train-1")
    one.decided(NOW - 8, "grow")
    one.decided(NOW - 4, "refused")
    one.says(NOW - 2, "Backoff")
    one.book.step(NOW)
    one.book = one.begun()
    one.book.step(NOW + 10)
    assert [told["decision"] for told in one.kept.decisions] == ["grow", "refused", "backoff"]
    (wait,) = one.kept.of("train-1", None)
    (until,) = [cause["until"] for cause in wait["causes"] if cause["code"] == "backoff"]
    assert until == NOW - 4 + 60
    assert wait["from"] == NOW


def test_the_hours_before_stay_and_a_day_and_more_later_their_place_is_another_s(one: Bed) -> None:
    one.pod("train-1")
    one.book.step(NOW)
    one.api.call("DELETE", f"{PODS}/train-1", {"gracePeriodSeconds": "0"})
    one.decided(NOW + 3600, "grow")
    one.book.step(NOW + 3600)
    assert codes(one.kept, "train-1") == [["undecided", "undecided"]]
    for hour in (24, 25):
        one.decided(NOW + hour * 3600, "grow")
        one.book.step(NOW + hour * 3600)
        assert codes(one.kept, "train-1") == [["undecided", "undecided"]], hour
    one.decided(NOW + 26 * 3600, "grow")
    one.book.step(NOW + 26 * 3600)
    assert codes(one.kept, "train-1") == []


def test_who_does_not_lead_writes_nothing_and_who_leads_next_goes_on(one: Bed) -> None:
    one.pod("train-1")
    one.book.step(NOW)
    one.leads("pod-2")
    one.book.step(NOW + 300)
    assert one.book.hour is None
    assert [wait["to"] for wait in one.kept.of("train-1", None)] == [NOW]
    other = one.begun("pod-2")
    other.step(NOW + 60)
    assert [(wait["from"], wait["to"]) for wait in one.kept.of("train-1", None)] == [(NOW, NOW + 60)]


def test_what_another_wrote_meanwhile_is_not_written_over(one: Bed) -> None:
    one.pod("train-1")
    one.book.step(NOW)
    other = one.begun()
    other.step(NOW + 60)
    one.pod("train-2")
    with pytest.raises(Answer, match=r"the object has been modified"):
        one.book.step(NOW + 70)
    one.book.step(NOW + 80)
    assert [(wait["from"], wait["to"]) for wait in one.kept.of("train-1", None)] == [(NOW, NOW + 80)]
    assert codes(one.kept, "train-2")


def test_a_team_s_webhook_is_told_once_whoever_leads_and_again_where_it_did_not_take_it(
    one: Bed, slack: Slack, tmp_path: Path
) -> None:
    (tmp_path / "platform").write_text(f"{slack.url}/platform")
    one.owners = Owners(tmp_path, "platform")
    one.book = one.begun()
    one.says(NOW, "Backoff")
    one.pod("train-1")
    slack.answers = [500]
    for seconds in range(0, 121, 30):
        one.book.step(NOW + seconds)
    ((path, body),) = slack.heard
    assert path == "/platform"
    assert body["text"].startswith("main: A pod (train-1) waits in default for 2 min.")
    one.leads("pod-2")
    other = one.begun("pod-2")
    other.step(NOW + 130)
    assert len(slack.heard) == 1, "the one before has written down what was told"
    one.says(NOW + 3600, "Backoff")
    for seconds in range(3500, 3730, 30):
        other.step(NOW + seconds)
    assert len(slack.heard) == 2, "and after an hour that it still waits"


def test_its_right_is_to_its_own_names_alone(one: Bed) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs"}, "data": {"a": "b"}}
    one.api.call("POST", CONFIGS, None, body)
    for name in ("theirs", f"{HISTORY}-26"):
        with pytest.raises(Answer, match="forbidden"):
            one.kubernetes.ask("PUT", f"{CONFIGS}/{name}", {**body, "metadata": {"name": name}})
    with pytest.raises(Answer, match="forbidden"):
        one.kubernetes.find(f"/api/v1/namespaces/{SPACE}/secrets/any")
    assert one.kubernetes.find(f"{CONFIGS}/{HISTORY}-25") is None


def test_decisions_go_through_a_file_of_bounded_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "MOST_BYTES", 400)
    monkeypatch.setattr(decisions, "_files", [])
    file = tmp_path / "decisions.jsonl"
    decisions.keep(file)
    for number in range(20):
        decisions.record("grow", group="west-gpu-a", machines=number)
    with file.open("a") as opened:
        opened.write('{"at": "half')
    found = [told["machines"] for told in decisions.read_all(file)]
    assert found == list(range(20 - len(found), 20))
    assert 4 <= len(found) < 20
