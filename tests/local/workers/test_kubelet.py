"""The kubelet's stand-in against a real API server and the real joining service: it joins, and has no right too many."""

import json
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from components.pools import node_template
from tests.components.pools.joining_bed import CLIENT, key, key_pem
from tests.components.pools.joining_client import Said, eventually
from tests.components.pools.joining_cluster import REQUESTS, Cluster
from tests.local.workers.worker import Worker

Make = Callable[..., Worker]
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
DEFAULT, SYSTEM = "/api/v1/namespaces/default/pods", "/api/v1/namespaces/kube-system/pods"
PLUGIN, EFA_PLUGIN, RDMA_PLUGIN = (
    {"app.kubernetes.io/name": f"{name}-device-plugin"} for name in ("nvidia", "aws-efa", "rdma-shared")
)
JOBS = "/apis/batch/v1/namespaces/default/jobs"
GPUS, EFA, RDMA = "nvidia.com/gpu", "vpc.amazonaws.com/efa", "rdma/hca"


def pod(name: str, node: str, labels: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels or {}, **more},
        "spec": {
            "nodeName": node,
            "automountServiceAccountToken": False,
            "containers": [{"name": "main", "image": "registry.example.com/main:1"}],
        },
    }


def job(name: str, node: str, annotations: dict[str, str]) -> dict[str, Any]:
    template = pod("unused", node, annotations=annotations)
    del template["metadata"]["name"]
    template["spec"]["restartPolicy"] = "Never"
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template}}


def requests(cluster: Cluster, name: str) -> dict[str, str]:
    """For client certificates of a node: their names, and who asked."""
    found = [one for one in cluster.admin("GET", REQUESTS)["items"] if one["spec"]["signerName"] == CLIENT]
    return {one["metadata"]["name"]: who for one in found if (who := one["spec"]["username"]).endswith(f":{name}")}


def client(worker: Worker) -> Any:
    pair = worker.certificates / "kubelet-client-current.pem"
    return worker.cluster.client(certificate=(pair, pair))


def gone(cluster: Cluster, path: str) -> bool:
    try:
        cluster.admin("GET", path)
    except Said as said:
        return said.status == 404
    return False


def up(worker: Worker) -> Worker:
    worker.up()
    eventually(worker.ready)
    return worker


def test_it_joins_as_the_real_one_and_kwok_asks_for_nothing_that_a_kubelet_may_not(
    cluster: Cluster, instances: list[str], worker: Make
) -> None:
    one = worker(instances[0])
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(f"{folder}/notify")
        heard.settimeout(60)
        one.environment["NOTIFY_SOCKET"] = f"{folder}/notify"
        one.up()
        # containerd's, then the kubelet's.
        assert heard.recv(100) == b"READY=1"
        assert not (one.certificates / "kubelet-client-current.pem").exists()
        assert heard.recv(100) == b"READY=1"
        assert one.node()["metadata"]["name"] == instances[0], "it has joined by then"
    eventually(one.ready)
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    who = client(one)("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review)["status"]["userInfo"]
    assert who["username"] == f"system:node:{instances[0]}"
    assert "system:nodes" in who["groups"]
    eventually(lambda: (one.certificates / "kubelet-server-current.pem").exists())
    server = x509.load_pem_x509_certificate((one.certificates / "kubelet-server-current.pem").read_bytes())
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(name.value) for name in names] == [instances[0], one.address]
    kubeconfig = json.loads((one.folder / "var/lib/kubelet/kubeconfig").read_text())
    user = kubeconfig["users"][0]["user"]
    assert set(user.values()) == {str(one.certificates / "kubelet-client-current.pem")}
    for file in [*one.certificates.glob("*.pem"), one.folder / "var/lib/kubelet/kubeconfig"]:
        assert file.stat().st_mode & 0o77 == 0, file
    ((name, who),) = requests(cluster, instances[0]).items()
    assert name.startswith("node-csr-")
    assert who == f"system:bootstrappers:landbridge:west-gpu:{instances[0]}"
    lease = eventually(lambda: cluster.admin("GET", f"{LEASES}/{instances[0]}"))
    assert lease["spec"]["holderIdentity"] == instances[0]
    assert lease["metadata"]["ownerReferences"][0]["uid"] == one.node()["metadata"]["uid"]
    assert "not allowed" not in one.log()
    assert "PRIVATE KEY" not in one.log()
    assert "landbridge-aws." not in one.log()


