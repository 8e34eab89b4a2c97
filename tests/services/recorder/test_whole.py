"""Two recorders as programs of their own, with the rights of their add-on, before a real API server and an S3."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from components.addons import recorder
from components.addons.manifests import rights
from evidence.record import WATCHED
from fleet.recorder import folder
from kube_http import BOOKMARKS
from landbridge.clouds.aws.cloud import S3
from landbridge.why import ask
from landbridge.why.api import Api
from landbridge.why.case import Case
from landbridge.why.looking import Looking
from landbridge.why.records import Gap, Records
from landbridge.why.target import target
from local.providers.host import free_port
from services.kube import HOST, PORT, as_account
from services.recorder.contact import Contact, Heard
from services.recorder.seeing import EVENTS
from services.recorder.seeing import PODS as PODS_OF_ALL
from services.recorder.things import UNSEEN
from tests.components.addons import bed
from tests.components.addons.bed import Applying
from tests.components.addons.cloud import token
from tests.components.pools.joining_client import eventually
from tests.support import s3
from tests.support.apiserver import HERE, Server, server

ROOT = Path(__file__).parents[3]
BUCKET, SPACE = "example-us-west-2-123456789012", "team-research"
PODS = f"/api/v1/namespaces/{SPACE}/pods"
Json = dict[str, Any]
pytestmark = pytest.mark.timeout(300)


class Bed:
    def __init__(self, folder: Path, kube: Server, url: str) -> None:
        self.folder, self.kube, self.url = folder, kube, url
        self.s3 = s3.client(url)
        self.s3.create_bucket(Bucket=BUCKET)
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        # JobSet and Kueue are not here.
        of = bed.spec()
        told = {**recorder.settings(of), "into": f"s3://{BUCKET}", "queues": False, "audit": [], "machines": []}
        (folder / "settings.json").write_text(json.dumps(told))
        self.account = folder / "account"
        self.account.mkdir()
        applied = Applying(kube)
        for one in rights(recorder.ADDON, recorder.ADDON, recorder.everywhere(of)):
            applied(one)
        (self.account / "token").write_text(token(kube, "kube-system", recorder.ADDON, kube.issuer))
        (self.account / "ca.crt").write_text(kube.authority.pem)
        kube.api.call("POST", "/api/v1/namespaces", None, {"metadata": {"name": SPACE}})

    def start(self, replica: str, url: str = "") -> None:
        at = urlsplit(self.kube.url)
        environment = {
            **os.environ,
            **s3.CREDENTIALS,
            "AWS_ENDPOINT_URL": url or self.url,
            "PYTHONPATH": str(ROOT),
            HOST: HERE,
            PORT: str(at.port),
        }
        self.port = free_port()
        words = [
            *(sys.executable, "-m", "services.recorder"),
            f"--settings={self.folder / 'settings.json'}",
            f"--replica={replica}",
            f"--account={self.account}",
            f"--metrics={HERE}:{self.port}",
            *("--write-seconds=1", "--settle-seconds=0.2"),
        ]
        with (self.folder / f"{replica}.log").open("ab") as log:
            self.running[replica] = subprocess.Popen(words, env=environment, stderr=log)

    def end(self, replica: str, number: int = signal.SIGTERM) -> None:
        process = self.running.pop(replica)
        process.send_signal(number)
        process.wait(30)

    def signal(self, number: int) -> None:
        """To all that run."""
        for process in self.running.values():
            process.send_signal(number)

    def log(self, replica: str) -> str:
        return (self.folder / f"{replica}.log").read_text()

    def pod(self, name: str, node: str = "gpu-1") -> None:
        container = {
            "name": "run",
            "image": "registry.example.com/a:1",
            "env": [{"name": "PASSWORD", "value": "hunter2"}],
        }
        body = {"metadata": {"name": name}, "spec": {"nodeName": node, "containers": [container]}}
        self.kube.api.call("POST", PODS, None, body)

    def waits(self, name: str) -> None:
        """Something is known of it then."""
        state = {"waiting": {"reason": "ErrImagePull", "message": "not found"}}
        container = {"name": "run", "image": "a", "imageID": "", "ready": False, "restartCount": 0, "state": state}
        self.kube.patch(f"{PODS}/{name}/status", {"status": {"phase": "Pending", "containerStatuses": [container]}})
        eventually(lambda: self.known(name), 30)

    def ends(self, name: str, code: int) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        state = {"terminated": {"exitCode": code, "reason": "Error", "startedAt": now, "finishedAt": now}}
        container = {"name": "run", "image": "a", "imageID": "", "ready": False, "restartCount": 0, "state": state}
        self.kube.patch(f"{PODS}/{name}/status", {"status": {"phase": "Failed", "containerStatuses": [container]}})

    def delete(self, name: str) -> None:
        self.kube.api.call("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": "0"})

    def died(self, name: str, code: int) -> None:
        self.pod(name)
        self.ends(name, code)
        self.delete(name)

    def records(self, team: str = "research") -> Records:
        now = datetime.now(UTC)
        below = f"team-records/{team}/main/" if team else folder("main")
        return Records(lambda: S3(self.s3, None, BUCKET), below, now - timedelta(days=1), now)

    def why(self, name: str, team: str = "research") -> Case:
        looking = Looking(Api(None, {}), None, self.records(team))
        return ask.case(looking, target(f"pod/{name}"), SPACE, 30)

    def known(self, name: str) -> bool:
        return self.records("").newest("pod", f"{SPACE}/{name}") is not None

    def text(self) -> str:
        return json.dumps([one.as_json() for one in self.records("").all()])

    def watches(self, replica: str, since: datetime) -> bool:
        found = (one for one in self.records("").all() if one.code == WATCHED and replica in one.about)
        return any(one.at >= since.timestamp() for one in found)

    def gaps(self, since: datetime) -> list[Gap]:
        """With what a recorder has yet to write."""
        found = self.records("")
        found.now += timedelta(hours=1)
        # One that has just begun knows nothing yet.
        last = max(one.at for one in found.all() if one.code == WATCHED and one.facts["since"] < one.facts["until"])
        return found.gaps(since.timestamp(), last)


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    made = tmp_path_factory.mktemp("recorder")
    with s3.serving() as url, server(made) as kube:
        found = Bed(made, kube, url)
        for replica in ("recorder-a", "recorder-b"):
            found.start(replica)
        found.pod("first")
        found.ends("first", 1)
        eventually(lambda: found.known("first"), 60)
        yield found
        for replica in [*found.running]:
            found.end(replica, signal.SIGKILL)


class Quiet(Heard):
    quiet_seconds = 2


def test_a_ring_of_events_in_which_nothing_happens_is_heard_all_the_same(
    standing: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API server tells nothing of them that has not happened, unlike of pods."""
    monkeypatch.setenv(HOST, HERE)
    monkeypatch.setenv(PORT, str(urlsplit(standing.kube.url).port))
    heard = as_account(Quiet, standing.account)
    heard.contact = Contact()
    heard.contact.begins(EVENTS)
    _, version = heard.list(EVENTS, str)
    before = heard.contact.until()
    list(heard.watch(EVENTS, version, BOOKMARKS))
    assert heard.contact.until() >= before + 2


