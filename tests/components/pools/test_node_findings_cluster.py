"""A node tells a real API server what its kernel says, with its own certificate and under NodeRestriction."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet import maintenance
from tests.components.pools.joining_client import eventually
from tests.components.pools.joining_cluster import Cluster, make, node
from tests.support.scripts import FOLDERS

# The script on a machine finds these by itself.
RUNNER = """
import json, sys
told = json.load(open(sys.argv[1]))
sys.path[:0] = told["scripts"]
from pathlib import Path
import node_findings, own_node
for module, names in ((node_findings, ("LOG", "STATE")), (own_node, ("JOINING", "CERTIFICATE"))):
    for name in names:
        setattr(module, name, Path(told[name]))
node_findings.main()
"""
OFF_BUS = "NVRM: Xid (PCI:0000:44:00): 79, GPU has fallen off the bus."
IO_ERROR = "Buffer I/O error on dev sda, logical block 0, lost sync page write"
LOADED = "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.178.04"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    yield from make(tmp_path_factory.mktemp("findings"))


class Unit:
    """The script with its files, as the kubelet of `one` left them."""

    def __init__(self, cluster: Cluster, folder: Path, one: str) -> None:
        self.cluster, self.folder = cluster, folder
        mine = cluster.join(one)
        mine("POST", "/api/v1/nodes", node(one, 8))
        assert mine.certificate
        (folder / "node.pem").write_text("".join(file.read_text() for file in mine.certificate))
        place = {
            "server": f"https://127.0.0.1:{cluster.ports['api']}",
            "certificate-authority": f"{cluster.pki}/ca.crt",
        }
        (folder / "joining").write_text(json.dumps({"clusters": [{"cluster": place}]}))
        os.mkfifo(folder / "kmsg")
        self.log = os.open(folder / "kmsg", os.O_RDWR)
        files = {"LOG": "kmsg", "STATE": "state.json", "JOINING": "joining", "CERTIFICATE": "node.pem"}
        told = {"scripts": FOLDERS, **{name: str(folder / file) for name, file in files.items()}}
        (folder / "told.json").write_text(json.dumps(told))

    def start(self, name: str) -> None:
        self.cluster.start("unit", [sys.executable, "-c", RUNNER, str(self.folder / "told.json")], NODE_NAME=name)

    def stop(self) -> None:
        self.cluster.running["unit"].kill()
        self.cluster.running.pop("unit").wait()

    def says(self, sequence: int, text: str) -> None:
        os.write(self.log, f"3,{sequence},{60 + sequence}000000,-;{text}\n".encode())


def test_a_node_reports_what_its_kernel_says_as_itself_and_for_itself_alone(cluster: Cluster, tmp_path: Path) -> None:
    one, other = cluster.grow("example-west-gpu", 2)
    cluster.join(other)("POST", "/api/v1/nodes", node(other, 8))
    unit = Unit(cluster, tmp_path, one)

    def conditions() -> dict[str, Any]:
        found = cluster.admin("GET", f"/api/v1/nodes/{one}")["status"]["conditions"]
        return {each["type"]: (each["status"], each.get("reason")) for each in found}

    def events() -> dict[str, Any]:
        query = f"fieldSelector=involvedObject.kind=Node,involvedObject.name={one}"
        found = cluster.admin("GET", f"/api/v1/namespaces/default/events?{query}")["items"]
        return {each["reason"]: each for each in found if each["source"].get("component") == "kernel-monitor"}

    unit.start(one)
    unit.says(1, OFF_BUS)
    unit.says(2, IO_ERROR)
    eventually(lambda: conditions().get("GPUUnhealthy") == ("True", "GPUOffBus"))
    assert conditions()["Ready"][0] == "True", "what the kubelet says stays"
    eventually(lambda: events().keys() >= {"GPUOffBus", "IOError"})
    assert events()["IOError"]["message"] == "disk sda: Buffer I/O error, logical block 0, lost sync page write"
    unit.stop()
    # All that it has read before comes again, and something new.
    unit.start(one)
    unit.says(1, OFF_BUS)
    unit.says(3, LOADED)
    eventually(lambda: conditions()["GPUUnhealthy"] == ("False", "GPUsAreHealthy"))
    assert eventually(lambda: events().get("GPUsAreHealthy"))["type"] == "Normal"
    assert events()["GPUOffBus"]["count"] == 1
    unit.stop()
    assert "not reported yet" not in cluster.log("unit")
    # With its state it asks for nothing first, so that NodeRestriction is asked.
    unit.start(other)
    unit.says(4, OFF_BUS)
    eventually(lambda: "not reported yet, again in 2 s" in cluster.log("unit"))
    unit.stop()
    assert "is not allowed to modify node" in cluster.log("unit")
    assert "Traceback" not in cluster.log("unit")
    told = cluster.admin("GET", f"/api/v1/nodes/{other}")["status"]["conditions"]
    assert [each["type"] for each in told] == ["Ready"]
    os.close(unit.log)


NOTICES = """
import json, sys
told = json.load(open(sys.argv[1]))
sys.path[:0] = told["scripts"]
from pathlib import Path
import node_notices, own_node
own_node.JOINING, own_node.CERTIFICATE = Path(told["JOINING"]), Path(told["CERTIFICATE"])
class Source:
    def announced(self):
        return json.loads(Path(told["ANNOUNCED"]).read_text())
node_notices.Notices(own_node.client(), sys.argv[2], Source()).step()
"""


def test_a_node_lays_what_its_cloud_announces_on_itself_and_on_no_other(cluster: Cluster, tmp_path: Path) -> None:
    known = {one["metadata"]["name"] for one in cluster.admin("GET", "/api/v1/nodes")["items"]}
    one = next(name for name in cluster.grow("example-west-gpu", len(known) + 1) if name not in known)
    other = next(iter(known))
    unit = Unit(cluster, tmp_path, one)
    os.close(unit.log)
    file = tmp_path / "told.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "ANNOUNCED": str(tmp_path / "announced")}))
    (tmp_path / "announced").write_text(json.dumps([{"id": "e-1"}]))

    def run(name: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-c", NOTICES, str(file), name]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    assert run(one).returncode == 0
    annotations = cluster.admin("GET", f"/api/v1/nodes/{one}")["metadata"]["annotations"]
    assert json.loads(annotations[maintenance.ANNOUNCED]) == [{"id": "e-1"}]
    assert "only its own Node object" in run(other).stderr
    assert maintenance.ANNOUNCED not in cluster.admin("GET", f"/api/v1/nodes/{other}")["metadata"].get(
        "annotations", {}
    )
