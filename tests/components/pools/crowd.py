"""Many machines that join at once: one program makes the API calls of all their kubelets, each with its own key.

A machine asks for its certificate with what it can prove, waits for it by a watch, and makes its Node by it. One kwok
plays the status and the leases of all afterwards.
"""

import base64
import http.client
import json
import multiprocessing
import ssl
import tempfile
from collections.abc import Collection, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any, NamedTuple

from components.pools import labels
from local.workers.kwok import STAGES
from tests.components.pools.joining_bed import CLIENT, TABLE, USES, WEST, encoded, key, key_pem, request
from tests.components.pools.joining_cluster import BIN, REQUESTS, TOKEN_SECRET, Cluster, node

SITE, LAN = "lab", "10.132.0.0/18"
PROGRAMS, THREADS = 2, 12
WAIT_SECONDS = 600
# The pods' range of a cluster for so many nodes: a /25 each.
PODS = {500: "10.128.0.0/16", 2500: "10.144.0.0/13", 5000: "10.144.0.0/12"}


# kwok renews four leases at a time by itself: behind at some 2,500 nodes, where real kubelets each have their own line.
OPTIONS = {
    "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
    "kind": "KwokConfiguration",
    "options": {"nodeLeaseParallelism": 64, "nodePlayStageParallelism": 4, "podPlayStageParallelism": 4},
}


class Machine(NamedTuple):
    """`number` is a site's host's, 0 in a cloud."""

    name: str
    pool: str
    number: int


def table(hosts: int) -> dict[str, Any]:
    """The bed's, with a site of so many hosts."""
    site = {**TABLE["pools"]["site-gpu"], "hosts": {f"host-{number}": "" for number in range(1, hosts + 1)}}
    return {**TABLE, "lans": {SITE: LAN}, "pools": {**TABLE["pools"], "site-gpu": site}}


def hosts(first: int, last: int) -> list[Machine]:
    return [Machine(f"host-{number}.{SITE}", "site-gpu", number) for number in range(first, last + 1)]


def instances(cluster: Cluster, count: int, had: Collection[str] = ()) -> list[Machine]:
    """New ones beside those of these names; `count` is how many there are then."""
    return [Machine(name, "west-gpu", 0) for name in cluster.grow("example-west-gpu", count) if name not in had]


def _token_id(number: int) -> str:
    return f"h{number:05}"


def enrol(cluster: Cluster, machines: Sequence[Machine]) -> None:
    """A token for each host of the site, as their enrolment makes it."""

    def one(machine: Machine) -> None:
        if machine.number:
            cluster.enrolment(_token_id(machine.number), f"host-{machine.number}", SITE)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, machines))


class Line:
    """One connection to the API server, kept open."""

    def __init__(self, port: int, context: ssl.SSLContext, token: str = "") -> None:
        self.http = http.client.HTTPSConnection("127.0.0.1", port, timeout=WAIT_SECONDS, context=context)
        self.headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.send(method, path, body)
        return json.loads(answer.read())

    def send(self, method: str, path: str, body: Any = None) -> http.client.HTTPResponse:
        self.http.request(method, path, None if body is None else json.dumps(body), self.headers)
        answer = self.http.getresponse()
        if answer.status >= 300:
            raise OSError(f"{method} {path}: {answer.status} {answer.read()[:300]!r}")
        return answer


def join(cluster: Cluster, machines: Sequence[Machine]) -> None:
    """All of them, in some programs of some threads each. Raises OSError for the first that is refused."""
    global _CLUSTER, _ANYBODY
    _CLUSTER, _ANYBODY = cluster, ssl.create_default_context(cafile=str(cluster.pki / "ca.crt"))
    parts = [machines[number::PROGRAMS] for number in range(PROGRAMS)]
    with ProcessPoolExecutor(PROGRAMS, multiprocessing.get_context("fork")) as pool:
        for done in pool.map(_join_some, parts):
            assert done >= 0


_CLUSTER: Any = None
_ANYBODY: Any = None


def _join_some(machines: Sequence[Machine]) -> int:
    with ThreadPoolExecutor(THREADS) as pool:
        return len(list(pool.map(_join, machines)))


