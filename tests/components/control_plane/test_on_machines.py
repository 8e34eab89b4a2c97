"""The example cluster's bundles on local machines: real etcd and Kubernetes, on the planned addresses and names."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.control_plane.bundle import Material, bundle
from components.control_plane.machines import ClusterSpec, cluster_spec
from components.control_plane.pki import break_glass
from fleet.world import current
from local import namespace
from tests.local.machines.host import Box, Host
from tests.support.pki import material

ROOT = Path(__file__).parents[3]
BIN = ROOT / ".landbridge/bin"
PROGRAMS = ("etcd", "etcdctl", "etcdutl", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
ETCDCTL = (
    "etcdctl --cacert=/etc/etcd/pki/clients-ca.crt --cert=/etc/etcd/pki/operator.crt --key=/etc/etcd/pki/operator.key"
)


@pytest.fixture(scope="module")
def spec() -> ClusterSpec:
    world = current(ROOT / "fleet.yaml")
    return cluster_spec(world.fleet, world.plan, "main")


@pytest.fixture(scope="module")
def made(spec: ClusterSpec) -> Material:
    return material(spec)


@pytest.fixture(scope="module")
def cluster(spec: ClusterSpec, made: Material, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Box]]:
    """All five machines, each with its bundle, started at the same time."""
    host = Host(tmp_path_factory.mktemp("cluster"), ["unshare", *namespace.usable_way().make])
    machines = (*spec.etcd, *spec.api)
    hosts = "".join(f"{m.address} {m.host} {m.name}\n" for m in machines)
    boxes = {}
    for machine in machines:
        one = bundle(spec, machine, made)
        volumes = {}
        if machine.role == "etcd":
            for ring in ("main", "events"):
                folder = host.folder / f"{machine.name}-{ring}"
                folder.mkdir()
                volumes[f"/dev/landbridge/etcd-{ring}"] = str(folder)
        boxes[machine.name] = host.machine(
            machine.name,
            f"{machine.address}/22",
            supernet="10.128.0.0/9",
            hosts=hosts,
            programs={name: str((BIN / name).resolve()) for name in PROGRAMS},
            files={**one.files, **one.keys},
            volumes=volumes,
        )
    for box in boxes.values():
        assert box.ctl("daemon-reload").code == 0
        assert box.ctl("start", "--no-block", "landbridge.target").code == 0
    yield boxes
    host.close()


def kubectl(cluster: dict[str, Box], spec: ClusterSpec, made: Material, *words: str, by: str = "main-api-1") -> str:
    """With the break-glass credential, which no machine has: it is laid there for this call."""
    box, name = cluster[by], break_glass(spec).name
    for suffix, text in (("crt", made.certificates[name]), ("key", made.keys[name])):
        (box.disk / f"var/lib/admin.{suffix}").write_text(text)
    server = next(m.host for m in spec.api if m.name == by)
    flags = ["--certificate-authority=/etc/kubernetes/pki/ca.crt", "--client-certificate=/var/lib/admin.crt"]
    said = box.run("kubectl", f"--server=https://{server}:6443", *flags, "--client-key=/var/lib/admin.key", *words)
    assert said.code == 0, said.err
    return said.out


def eventually(what: object, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            assert callable(what)
            assert what()
        except (AssertionError, RuntimeError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)
        else:
            return


def test_every_api_server_is_ready_and_says_so_to_the_balancer_without_a_credential(
    cluster: dict[str, Box], spec: ClusterSpec, made: Material
) -> None:
    for name in ("main-api-1", "main-api-2"):
        eventually(lambda name=name: kubectl(cluster, spec, made, "get", "--raw", "/readyz", by=name) == "ok", 90)
    ask = "curl --silent --cacert /etc/kubernetes/pki/ca.crt https://127.0.0.1:6443"
    assert cluster["main-api-2"].sh(f"{ask}/readyz").out == "ok"
    assert json.loads(cluster["main-api-2"].sh(f"{ask}/api").out)["code"] == 401