def test_a_list_of_events_has_all_of_the_last_hour() -> None:
    clock = [1000.0]
    contact = Contact(lambda: clock[0])
    for path in (EVENTS, PODS_OF_ALL):
        contact.begins(path)
        contact.heard(path)
        contact.broke(path)
    clock[0] += 600
    assert (contact.missed(EVENTS), contact.missed(PODS_OF_ALL)) == (None, 1000.0)
    clock[0] += 3600
    assert contact.missed(EVENTS) == 1000.0


def test_what_has_died_and_is_gone_is_known_to_its_team(standing: Bed) -> None:
    standing.died("train-0", 7)
    eventually(lambda: standing.known("train-0") and standing.why("train-0").verdict.code != "unknown", 30)
    found = standing.why("train-0")
    assert (found.verdict.code, found.phase, found.node) == ("exited", "gone", "gpu-1")
    assert standing.why("train-0", "").verdict.code == "exited"
    assert [one for one in standing.records("platform").all() if one.about.startswith("pod/")] == []
    assert "hunter2" not in standing.text()


def test_events_are_seen_too(standing: Bed) -> None:
    standing.pod("mounting")
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    event = {
        "metadata": {"name": "mounting.1", "namespace": SPACE},
        "involvedObject": {"kind": "Pod", "namespace": SPACE, "name": "mounting"},
        "reason": "FailedMount",
        "message": "mount.nfs: Connection timed out",
        "firstTimestamp": now,
        "lastTimestamp": now,
        "source": {"component": "kubelet"},
        "type": "Warning",
    }
    standing.kube.api.call("POST", f"/api/v1/namespaces/{SPACE}/events", None, event)
    eventually(lambda: "Connection timed out" in standing.text(), 30)


