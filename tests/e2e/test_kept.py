"""A fleet on a local cloud that is kept: through a stop, a save and a load, and the death of each of its parts."""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from local import client, processes
from tests.components.pools.joining_client import eventually
from tests.support import saved
from tests.support.cloud import COMMAND, Cloud

from .standing import BUCKET, FACTS, facts, kubectl, machines, phase

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
MORE = "  eu-west-1: {cloud: aws, zones: [a]}\n"


@pytest.fixture(scope="module")
def kept(in_all: Cloud) -> Cloud:
    return in_all


def same(cloud: Cloud, before: dict[str, Any]) -> None:
    """All is as it was, and at work."""
    saved.await_nodes(cloud)
    eventually(lambda: phase(cloud) == "Running", 120)
    now = json.loads(json.dumps(facts(cloud)))
    assert different(now, {**before, "objects": now["objects"]}) == {}
    assert set(before["objects"]) <= set(now["objects"]), "others come by the hour"
    for one in machines(cloud):
        console = (Path(one["folder"]) / "console.log").read_text()
        assert console.count("user-data ended") == (0 if one["region"] == "lab" else 1), "it runs once in a life"


def different(now: Any, before: Any, path: str = "") -> dict[str, Any]:
    """Where two differ, by path."""
    if not (isinstance(now, dict) and isinstance(before, dict)):
        return {} if now == before else {path: (now, before)}
    found: dict[str, Any] = {}
    for key in {**now, **before}:
        found |= different(now.get(key), before.get(key), f"{path}/{key}")
    return found


def kill(cloud: Cloud, part: str) -> None:
    """As the kernel does for want of memory; returns when the daemon has seen it."""
    home = cloud.home / "local"
    before = processes.recorded(home)[part]
    os.kill(before["pid"], signal.SIGKILL)
    eventually(lambda: processes.recorded(home)[part]["starts"] > before["starts"], 120)


class Writer:
    """Writes to etcd by the API, and to S3, one after another, beside all that happens; keeps what was acknowledged."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud, self.stop = cloud, threading.Event()
        self.configmaps: list[str] = []
        self.objects: list[str] = []
        self.hand = threading.Thread(target=self.write)
        command = [COMMAND, "local", "exec", "--fleet", str(cloud.fleet), "--", sys.executable, "-c", OBJECTS, BUCKET]
        self.other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=cloud._environment())
        self.ear = threading.Thread(target=self.listen)

    def write(self) -> None:
        for number in itertools.count():
            if self.stop.is_set():
                return
            name = f"kept-{number}"
            if kubectl(self.cloud, "create", "configmap", name, "--request-timeout", "5s", code=None):
                self.configmaps.append(name)

    def listen(self) -> None:
        assert self.other.stdout is not None
        self.objects.extend(line.strip() for line in self.other.stdout)

    def further(self) -> None:
        """Returns when both have been acknowledged again."""
        before = len(self.configmaps), len(self.objects)
        eventually(lambda: len(self.configmaps) > before[0] and len(self.objects) > before[1], 120)

    def __enter__(self) -> "Writer":
        self.hand.start()
        self.ear.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.hand.join()
        self.other.terminate()
        self.other.wait()
        self.ear.join()

    def lost(self) -> set[str]:
        """What was acknowledged and is not there."""
        there = kubectl(self.cloud, "get", "configmaps", "-o", "name").split()
        told = self.cloud.python(LISTED.format(bucket=BUCKET)).split()
        return {*self.configmaps, *self.objects} - {name.rpartition("/")[2] for name in there} - set(told)


OBJECTS = """
import itertools, sys, boto3, botocore.config
once = botocore.config.Config(retries={"total_max_attempts": 1})
s3 = boto3.client("s3", config=once)
for number in itertools.count():
    try:
        s3.put_object(Bucket=sys.argv[1], Key=f"object-{number}", Body=b"x" * 10_000)
    except Exception:
        continue
    print(f"object-{number}", flush=True)
