"""Monitoring in a whole cluster: upstream's programs as the stack installs them, on real nodes, and who is told."""

import re
import time
from pathlib import Path

import pytest

from components.addons.monitoring import gpu_metrics
from fleet.monitoring import SPACE
from landbridge.monitoring.alarms import REPLICAS
from local.workers.images import RUN_LABEL
from tests.components.pools.joining_client import eventually
from tests.support import quiet_day

from .monitored import HOST, QUIET, ails, alarms, answering, asked, expected, heard, names, nodes
from .queued import QUEUED, Queued
from .standing import kubectl

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
# A recorder writes each ten minutes where nothing happens: what stands still in less is not for ever so.
BACK_SECONDS = 660


def test_each_of_the_two_asks_all_that_measures_in_every_place(measured: Queued) -> None:
    """Across the links, too."""
    for replica in REPLICAS:
        eventually(lambda replica=replica: answering(measured, replica) == expected(measured), 300)


def test_what_a_pod_has_printed_is_found_when_it_is_gone(measured: Queued) -> None:
    """Both have it, by the very files that the machine's kubelet writes."""
    container = {"name": "run", "image": "registry.example.com/says:1", "command": ["sh", "-c", "echo its last words"]}
    about = {"name": "says", "namespace": "team-lab", "labels": {RUN_LABEL: "says"}}
    spec = {"nodeName": HOST, "restartPolicy": "Never", "containers": [container]}
    measured.make({"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec})
    eventually(lambda: measured.get("-n", "team-lab", "pod", "says")["status"]["phase"] == "Succeeded", 120)
    measured.kubectl("-n", "team-lab", "delete", "pod", "says")

    def told() -> str:
        return str(measured.cloud.run("logs", "--node", HOST, "--since", "1h", "--local").stdout)

    eventually(lambda: " team-lab/says run: its last words" in told(), 120)
    assert told().count("its last words") == 1


def test_in_quiet_no_alarm_is_on_but_that_of_who_can_t_be_told(measured: Queued) -> None:
    eventually(lambda: "Watchdog" in names(measured, "firing"), 180)
    assert alarms(measured) <= QUIET


@pytest.mark.matrix  # promtool needs minutes for that day
def test_a_day_of_such_quiet_has_no_alarm_either(measured: Queued, tmp_path: Path) -> None:
    # A young world has no snapshot yet, and what began with it is not to be told of for a day.
    measured.cloud.run("etcd", "backup", "--local")
    late = f"max_over_time(ALERTS[{BACK_SECONDS}s])"
    eventually(lambda: {one["metric"]["alertname"] for one in asked(measured, late)} <= {"Watchdog", *QUIET}, 1500)
    before = quiet_day.read(asked(measured, quiet_day.query(BACK_SECONDS)))
    after, now = quiet_day.read(asked(measured, quiet_day.query())), time.time()
    assert len(after) > 1000
    assert quiet_day.fired(tmp_path, now, BACK_SECONDS, after, before) <= QUIET


def test_the_two_alertmanagers_know_each_other_and_tell_once(measured: Queued) -> None:
    (found,) = asked(measured, "min(alertmanager_cluster_members)")
    assert found["value"][1] == "2"


def test_kubectl_top_tells_what_nodes_in_every_place_use_and_what_runs_there(measured: Queued) -> None:
    def told(*words: str) -> set[str]:
        # It fails as long as there is nothing to tell.
        text = kubectl(measured.cloud, *measured.which, "top", *words, "--no-headers", code=None)
        return {row[0] for line in text.splitlines() if (row := line.split()) and "<unknown>" not in row}

    def names_of_nodes() -> set[str]:
        return {one["metadata"]["name"] for one in nodes(measured)}

    eventually(lambda: names_of_nodes() <= told("nodes"), 300)
    eventually(lambda: {*REPLICAS} <= told("pods", "-n", SPACE), 120)


@pytest.mark.matrix  # the controller looks each 15 s, and at pods that have run for a while
def test_a_deployment_that_is_busy_gets_more_pods(measured: Queued) -> None:
    burns = ["sh", "-c", "while :; do for i in $(seq 3000); do :; done; sleep 0.1; done"]
    container = {"name": "burns", "image": "registry.example.com/burns:1", "resources": {"requests": {"cpu": "5m"}}}
    pod = {
        "metadata": {"labels": {RUN_LABEL: "burns"}},
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": HOST},
            "tolerations": [{"operator": "Exists"}],
            "containers": [{**container, "command": burns}],
        },
    }
    about = {"name": "burns", "namespace": "team-lab"}
    chosen = {"selector": {"matchLabels": {RUN_LABEL: "burns"}}, "template": pod}
    measured.make({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": about, "spec": chosen})
    of = ("-n", "team-lab")
    measured.kubectl(*of, "autoscale", "deployment", "burns", "--cpu=50%", "--min=1", "--max=2")

    def wanted() -> int:
        return int(measured.get(*of, "deployment", "burns")["spec"]["replicas"])

    try:
        eventually(lambda: wanted() == 2, 300)
        scaled = measured.get(*of, "horizontalpodautoscaler", "burns")["status"]
        assert scaled["currentMetrics"][0]["resource"]["current"]["averageUtilization"] > 50
    finally:
        measured.kubectl(*of, "delete", "horizontalpodautoscaler,deployment", "burns")


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
    assert alarms(measured) <= QUIET
    eventually(lambda: answering(measured, REPLICAS[0]) == expected(measured), 300)


def test_it_goes_again_and_leaves_nothing(measured: Queued) -> None:
    measured.cloud.fleet.write_text(QUEUED)
    measured.cloud.run("up", "--local", "--yes", seconds=900)
    spaces = [one["metadata"]["name"] for one in measured.get("namespaces")["items"]]
    assert SPACE not in spaces
    said = measured.cloud.run("alarms", "--local", code=1).stderr
    assert "This cluster has no monitoring" in said
