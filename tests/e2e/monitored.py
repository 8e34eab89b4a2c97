"""A whole cluster that measures itself, with somebody in it who hears every alarm."""

import ctypes
import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from components.addons.monitoring import targets
from components.control_plane.rings import RINGS
from components.pools import labels
from components.pools.spec import LAPTOPS
from fleet.monitoring import SECRET, SPACE
from landbridge.monitoring.alarms import ASK, REPLICAS
from local.workers.images import RUN_LABEL
from tests.components.pools.joining_client import eventually
from tests.support.cloud import COMMAND

from .queued import QUEUED, Queued

# One that hears everything, and one whose key nobody lays in.
RECEIVERS = """\
monitoring:
  receivers: {hook: {kind: webhook, watchdog: true}, nobody: {kind: slack}}
  logs: {}
  metrics_api: true
  keep_at_sites: true
"""
TIME_ERROR = 5
# What is on in quiet: that one receiver has no key, and that nobody sets the clock where nobody does. adjtimex(2).
QUIET = {"NotificationsFail"} | (
    {"ClockNotInSync"} if ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512)) == TIME_ERROR else set()
)
# Machines of each kind.
API, ETCD = 2, 3
HOST, HOOK, PORT = "host-2.lab", "hook", 8099
# Says what it is told, a line a message.
LISTENING = f"""\
import http.server, sys
class Said(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        sys.stdout.write(self.rfile.read(int(self.headers["Content-Length"])).decode() + "\\n")
        sys.stdout.flush()
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("", {PORT}), Said).serve_forever()
"""
Json = dict[str, Any]


@pytest.fixture(scope="module")
def measured(queued: Queued) -> Iterator[Queued]:
    queued.cloud.fleet.write_text(QUEUED + RECEIVERS)
    queued.cloud.run("up", "--local", "--yes", seconds=900)
    queued.make(listener())
    address = eventually(lambda: running(queued, HOOK), 120)
    literal = f"--from-literal={HOOK}=http://{address}:{PORT}/alarms"
    queued.kubectl("-n", SPACE, "create", "secret", "generic", SECRET, literal)
    yield queued
    queued.kubectl("-n", "team-lab", "delete", "pod", HOOK, "--now")
    queued.kubectl("-n", SPACE, "delete", "secret", SECRET, "--ignore-not-found")


def listener() -> Json:
    container = {"name": "main", "image": "registry.example.com/hook:1", "command": ["python3", "-c", LISTENING]}
    about = {"name": HOOK, "namespace": "team-lab", "labels": {RUN_LABEL: HOOK}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": {"nodeName": HOST, "containers": [container]}}


def running(queued: Queued, name: str) -> str:
    status = queued.get("-n", "team-lab", "pod", name)["status"]
    return str(status["podIP"]) if status["phase"] == "Running" else ""


def asked(queued: Queued, query: str, replica: str = REPLICAS[0]) -> list[Json]:
    found: list[Json] = json.loads(queued.kubectl("-n", SPACE, "exec", replica, "--", *ASK, query))
    return found


def answering(queued: Queued, replica: str) -> dict[str, int]:
    """Job → how many answer."""
    return {one["metric"]["job"]: int(one["value"][1]) for one in asked(queued, "sum by (job) (up)", replica)}


def nodes(queued: Queued) -> list[Json]:
    # Servers for laptops let nobody reach a pod of theirs. Machines that another file's runs had bought go meanwhile.
    return [one for one in queued.get("nodes", "-l", f"{labels.KIND}!={LAPTOPS}")["items"] if is_ready(one)]


def expected(queued: Queued) -> dict[str, int]:
    there = nodes(queued)
    gpus = [one for one in there if labels.GPU_PRESENT in one["metadata"]["labels"]]
    lab = [one for one in there if one["metadata"]["labels"][labels.PLACE] == "lab"]
    pairs = {one.job: 2 for one in targets.PODS}
    by_nodes = {"node-exporter": len(there), "log-collector": len(there), "gpu-exporter": len(gpus)}
    # Of the site its own pod asks, and home whether they answer.
    sites = {"site-metrics": 1, targets.REACH: len(lab)}
    machines = {
        "apiserver": API,
        "controllers": API,
        "scheduler": API,
        "etcd": ETCD * len(RINGS) * API,
        "machines": API + ETCD * API,
    }
    return {**pairs, **machines, "kube-state-metrics": 1, "fleet-metrics": 1, **by_nodes, **sites}


def is_ready(node: Json) -> bool:
    return ("Ready", "True") in {(one["type"], one["status"]) for one in node["status"]["conditions"]}


def alarms(queued: Queued) -> set[str]:
    found = json.loads(queued.cloud.run("alarms", "--local", "--json").stdout)["alarms"]
    return {one["name"] for one in found}


def heard(queued: Queued) -> list[Json]:
    said = queued.kubectl("-n", "team-lab", "logs", HOOK)
    return [alert for line in said.splitlines() if line for alert in json.loads(line)["alerts"]]


def ails(queued: Queued, *what: str) -> None:
    """The first GPU of a host: by the local cloud, which knows of no fleet."""
    command = [COMMAND, "local", "gpu", HOST, "0", *what]
    subprocess.run(command, env=queued.cloud._environment(), check=True, capture_output=True)


def names(queued: Queued, status: str) -> set[str]:
    return {one["labels"]["alertname"] for one in heard(queued) if one["status"] == status}