"""
LISTED = """
pages = client("s3", "us-east-1").get_paginator("list_objects_v2").paginate(Bucket="{bucket}", Prefix="object-")
print(*(one["Key"] for page in pages for one in page.get("Contents", ())))
"""


def test_what_was_saved_stands_in_another_home_as_it_was(kept: Cloud) -> None:
    same(kept, saved.noted(kept, FACTS))
    kept.run("up", "--local", "--yes", "--expect-no-changes", seconds=300)


def test_a_stop_and_a_start_lose_nothing(kept: Cloud) -> None:
    told = facts(kept)
    kubectl(kept, "create", "configmap", "stays")
    saved.local(kept, "stop")
    saved.local(kept, "start")
    same(kept, json.loads(json.dumps(told)))
    kubectl(kept, "get", "configmap", "stays")


def test_each_part_may_die_beside_a_pod_and_writers_and_nothing_acknowledged_is_lost(kept: Cloud) -> None:
    told = json.loads(json.dumps(facts(kept)))
    with Writer(kept) as writer:
        writer.further()
        for part in processes.PARTS:
            first = {one["instance"]: one["pid"] for one in machines(kept)}
            kill(kept, part.name)
            writer.further()
            after = {one["instance"]: one["pid"] for one in machines(kept)}
            assert (after == first) == (part.name != "machines service"), "machines go on but with their own service"
    same(kept, told)
    assert not writer.lost()


def test_the_daemon_may_die_and_the_next_command_has_all_again(kept: Cloud) -> None:
    told = json.loads(json.dumps(facts(kept)))
    kubectl(kept, "create", "configmap", "before-the-end")
    cloud = client.status(kept.home / "local")
    assert cloud is not None
    os.kill(cloud.pid, signal.SIGKILL)
    eventually(lambda: client.status(kept.home / "local") is None)
    kept.run("status", "--local")
    same(kept, told)
    kubectl(kept, "get", "configmap", "before-the-end")


def test_an_up_goes_on_when_parts_die_under_it(kept: Cloud) -> None:
    kept.fleet.write_text(kept.fleet.read_text().replace("sites:", f"{MORE}sites:"))
    kept.plan()
    running = kept.start("up", "--local", "--yes", "--json")
    state = kept.home / "local/test/state/.pulumi/stacks/landbridge/eu-west-1.json"
    for part, many in (("provider host", 3), ("AWS API", 20), ("machines service", 30)):
        eventually(lambda many=many: running.poll() is not None or count(state) > many, 400)
        assert running.poll() is None, f"it ended before: {running.communicate()}"
        kill(kept, part)
    out, errors = running.communicate(timeout=600)
    assert running.returncode == 0, out + errors
    assert any("died meanwhile and was started again" in note for note in json.loads(out)["notes"]), out
    kept.run("up", "--local", "--yes", "--expect-no-changes", seconds=300)


def count(state: Path) -> int:
    """How many resources a stack has by now; 0 while nobody can say."""
    with contextlib.suppress(OSError, ValueError):
        return len(json.loads(state.read_text())["checkpoint"]["latest"].get("resources") or ())
    return 0


def test_a_load_takes_back_what_came_after_the_save_and_what_was_destroyed_is_built_again(kept: Cloud) -> None:
    saved.local(kept, "save", "again")
    saved.await_nodes(kept)
    told = json.loads(json.dumps(facts(kept)))
    kubectl(kept, "create", "configmap", "too-late")
    kept.run("destroy", "--local", "--yes", "--ignore-protect", "cpu")
    saved.local(kept, "load", "again", "--yes")
    same(kept, told)
    assert not kubectl(kept, "get", "configmap", "too-late", code=None)
    kept.run("destroy", "--local", "--yes", "--ignore-protect", "cpu")
    kept.run("up", "--local", "--yes", seconds=600)
    kept.run("up", "--local", "--yes", "--expect-no-changes", seconds=300)
