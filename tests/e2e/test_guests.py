"""A baked image joins a cluster: started by QEMU as a pool's machine, with nothing in it that a test has put there."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from components.addons.images import SERVICES
from images import baked
from local.machines.guest import lacking
from tests.support import cloud as clouds
from tests.support import images
from tests.support.cloud import COMMAND, Cloud

from . import image_life

WHY = ("" if os.geteuid() == 0 else "a bake wants root") or lacking()
pytestmark = [
    pytest.mark.cloud,
    pytest.mark.timeout(2400),
    pytest.mark.skipif(bool(WHY), reason=f"NO GUEST IS STARTED: {WHY}"),
]
# The smallest that has a pool, and regions beside it that images go to: of those nothing else is up.
FLEET = """\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
regions:
  us-west-2: {cloud: aws, zones: [a, b]}
  us-east-1: {cloud: aws, zones: [a]}
  eu-west-1: {cloud: aws, zones: [a]}
clusters:
  main: {region: us-west-2, kubernetes: 1.36.2}
pools:
  cpu: {kind: cpu, cluster: main, region: us-west-2, owner: lab, instance_type: c7i.xlarge, zones: [a], max: 1}
  system: {kind: system, cluster: main, region: us-west-2, owner: ops, instance_type: m7i.large, min: 2, max: 4}
teams:
  ops: {gid: 2000}
  lab: {gid: 2001}
"""
REGIONS = ("us-west-2", "us-east-1", "eu-west-1")
STACKS = ("us-west-2", "main", "cpu", "system", "main-addons")
POOL = "landbridge.dev/pool=cpu"
# Software emulation on a busy machine; alone it is a fifth of that.
JOIN_SECONDS, REST_SECONDS = 900.0, 300.0
STEPS = ["credentials", "manifest", "signature", "files", "keys", "writing", "starting", "done"]


class Guest:
    """A pool's one machine, seen through its cluster: `node` is the Node that it has registered."""

    def __init__(self, cloud: Cloud, image: Path) -> None:
        self.cloud, self.image = cloud, baked.read(image)
        cloud.run("up", *STACKS, "--local", "--yes", seconds=900)
        cloud.run("local", "guest", "cpu", "--image", str(image))
        cloud.run("pool", "size", "cpu", "1", "--local", "--no-wait")
        self.began = time.monotonic()
        self.node = self.awaited("a Node", JOIN_SECONDS, lambda: next(iter(self.nodes("-l", POOL)), None))
        self.joined_seconds = time.monotonic() - self.began
        self.name: str = self.node["metadata"]["name"]

    def awaited(self, what: str, seconds: float, found: Callable[[], Any]) -> Any:
        """Says how long after its power-on."""
        deadline = time.monotonic() + seconds
        while not (it := found()):
            if time.monotonic() > deadline:
                pytest.fail(f"{what} has not come within {seconds:.0f} s. Its console:\n{self.console()[-3000:]}")
            time.sleep(1)
        return it

    def kubectl(self, *words: str) -> str:
        """Empty where kubectl fails: what is asked may not be there yet."""
        words = (COMMAND, "kubectl", "--fleet", str(self.cloud.fleet), *words)
        env = self.cloud._environment()
        done = subprocess.run(words, capture_output=True, text=True, env=env, check=False, timeout=120)
        return done.stdout if done.returncode == 0 else ""

    def nodes(self, *words: str) -> list[dict[str, Any]]:
        return list(json.loads(self.kubectl("get", "nodes", *words, "-o", "json") or '{"items": []}')["items"])

    def raw(self, path: str) -> str:
        """What its kubelet answers the API server, which asks in our name."""
        return self.kubectl("get", "--raw", f"/api/v1/nodes/{self.name}/proxy/{path}")

    def machine(self) -> dict[str, Any]:
        listed = json.loads((self.cloud.home / "local/machines.json").read_text())
        return dict(next(one for one in listed if one["instance"] == self.name))

    def console(self) -> str:
        files = (self.cloud.home / "local/machines").glob("*/*/console.log")
        return "\n".join(file.read_text(errors="replace") for file in files if (file.parent / "qemu.log").exists())


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    cloud = clouds.make(tmp_path_factory.mktemp("guests"), FLEET)
    try:
        yield Guest(cloud, images.baked("cpu"))
    finally:
        cloud.stop()