def test_pods_run_end_and_go_and_a_job_may_run_for_long(cluster: Cluster, instances: list[str], worker: Make) -> None:
    one = up(worker(instances[0]))
    plain = pod("plain", one.name)
    plain["spec"]["initContainers"] = [{"name": "before", "image": "registry.example.com/before:1"}]
    cluster.admin("POST", DEFAULT, plain)
    status = eventually(lambda: (s := cluster.admin("GET", f"{DEFAULT}/plain")["status"])["phase"] == "Running" and s)
    assert status["hostIP"] == one.address
    assert status["podIP"].rpartition(".")[0] == one.node()["spec"]["podCIDR"].rpartition(".")[0]
    assert status["containerStatuses"][0]["state"]["running"]["startedAt"]
    assert status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
    assert {one["type"]: one["status"] for one in status["conditions"]}["Ready"] == "True"
    for name, annotations in (("short", {}), ("long", {"local.landbridge.dev/runs-for": "1h"})):
        cluster.admin("POST", JOBS, job(name, one.name, annotations))
    eventually(lambda: cluster.admin("GET", f"{JOBS}/short")["status"].get("succeeded") == 1)
    eventually(lambda: cluster.admin("GET", f"{JOBS}/long")["status"].get("ready") == 1)
    assert cluster.admin("GET", f"{JOBS}/long")["status"].get("active") == 1
    cluster.admin("DELETE", f"{DEFAULT}/plain")
    eventually(lambda: gone(cluster, f"{DEFAULT}/plain"))
    assert "not allowed" not in one.log()


def without_times(conditions: list[dict[str, str]]) -> list[tuple[str, str]]:
    return sorted((one["type"], one["status"]) for one in conditions)


def test_devices_come_and_go_with_their_plugins_and_then_the_node_is_its_template(
    cluster: Cluster, instances: list[str], worker: Make
) -> None:
    one = up(worker(instances[1]))
    cluster.admin("POST", SYSTEM, pod("other", one.name))
    cluster.admin("POST", DEFAULT, pod("liar", one.name, PLUGIN))
    for path in (f"{SYSTEM}/other", f"{DEFAULT}/liar"):
        eventually(lambda path=path: cluster.admin("GET", path)["status"]["phase"] == "Running")
    time.sleep(1)
    assert not {GPUS, EFA, RDMA} & one.node()["status"]["capacity"].keys()
    cluster.admin("POST", SYSTEM, pod("plugin", one.name, PLUGIN))
    eventually(lambda: one.node()["status"]["allocatable"].get(GPUS) == "8")
    assert EFA not in one.node()["status"]["capacity"]
    cluster.admin("POST", SYSTEM, pod("efa", one.name, EFA_PLUGIN))
    eventually(lambda: one.node()["status"]["allocatable"].get(EFA) == "32")
    wanted = node_template.template(one.spec, one.zone, one.name)
    # That of its start goes with the GPUs, and the controllers' own seconds after it is Ready.
    keys = {taint["key"] for taint in wanted["spec"]["taints"]}
    eventually(lambda: {taint["key"] for taint in one.node()["spec"]["taints"]} == keys)
    found = one.node()
    assert found["metadata"]["labels"] == wanted["metadata"]["labels"]
    assert {key: value for key, value in found["spec"].items() if not key.startswith("podCIDR")} == wanted["spec"]
    assert set(found["status"]) - set(wanted["status"]) == {"addresses", "daemonEndpoints", "declaredFeatures"}
    assert found["status"]["capacity"] == wanted["status"]["capacity"]
    assert found["status"]["allocatable"] == wanted["status"]["allocatable"]
    assert without_times(found["status"]["conditions"]) == without_times(wanted["status"]["conditions"])
    info, told = found["status"]["nodeInfo"], wanted["status"]["nodeInfo"]
    assert {key: info[key] for key in told} == told
    assert found["metadata"]["annotations"].items() >= wanted["metadata"]["annotations"].items()
    # That one is the controllers' own, and the same for all.
    assert set(found["metadata"]["annotations"]) - set(wanted["metadata"]["annotations"]) == {
        "node.alpha.kubernetes.io/ttl"
    }

    cluster.admin("POST", SYSTEM, pod("rdma", one.name, RDMA_PLUGIN))
    eventually(lambda: one.node()["status"]["allocatable"].get(RDMA) == "5")
    cluster.admin("DELETE", f"{SYSTEM}/rdma")
    eventually(lambda: one.node()["status"]["allocatable"][RDMA] == "0")

    # A kubelet that is started again finds the plugin running.
    one.end()
    one.start("kubelet")
    cluster.admin("DELETE", f"{SYSTEM}/plugin")
    eventually(lambda: one.node()["status"]["allocatable"][GPUS] == "0")
    assert one.node()["status"]["capacity"][GPUS] == "0"
    assert one.node()["status"]["capacity"][EFA] == "32"


