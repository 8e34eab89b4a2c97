"""Monitoring in a whole cluster: upstream's programs as the stack installs them, on real nodes, and who is told."""

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from components.addons.monitoring import gpu_metrics, targets
from components.control_plane.rings import RINGS
from components.pools import labels
from components.pools.spec import LAPTOPS
from fleet.monitoring import SECRET, SPACE
from landbridge.monitoring.alarms import ASK, REPLICAS
from local.workers.images import RUN_LABEL
from tests.components.pools.joining_client import eventually
from tests.support import quiet_day
from tests.support.cloud import COMMAND

from .queued import QUEUED, Queued

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
# One that hears everything, and one whose key nobody lays in.
RECEIVERS = "monitoring: {receivers: {hook: {kind: webhook, watchdog: true}, nobody: {kind: slack}}}\n"
# Machines of each kind.
API, ETCD = 2, 3
BACK_SECONDS = 120
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
def measured(queued: Queued) -> Queued:
    queued.cloud.fleet.write_text(QUEUED + RECEIVERS)
    queued.cloud.run("up", "--local", "--yes", seconds=900)
    queued.make(listener())
    address = eventually(lambda: running(queued, HOOK), 120)
    literal = f"--from-literal={HOOK}=http://{address}:{PORT}/alarms"
    queued.kubectl("-n", SPACE, "create", "secret", "generic", SECRET, literal)
    return queued


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


def expected(queued: Queued) -> dict[str, int]:
    # Servers for laptops let nobody reach a pod of theirs. Machines that another file's runs had bought go meanwhile.
    nodes = [one for one in queued.get("nodes", "-l", f"{labels.KIND}!={LAPTOPS}")["items"] if is_ready(one)]
    gpus = [one for one in nodes if labels.GPU_PRESENT in one["metadata"]["labels"]]
    pairs = {one.job: 2 for one in targets.PODS}
    by_nodes = {"node-exporter": len(nodes), "gpu-exporter": len(gpus)}
    machines = {"apiserver": API, "controllers": API, "scheduler": API, "etcd": ETCD * len(RINGS) * API}
    return {**pairs, **machines, "kube-state-metrics": 1, **by_nodes}


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


def test_each_of_the_two_asks_all_that_measures_in_every_place(measured: Queued) -> None:
    """Across the links, too."""
    for replica in REPLICAS:
        eventually(lambda replica=replica: answering(measured, replica) == expected(measured), 300)


def test_in_quiet_no_alarm_is_on_but_that_of_who_can_t_be_told(measured: Queued) -> None:
    eventually(lambda: "Watchdog" in names(measured, "firing"), 180)
    assert alarms(measured) <= {"NotificationsFail"}


def test_a_day_of_such_quiet_has_no_alarm_either(measured: Queued, tmp_path: Path) -> None:
    before = quiet_day.read(asked(measured, quiet_day.query(BACK_SECONDS)))
    after, now = quiet_day.read(asked(measured, quiet_day.query())), time.time()
    assert len(after) > 1000
    assert quiet_day.fired(tmp_path, now, BACK_SECONDS, after, before) <= {"NotificationsFail"}


def test_the_two_alertmanagers_know_each_other_and_tell_once(measured: Queued) -> None:
    (found,) = asked(measured, "min(alertmanager_cluster_members)")
    assert found["value"][1] == "2"


def test_what_is_wrong_with_a_host_s_gpu_reaches_people_and_its_end_too(measured: Queued) -> None:
    ails(measured, "--xid", "79")
    eventually(lambda: "GPUXid" in names(measured, "firing"), 300)
    (told,) = [one for one in heard(measured) if one["labels"]["alertname"] == "GPUXid"][:1]
    assert (told["labels"]["node"], told["labels"]["place"]) == (HOST, "lab")
    assert re.match(rf"Node {HOST} of lab: 1 of its GPUs", told["annotations"]["summary"])
    assert "GPUXid" in measured.cloud.run("alarms", "--local").stdout
    ails(measured, "--well")
    # An exporter tells the last Xid for as long as it runs: who resets a machine starts it anew.
    pods = f"app.kubernetes.io/name={gpu_metrics.ADDON}"
    measured.kubectl("-n", SPACE, "delete", "pod", "-l", pods, f"--field-selector=spec.nodeName={HOST}")
    eventually(lambda: "GPUXid" in names(measured, "resolved"), 600)


def test_while_one_of_the_two_is_away_the_other_sees(measured: Queued) -> None:
    measured.kubectl("-n", SPACE, "delete", "pod", REPLICAS[0], "--grace-period=0", "--force")
    assert asked(measured, "count(up == 1)", REPLICAS[1])
    assert alarms(measured) <= {"NotificationsFail"}
    eventually(lambda: answering(measured, REPLICAS[0]) == expected(measured), 300)


def test_it_goes_again_and_leaves_nothing(measured: Queued) -> None:
    measured.cloud.fleet.write_text(QUEUED)
    measured.cloud.run("up", "--local", "--yes", seconds=900)
    spaces = [one["metadata"]["name"] for one in measured.get("namespaces")["items"]]
    assert SPACE not in spaces
    said = measured.cloud.run("alarms", "--local", code=1).stderr
    assert "This cluster has no monitoring" in said