def test_its_kubelet_joins_with_the_image_s_own_kernel_and_containerd(
    guest: Guest, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        sys.stdout.write(f" joined {guest.joined_seconds:.0f} s after its start ")
    told = guest.node["status"]["nodeInfo"]
    assert told["kernelVersion"] == guest.image.kernel != os.uname().release
    assert told["osImage"].startswith("Debian GNU/Linux 13")
    assert told["containerRuntimeVersion"].startswith("containerd://2.")
    assert told["kubeletVersion"] == f"v{guest.image.kubernetes}"


def test_it_is_the_machine_that_the_cloud_has_launched(guest: Guest) -> None:
    machine, about = guest.machine(), guest.node["metadata"]
    assert (machine["state"], machine["pid"]) == ("running", None)
    assert guest.node["spec"]["providerID"] == f"aws:///us-west-2a/{guest.name}"
    assert about["labels"]["landbridge.dev/pool"] == "cpu"
    assert {one["type"]: one["address"] for one in guest.node["status"]["addresses"]}["InternalIP"] == machine[
        "address"
    ]


def test_the_launch_template_s_stub_has_fetched_and_checked_its_bundle(guest: Guest) -> None:
    """Asked over the API server, which asks the kubelet: its serving certificate was approved, too."""
    log = guest.awaited("its log", REST_SECONDS, lambda: guest.raw("logs/landbridge-boot.log"))
    assert re.findall(r" boot: (\w+)$", log, re.MULTILINE)[-len(STEPS) :] == STEPS


def test_its_units_run_under_systemd(guest: Guest) -> None:
    """By systemd's own words on the console: each unit of the bundle, and their target once all of them are up."""

    def said() -> str:
        return re.sub(r"\x1b\[[0-9;]*m", "", guest.console())

    guest.awaited("its target", REST_SECONDS, lambda: "Reached target landbridge.target" in said())
    assert {"containerd.service", "kubelet.service"} <= set(re.findall(r"Started (\S+)", said()))
    assert re.findall(r"\[FAILED\].*", said()) == []


def test_nothing_but_the_pods_network_is_missing(guest: Guest) -> None:
    """That is the add-ons', whose images no registry gives here."""

    def reasons() -> dict[str, str] | None:
        (node,) = guest.nodes("-l", POOL)
        conditions = {one["type"]: one for one in node["status"]["conditions"]}
        good = [one for one in conditions if one != "Ready" and conditions[one]["status"] == "False"]
        return conditions["Ready"] if len(good) == 3 else None

    ready = guest.awaited("its conditions", REST_SECONDS, reasons)
    assert (ready["status"], ready["reason"]) == ("False", "KubeletNotReady")
    assert "cni plugin not initialized" in ready["message"]


def test_the_services_container_is_there_without_a_registry(guest: Guest) -> None:
    """Given to the real containerd at the first start."""

    def there() -> bool:
        (node,) = guest.nodes("-l", POOL)
        return str(SERVICES) in [name for one in node["status"].get("images", []) for name in one["names"]]

    assert guest.awaited("its container", REST_SECONDS, there)


def test_it_is_published_promoted_rolled_out_and_rolled_back(guest: Guest, capsys: pytest.CaptureFixture[str]) -> None:
    """By pools' other machines, which start in no time; with times. The guest, which takes a core for itself, goes."""
    guest.cloud.run("pool", "size", "cpu", "0", "--local", "--no-wait", "--yes")
    took = image_life.check(guest.cloud, images.baked("cpu"), REGIONS)
    with capsys.disabled():
        sys.stdout.write("".join(f"\n{what}: {seconds:.0f} s" for what, seconds in took.items()))
