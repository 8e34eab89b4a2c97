"""A whole local machine boots a pool's bundle, unchanged, and is a node: here a site's host, by its enrolment's token."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.pools.bundle import bundle
from local import namespace
from local.workers import hardware
from tests.components.pools.joining_client import eventually
from tests.components.pools.joining_cluster import BIN
from tests.local.machines.host import Box, Host
from tests.local.workers.worker import spec

API, ADDRESS, NODE, TOKEN = "10.128.0.5", "10.129.0.12", "host-2.lab", "abc123.0123456789abcdef"
# In the namespace: the bed of a cluster, on the bridge where machines are.
BED = """
from itertools import chain, count
from tests.components.pools import joining_cluster as bed
network.hold(api)
network.lead("10.129.0.0/22")
ports = chain([6443], count(20000))
bed.BIND, bed.free_port = "0.0.0.0", lambda: next(ports)
bed.kept = bed.make(Path(folder))
bed.cluster = next(bed.kept)
secret = {"metadata": {"name": "bootstrap-token-abc123"}, "type": "bootstrap.kubernetes.io/token", "stringData": token}
bed.cluster.admin("POST", "/api/v1/namespaces/kube-system/secrets", secret)
result = (bed.cluster.pki / "ca.crt").read_text()
"""
ASK = """
from tests.components.pools import joining_cluster as bed
result = bed.cluster.admin(method, path, body)
"""
GIVEN = {
    "token-id": "abc123",
    "token-secret": "0123456789abcdef",
    "usage-bootstrap-authentication": "true",
    "auth-extra-groups": "system:bootstrappers:landbridge:lab:host-2",
}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    made = Host(tmp_path_factory.mktemp("m"), ["unshare", *namespace.usable_way().make])
    yield made
    made.close()


@pytest.fixture(scope="module")
def box(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Box:
    folder = tmp_path_factory.mktemp("bed")
    authority = host(BED, api=API, folder=str(folder), token=GIVEN)
    pool = spec("site-gpu")
    size = {"architecture": "amd64", "cpus": 96, "memory_mib": 1 << 20, "disk_gib": 1000, "gpus": 8}
    files = {
        **bundle(pool, authority).files,
        # A local machine has no way out by which it would find its own address.
        "/etc/landbridge/host.json": json.dumps({"host": "host-2", "address": ADDRESS}),
        "/etc/kubernetes/enrolment-token": TOKEN,
        str(hardware.FILE): hardware.text(size, pool.kubernetes),
    }
    name = pool.server.removeprefix("https://").partition(":")[0]
    made = host.machine(
        "host-2",
        f"{ADDRESS}/22",
        networks=["10.128.0.0/9"],
        hosts=f"{API} {name}\n",
        programs={"kwok": str((BIN / "kwok").resolve())},
        files=files,
    )
    made.ctl("daemon-reload")
    made.ctl("start", "--no-block", "landbridge.target")
    return made


def asked(box: Box, path: str, method: str = "GET", body: Any = None) -> Any:
    return box.host(ASK, method=method, path=path, body=body)


def ready(box: Box) -> Any:
    node = asked(box, f"/api/v1/nodes/{NODE}")
    return node if ("Ready", "True") in [(c["type"], c["status"]) for c in node["status"]["conditions"]] else None


def retried(what: Any, seconds: float = 90) -> Any:
    def once() -> Any:
        try:
            return what()
        except RuntimeError as error:  # not there yet
            raise OSError(error) from None

    return eventually(once, seconds)


def test_a_machine_that_boots_a_pool_s_bundle_is_a_node(box: Box) -> None:
    node = retried(lambda: ready(box))
    units = ("kubelet", "containerd", "landbridge-sysctl", "landbridge-node-facts")
    assert box.ctl("is-active", *units).out.split() == ["active"] * len(units)
    assert node["spec"]["providerID"] == "onprem:///lab/host-2"
    assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == "lab"
    assert {one["type"]: one["address"] for one in node["status"]["addresses"]}["InternalIP"] == ADDRESS
    assert node["status"]["capacity"]["cpu"] == "96"
    server = box.disk / "var/lib/kubelet/pki/kubelet-server-current.pem"
    retried(server.is_symlink)
    assert "vm.overcommit_memory = 1: left as the laptop's kernel has it" in box.log("landbridge-sysctl.service")
    assert box.sh("cat /proc/sys/net/ipv4/ip_forward").out == "1\n"
    # A shell finds the stand-ins, too, wherever its search begins.
    assert box.sh("PATH=/usr/sbin:/sbin; sysctl -a").code == 2


def test_it_is_a_node_again_after_a_restart_of_its_unit_and_leaves_nothing_when_it_stops(box: Box) -> None:
    retried(lambda: ready(box))
    first = (box.disk / "var/lib/kubelet/pki/kubelet-client-current.pem").resolve().name
    assert box.ctl("restart", "kubelet").code == 0
    assert (box.disk / "var/lib/kubelet/pki/kubelet-client-current.pem").resolve().name == first
    assert box.ctl("stop", "kubelet").code == 0
    assert box.sh("pgrep -x kwok").out == ""
    assert Path(box.disk / "var/lib/kubelet/kubeconfig").stat().st_mode & 0o77 == 0