def test_it_ends_with_its_unit_and_goes_on_with_the_certificate_it_has(
    cluster: Cluster, instances: list[str], worker: Make
) -> None:
    one = up(worker(instances[0]))
    eventually(lambda: (one.certificates / "kubelet-server-current.pem").exists())
    asked, uid = requests(cluster, one.name), one.node()["metadata"]["uid"]
    player = eventually(one.kwok)
    assert one.end() == 0
    assert not Path(f"/proc/{player}").exists()
    # Nothing to join with is left, and none is needed.
    one.joining.unlink()
    one.start("kubelet")
    player = eventually(one.kwok)
    assert requests(cluster, one.name) == asked
    assert one.node()["metadata"]["uid"] == uid
    one.running["kubelet"].send_signal(signal.SIGKILL)
    one.running["kubelet"].wait()
    eventually(lambda: not Path(f"/proc/{player}").exists(), 10)
    one.start("kubelet")
    Path(f"/proc/{eventually(one.kwok)}").exists()
    subprocess.run(["kill", "-9", str(one.kwok())], check=True)
    assert one.running["kubelet"].wait(20) == 1, "its unit starts it again"


def short_lived(one: Worker, seconds: float) -> str:
    """Certificate and key of that node, most of whose life is over."""
    folder, made, now = one.cluster.pki, key(), datetime.now(UTC)
    authority = x509.load_pem_x509_certificate((folder / "ca-signing.crt").read_bytes())
    signer = serialization.load_pem_private_key((folder / "ca.key").read_bytes(), None)
    now_has = x509.load_pem_x509_certificate((one.certificates / "kubelet-client-current.pem").read_bytes())
    builder = (
        x509.CertificateBuilder(now_has.issuer, now_has.subject, made.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(seconds=20 * seconds))
        .not_valid_after(now + timedelta(seconds=seconds))
        .add_extension(x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
    )
    assert authority.subject == now_has.issuer
    signed = builder.sign(signer, hashes.SHA256())  # type: ignore[arg-type]
    return signed.public_bytes(serialization.Encoding.PEM).decode() + key_pem(made)


def test_it_renews_before_the_end_and_nothing_stops(cluster: Cluster, instances: list[str], worker: Make) -> None:
    one = up(worker(instances[2]))
    one.end()
    current, seconds = one.certificates / "kubelet-client-current.pem", 75
    current.resolve().write_text(short_lived(one, seconds))
    ends = time.monotonic() + seconds
    before, asked = current.resolve(), requests(cluster, one.name)
    one.start("kubelet")
    eventually(lambda: current.resolve() != before, seconds)
    made = {who for name, who in requests(cluster, one.name).items() if name not in asked}
    assert made == {f"system:node:{one.name}"}, "by itself, not with its instance's proof"
    time.sleep(max(0.0, ends - time.monotonic()) + 1)
    cluster.admin("POST", DEFAULT, pod("later", one.name))
    eventually(lambda: cluster.admin("GET", f"{DEFAULT}/later")["status"]["phase"] == "Running", 180)
    told = cluster.admin("GET", f"{LEASES}/{one.name}")["spec"]["renewTime"]
    eventually(lambda: cluster.admin("GET", f"{LEASES}/{one.name}")["spec"]["renewTime"] > told, 180)


def test_a_machine_that_says_it_is_another_gets_no_certificate(
    cluster: Cluster, instances: list[str], worker: Make
) -> None:
    other = worker(instances[3], name=instances[2])
    other.up()
    assert other.running["kubelet"].wait(60) == 1
    assert f"this machine may be O=system:nodes, CN=system:node:{instances[3]}, and nobody else" in other.log()
    assert list(other.certificates.iterdir()) == [], "and the next try is a new one"


def test_a_machine_that_has_gone_is_shut_out(cluster: Cluster, instances: list[str], worker: Make) -> None:
    one = up(worker(instances[3]))
    scaling = cluster.boto("autoscaling")
    scaling.terminate_instance_in_auto_scaling_group(InstanceId=one.name, ShouldDecrementDesiredCapacity=True)
    eventually(lambda: gone(cluster, f"/api/v1/nodes/{one.name}"), 240)
    message = f"the machine {one.name} has gone: its certificate is worth nothing"
    eventually(lambda: message in one.log(), 120)
    one.end()
    one.start("kubelet")
    eventually(
        lambda: f"POST /api/v1/nodes: 403 nodes is forbidden: {message}" in one.log() or one.log().count(message) > 1
    )
    assert gone(cluster, f"/api/v1/nodes/{one.name}")


def test_without_containerd_it_does_not_start(cluster: Cluster, instances: list[str], worker: Make) -> None:
    one = worker(instances[0])
    one.start("kubelet")
    assert one.running["kubelet"].wait(20) == 1
    assert "no container runtime answers on" in one.log()