def _join(machine: Machine) -> None:
    cluster, port = _CLUSTER, _CLUSTER.ports["api"]
    token = f"{_token_id(machine.number)}.{TOKEN_SECRET}" if machine.number else cluster.token(machine.name)
    made, joining = key(), Line(port, _ANYBODY, token)
    wish = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"generateName": "node-csr-"},
        "spec": {
            "request": encoded(request(machine.name, made=made)),
            "signerName": CLIENT,
            "usages": USES[CLIENT],
        },
    }
    signed = _signed(joining, joining.ask("POST", REQUESTS, wish)["metadata"])
    context = ssl.create_default_context(cafile=str(cluster.pki / "ca.crt"))
    with tempfile.NamedTemporaryFile("w") as pair:
        pair.write(signed + key_pem(made))
        pair.flush()
        context.load_cert_chain(pair.name)
    own = Line(port, context)
    own.ask("POST", "/api/v1/nodes", thing(machine))
    own.http.close()


def _signed(line: Line, meta: Any) -> str:
    """PEM of a request's certificate, by a watch of that one."""
    query = f"?watch=true&fieldSelector=metadata.name%3D{meta['name']}&resourceVersion={meta['resourceVersion']}"
    answer = line.send("GET", REQUESTS + query)
    while text := answer.readline():
        status = json.loads(text)["object"].get("status", {})
        denied = [one["message"] for one in status.get("conditions", []) if one["type"] != "Approved"]
        assert not denied, denied
        if "certificate" in status:
            line.http.close()
            return base64.b64decode(status["certificate"]).decode()
    raise OSError(f"the watch of {meta['name']} ended")


def thing(machine: Machine) -> dict[str, Any]:
    """The Node, not ready yet; its GPUs are there."""
    made = node(machine.name, 8, machine.pool)
    place = SITE if machine.number else WEST
    zone = SITE if machine.number else f"{WEST}a"
    made["metadata"]["labels"] |= {labels.PLACE: place, labels.ZONE: zone, labels.REGION: place}
    made["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]
    if machine.number:
        address = str(IPv4Network(LAN)[10 + machine.number])
        made["status"]["addresses"] = [{"type": "InternalIP", "address": address}]
    return made


def play(cluster: Cluster, lease_seconds: int = 40) -> None:
    """kwok, for all nodes that there are and will be."""
    told = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "c",
                "cluster": {
                    "server": f"https://127.0.0.1:{cluster.ports['api']}",
                    "certificate-authority": str(cluster.pki / "ca.crt"),
                },
            }
        ],
        "users": [
            {
                "name": "u",
                "user": {
                    "client-certificate": str(cluster.folder / "admin.crt"),
                    "client-key": str(cluster.folder / "admin.key"),
                },
            }
        ],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    file, more = cluster.folder / "kwok.kubeconfig", cluster.folder / "kwok.json"
    file.write_text(json.dumps(told))
    more.write_text(json.dumps(OPTIONS))
    words = [
        str(BIN / "kwok"),
        f"--config={STAGES}",
        f"--config={more}",
        f"--kubeconfig={file}",
        "--manage-all-nodes",
        f"--node-lease-duration-seconds={lease_seconds}",
        "-v=WARN",
    ]
    cluster.start("kwok", words, HOME=str(cluster.folder))


def open_to_work(cluster: Cluster) -> int:
    """Machines whose start-up taint the joining service has taken away, by its log: a list of all would be a load."""
    return cluster.log("service").count(" GPUs are there")


def heard(cluster: Cluster, path: str, seconds: float) -> tuple[int, int]:
    """Changes that one watch brings in that time, and their bytes as JSON."""
    context = ssl.create_default_context(cafile=str(cluster.pki / "ca.crt"))
    context.load_cert_chain(cluster.folder / "admin.crt", cluster.folder / "admin.key")
    line, changes, size = Line(cluster.ports["api"], context), 0, 0
    version = line.ask("GET", f"{path}?limit=1&resourceVersion=")["metadata"]["resourceVersion"]
    answer = line.send("GET", f"{path}?watch=true&resourceVersion={version}&timeoutSeconds={int(seconds)}")
    while text := answer.readline():
        changes, size = changes + 1, size + len(text)
    line.http.close()
    return changes, size


def resident_mib(pid: int) -> int:
    """Now."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) // 1024


def memory_mib(cluster: Cluster) -> dict[str, int]:
    return {name: resident_mib(one.pid) for name, one in cluster.running.items() if one.poll() is None}
