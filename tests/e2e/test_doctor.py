"""`landbridge doctor` beside a fleet of all kinds of stacks, with many faults at once: each is found, and what it says to do helps."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from local import client
from local.environment import scrubbed
from tests.components.pools.joining_client import eventually
from tests.support.cloud import COMMAND, Cloud

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(900)]
STATE = "local/test/state/.pulumi"
# What no machine of the local cloud has, see tests/e2e/test_hybrid.py.
NFS = re.compile(r"nfs-server\.service|srv-landbridge\.mount")
BAD_UNIT = """\
printf '[Service]\\nType=oneshot\\nExecStart=/bin/false\\n' > /etc/systemd/system/wrong.service
systemctl daemon-reload; systemctl start wrong.service; true
"""
# A stop takes its time, and the machine starts what has ended.
API_GONE = """\
cd /etc/systemd/system && cp kube-apiserver.service /run/right.service
sed -i 's|^ExecStart=[^ ]*kube-apiserver|ExecStart=/bin/false|' kube-apiserver.service
systemctl daemon-reload; kill -KILL $(pidof kube-apiserver)
"""
API_BACK = """\
cp /run/right.service /etc/systemd/system/kube-apiserver.service
systemctl daemon-reload; systemctl reset-failed kube-apiserver; systemctl start kube-apiserver
"""
VOLUMES = """
ec2 = client("ec2", "us-west-2")
def volume(**tags):
    tags = [{"Key": f"landbridge:{key}", "Value": value} for key, value in {"fleet": "test", **tags}.items()]
    made = {"ResourceType": "volume", "Tags": tags}
    print(ec2.create_volume(AvailabilityZone="us-west-2a", Size=1, TagSpecifications=[made])["VolumeId"])