def test_one_that_is_killed_leaves_no_gap(standing: Bed) -> None:
    begun = datetime.now(UTC)
    standing.end("recorder-a", signal.SIGKILL)
    standing.died("train-1", 3)
    eventually(lambda: standing.known("train-1"), 90)
    again = datetime.now(UTC)
    standing.start("recorder-a")
    # The other writes of the time between as soon as something happens again.
    eventually(lambda: standing.watches("recorder-a", again), 90)
    standing.died("train-2", 3)
    eventually(lambda: standing.known("train-2"), 90)
    # What one has written is known before the other has written of the time between.
    eventually(lambda: not standing.gaps(begun), 90)
    assert standing.why("train-1").verdict.code == "exited"


def test_what_the_api_server_has_forgotten_is_a_gap_and_the_rest_is_filled_in(standing: Bed) -> None:
    for name in ("train-3", "vanishes"):
        standing.pod(name)
        standing.waits(name)
    begun = datetime.now(UTC)
    # Else they may be back before it has gone.
    standing.signal(signal.SIGSTOP)
    standing.kube.end("kube-apiserver")
    standing.kube.start("kube-apiserver", *standing.kube.flags)
    standing.kube.until_ready()
    standing.delete("vanishes")
    standing.signal(signal.SIGCONT)
    standing.ends("train-3", 9)
    eventually(lambda: standing.why("train-3").verdict.code == "exited", 90)
    eventually(lambda: UNSEEN in [one.text for one in standing.why("vanishes").seen], 60)
    gaps = {gap.why.rpartition(" ")[0] for gap in standing.gaps(begun)}
    assert gaps == {"the API server has forgotten what became of"}, "neither replica saw that time"


def test_a_recorder_that_is_told_to_end_writes_what_it_has(standing: Bed) -> None:
    for replica in [*standing.running]:
        standing.end(replica)
    begun = datetime.now(UTC)
    standing.died("unseen", 1)
    standing.start("recorder-a")
    standing.pod("train-4")
    standing.waits("train-4")
    standing.end("recorder-a")
    (gap,) = standing.gaps(begun)
    assert gap.why == "the recorder has written nothing"
    assert not standing.known("unseen"), "nobody was there"
    standing.start("recorder-a")


def test_a_bucket_that_is_away_costs_nothing(standing: Bed) -> None:
    standing.start("recorder-c", "http://127.0.0.1:9")
    standing.died("train-5", 5)
    eventually(lambda: "PutObject" in standing.log("recorder-c"), 60)
    eventually(lambda: unsent(standing.port) > 0, 30)
    assert standing.running["recorder-c"].poll() is None
    standing.end("recorder-c")


def unsent(port: int) -> float:
    with urllib.request.urlopen(f"http://{HERE}:{port}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("landbridge_recorder_unsent_bytes"))