volume(stack="gone")
volume(stack="main", kept="etcd-main 2026-01-02")
peering = ec2.describe_transit_gateway_peering_attachments()["TransitGatewayPeeringAttachments"][0]
ec2.delete_transit_gateway_peering_attachment(TransitGatewayAttachmentId=peering["TransitGatewayAttachmentId"])
"""
LINK = """
import json, urllib.request
(found,) = client("ec2", "us-west-2").describe_vpn_connections()["VpnConnections"]
told = {{one["OutsideIpAddress"]: {state} for one in found["VgwTelemetry"]}}
asked = urllib.request.Request("http://127.0.0.1:5000/landbridge-api/tunnels", json.dumps(told).encode(), method="POST")
urllib.request.urlopen(asked).read()
"""
SILENT = {"keys": False, "prefixes": None}


def machine(cloud: Cloud, name: str, script: str) -> None:
    up = client.status(cloud.home / "local")
    assert up
    command = client.machine_command(up, name, ["sh", "-c", script])
    subprocess.run(command, env=scrubbed(os.environ), check=True, capture_output=True, timeout=60)


def findings(cloud: Cloud) -> list[dict[str, str]]:
    report = cloud.report("doctor", "--local", code=1)
    assert not report["well"]
    assert report["seconds"] < 15
    return list(report["findings"])


def newest(folder: Path) -> Path:
    return max(folder.glob("*.history.json"))


@pytest.fixture(scope="module")
def sick(in_all: Cloud) -> Any:
    """Faults of all kinds. Gives the volumes that nobody needs, beside the cloud."""
    state = in_all.home / STATE
    lock = state / "locks/organization/landbridge/cpu/1.json"
    lock.parent.mkdir(parents=True, exist_ok=True)
    holder = {"username": "ann", "hostname": socket.gethostname(), "pid": 2**22 + 1}
    lock.write_text(json.dumps({**holder, "timestamp": "2026-01-02T03:04:05.123456789Z"}))
    stacks = state / "stacks/landbridge"
    interrupted = json.loads((stacks / "west-gpu.json").read_text())
    latest = interrupted["checkpoint"]["latest"]
    latest["pending_operations"] = [{"type": "updating", "resource": latest["resources"][-1]}]
    (stacks / "west-gpu.json").write_text(json.dumps(interrupted))
    (stacks / "old-gpu.json").write_text((stacks / "east-gpu.json").read_text())
    history = newest(state / "history/landbridge/east-gpu")
    history.write_text(json.dumps(json.loads(history.read_text()) | {"result": "failed"}))
    (in_all.home / "local/test/logs/east-gpu.read.json").unlink()
    machine(in_all, "main-api-1", BAD_UNIT)
    machine(in_all, "main-api-2", API_GONE)
    machine(in_all, "main-etcd-1", "systemctl stop etcd-events")
    machine(in_all, "host-1.lab", "echo '#' >> /etc/systemd/system/kubelet.service")
    machine(in_all, "host-2.lab", "systemctl stop kubelet")
    in_all.python(LINK.format(state=SILENT))
    volumes = in_all.python(VOLUMES).split()
    text = in_all.fleet.read_text()
    more = (
        "  later: {kind: cpu, cluster: main, region: us-west-2, owner: lab, instance_type: c7i.large, max: 2}\nteams:\n"
    )
    in_all.fleet.write_text(text.replace("teams:\n", more))
    in_all.plan()
    yield in_all, volumes
    in_all.fleet.write_text(text)


def test_each_fault_is_found_where_it_is_and_the_worst_stands_first(sick: tuple[Cloud, list[str]]) -> None:
    cloud, (gone, kept) = sick
    found = findings(cloud)
    ranks = [("broken", "ailing", "soon").index(one["severity"]) for one in found]
    assert ranks == sorted(ranks)
    said = {(one["area"], one["severity"], one["what"]) for one in found}
    assert said >= {
        ("site lab", "broken", "host host-1: nfs-server.service is not up"),
        ("state", "broken", "stack west-gpu was interrupted: 1 operation has no end"),
        ("state", "broken", "stack east-gpu: its last update failed"),
        ("state", "ailing", "in the fleet file and not up: later"),
        ("state", "ailing", f"stack old-gpu stands, and {cloud.fleet.name} names it no more"),
        ("local cloud", "ailing", "machine main-api-1: its unit wrong.service has failed"),
        ("cluster main", "ailing", "API server main-api-2 does not answer there"),
        ("cluster main", "ailing", "etcd events: main-etcd-1 does not answer"),
        ("links", "broken", "peering of us-east-1 and us-west-2 is deleted"),
        ("site lab", "broken", "host host-2: kubelet.service is not up"),
        (
            "site lab",
            "ailing",
            "host host-1 has not the bundle that it is to have: /etc/systemd/system/kubelet.service",
        ),
        ("leftovers", "soon", f"us-west-2 has {gone} of stack gone, which is not up"),
        ("leftovers", "soon", f"us-west-2 keeps {kept}, disks that an earlier destroy of main has set aside"),
    }
    texts = [one["what"] for one in found]
    assert [text for text in texts if text.startswith("stack cpu is locked by ann on ")]
    assert [text for text in texts if text.startswith("site lab: 2 of 4 tunnels")]


def test_what_it_says_to_type_is_taken(sick: tuple[Cloud, list[str]]) -> None:
    """Commands that look are run; those that change come with the next test."""
    cloud, _ = sick
    typed = {command for one in findings(cloud) for command in re.findall(r"`landbridge ([^`]+)`", one["remedy"])}
    looks = [command for command in typed if command.split()[0] not in ("up", "destroy") and " apply " not in command]
    assert {command.split(" --")[0] for command in looks} >= {"etcd status", "links check", "site status lab host-2"}
    for command in looks:
        done = subprocess.run(
            [COMMAND, *command.split()],
            env=cloud._environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode in (0, 1), (command, done.stderr)


WHY = """\
import sys
from pathlib import Path
from fleet.world import current
from landbridge.cluster import session, why
print(why.not_ready(session.opened(current(Path(sys.argv[1])), None, local=True), "host-2.lab", None))
"""
OTHER_AUTHORITY = """\
cd /etc/kubernetes && cp ca.crt /run/right.crt
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /dev/null -subj /CN=other -out ca.crt
systemctl restart kubelet > /dev/null 2>&1 &
"""


def test_why_a_host_is_no_node_is_found_on_it(sick: tuple[Cloud, list[str]]) -> None:
    """What an `up` that waits for it says after 20 s."""
    cloud, _ = sick

    def why() -> str:
        return cloud.inside(sys.executable, "-c", WHY, str(cloud.fleet)).strip()

    assert why().startswith("its unit kubelet is inactive")
    cloud.python(LINK.format(state=None))
    machine(cloud, "host-2.lab", OTHER_AUTHORITY)
    eventually(lambda: why().startswith("its kubelet can't verify the API server's certificate"), 60)
    machine(cloud, "host-2.lab", "cp /run/right.crt /etc/kubernetes/ca.crt; systemctl restart kubelet")


def test_what_it_says_to_do_helps(sick: tuple[Cloud, list[str]]) -> None:
    cloud, volumes = sick
    machine(cloud, "main-api-2", API_BACK)
    machine(cloud, "main-api-1", "systemctl reset-failed wrong.service; rm /etc/systemd/system/wrong.service")
    machine(cloud, "main-etcd-1", "systemctl start etcd-events")
    for one in volumes:
        cloud.python(f"client('ec2', 'us-west-2').delete_volume(VolumeId={one!r})")
    (cloud.home / STATE / "stacks/landbridge/old-gpu.json").unlink()
    machine(cloud, "host-1.lab", "sed -i '$d' /etc/systemd/system/kubelet.service")
    cloud.run("up", "later", "west-gpu", "cpu", "--local", "--yes")
    cloud.run("up", "east-gpu", "--full", "--local", "--yes")
    cloud.run("up", "links", "--local", "--refresh", "--yes")
    deadline = time.monotonic() + 120
    while (
        left := [one["what"] for one in findings(cloud) if not NFS.search(one["what"])]
    ) and time.monotonic() < deadline:
        time.sleep(2)
    assert left == []


def test_a_ring_without_a_quorum_and_an_api_that_is_out_come_first(in_all: Cloud) -> None:
    for name in ("main-etcd-1", "main-etcd-2"):
        machine(in_all, name, "kill -STOP $(pidof etcd)")
    found = findings(in_all)
    broken = {one["what"] for one in found if one["severity"] == "broken"}
    assert "etcd main: it has no quorum: nothing can be written" in broken
    # It hangs as etcd does, and may take longer than it is given.
    api = [one["what"] for one in found if one["area"] == "cluster main" and not one["what"].startswith("etcd")]
    assert [what for what in api if what.startswith(("its API does not answer: ", "no answer within"))], found


def test_a_local_cloud_that_was_killed_is_named_with_what_brings_it_back(in_all: Cloud) -> None:
    up = client.status(in_all.home / "local")
    assert up
    os.kill(up.pid, signal.SIGKILL)
    assert client.gone(up, 10)
    found = [one for one in findings(in_all) if one["area"] == "local cloud"]
    assert [one["what"] for one in found] == ["it is not up: it was killed"]
    assert found[0]["remedy"].startswith("`landbridge local start`")
    in_all.run("local", "start", code=None)
