"""Maintenance in a whole cluster: the service as the stack installs it, real nodes that are told, drained and back."""

import json
import re
import subprocess
from typing import Any

import pytest

from components.addons import maintenance
from fleet.maintenance import ANNOTATION, CONDITION, TAINT
from local import client
from local.workers.images import RUN_LABEL
from tests.components.pools.joining_client import eventually
from tests.support.cloud import COMMAND

from .queued import Queued
from .researcher import Researcher

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
HOST, OTHER = "host-2.lab", "host-1.lab"
OWN_LOOK = "/etc/landbridge/look.d/fan"
SPACE = "team-lab"
Json = dict[str, Any]


def run(queued: Queued, *words: str) -> Json:
    found: Json = json.loads(queued.cloud.run("maintenance", *words, "--local", "--json").stdout)
    return found


def announce(queued: Queued, *words: str) -> None:
    """By the cloud, which knows of no fleet."""
    command = [COMMAND, "local", "event", *words]
    done = subprocess.run(command, env=queued.cloud._environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def phases(queued: Queued, name: str) -> dict[str, str]:
    return {node: one["phase"] for node, one in run(queued, "show", name)["nodes"].items()}


def node(queued: Queued, name: str) -> Json:
    found: Json = queued.get("node", name)
    return found


def taint(queued: Queued, name: str) -> str | None:
    taints = node(queued, name)["spec"].get("taints") or []
    return next((str(one.get("value")) for one in taints if one["key"] == TAINT), None)


def condition(queued: Queued, name: str) -> str:
    told = {one["type"]: one["status"] for one in node(queued, name)["status"]["conditions"]}
    return str(told.get(CONDITION, ""))


def work(queued: Queued, name: str, on: str) -> None:
    """A pod that reads of what is planned, and runs for long."""
    script = 'while :; do echo "$(date +%s) $(cat /notice/maintenance)"; sleep 1; done'
    field = {"fieldPath": f"metadata.annotations['{ANNOTATION}']"}
    sources = [{"downwardAPI": {"items": [{"path": "maintenance", "fieldRef": field}]}}]
    queued.make(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": SPACE, "labels": {RUN_LABEL: name}},
            "spec": {
                "nodeName": on,
                "restartPolicy": "Never",
                "terminationGracePeriodSeconds": 5,
                "containers": [
                    {
                        "name": "main",
                        "image": "registry.example.com/train:1",
                        "command": ["sh", "-c", script],
                        "volumeMounts": [{"name": "notice", "mountPath": "/notice"}],
                    }
                ],
                "volumes": [{"name": "notice", "projected": {"sources": sources}}],
            },
        }
    )


def cause(queued: Queued, name: str) -> str:
    told = queued.cloud.run("why", name, "-n", SPACE, "--local", "--json", code=None).stdout
    return str(json.loads(told)["cause"]) if told else ""


def there(queued: Queued, name: str) -> bool:
    found = queued.get("-n", SPACE, "pods", "--field-selector", f"metadata.name={name}")["items"]
    return bool(found)


@pytest.fixture(scope="module")
def ready(queued: Queued) -> Queued:
    def both() -> bool:
        status = queued.get("-n", "kube-system", "deployment", maintenance.ADDON)["status"]
        return int(status.get("readyReplicas", 0)) == 2

    eventually(both, 300)
    return queued


def test_an_operator_s_plan_is_told_begun_done_and_the_host_takes_work_again(ready: Queued) -> None:
    work(ready, "train", HOST)
    eventually(lambda: ready.get("-n", SPACE, "pod", "train")["status"]["phase"] == "Running", 120)
    name = run(ready, "plan", "host-2", "--at", "3h", "--for", "1h", "--why", "new NIC", "--yes")["maintenance"]
    eventually(lambda: phases(ready, name) == {HOST: "told"}, 60)
    eventually(lambda: condition(ready, HOST) == "True", 60)
    told = ready.get("-n", SPACE, "pod", "train")["metadata"]["annotations"][ANNOTATION]
    assert json.loads(told)["why"] == "new NIC"
    # Kubelets bring a changed file within a minute or so.
    eventually(lambda: "new NIC" in ready.kubectl("-n", SPACE, "logs", "train", "--tail=1"), 120)
    assert "MaintenancePlanned" in ready.kubectl(
        "-n", SPACE, "get", "events", "--field-selector=involvedObject.name=train"
    )
    assert taint(ready, HOST) is None
    run(ready, "now", name, "--yes")
    eventually(lambda: phases(ready, name) == {HOST: "drained"}, 60)
    assert not there(ready, "train")
    assert (taint(ready, HOST), node(ready, HOST)["spec"].get("unschedulable")) == ("0m", True)
    # The recorder has seen it, and the audit log says who asked it to leave.
    eventually(lambda: cause(ready, "pod/train") == "maintenance", 300)
    shown = ready.cloud.run("maintenance", "show", name, "--local").stdout
    assert re.search(rf"{re.escape(HOST)}\s+drained", shown)
    run(ready, "done", name)
    eventually(lambda: phases(ready, name) == {HOST: "done"}, 180)
    eventually(lambda: taint(ready, HOST) is None and not node(ready, HOST)["spec"].get("unschedulable"), 60)
    assert condition(ready, HOST) == "False"


def system_machine(ready: Queued) -> Json:
    found = ready.get("nodes", "-l", "landbridge.dev/pool=system")["items"]
    chosen: Json = sorted(found, key=lambda one: str(one["metadata"]["name"]))[0]
    return chosen


def test_what_ec2_announces_is_planned_drained_done_and_over(ready: Queued) -> None:
    """A machine of the system pool: it is rebooted, and its replicas move to the other one or wait."""
    chosen = system_machine(ready)
    name, instance = chosen["metadata"]["name"], chosen["spec"]["providerID"].rpartition("/")[2]
    announce(ready, instance, "system-reboot", "--in", "60s", "--for", "10s")

    def planned() -> Json | None:
        found = run(ready)["maintenances"]
        return next((one for one in found if one["source"] == "ec2-event"), None)

    plan = eventually(planned, 60)
    assert plan["target"] == {"kind": "node", "name": name}
    eventually(lambda: taint(ready, name) == "0m", 60)
    # The service may be on that very machine: its other replica goes on from what stands there.
    eventually(lambda: phases(ready, plan["id"]).get(name) == "done", 400)
    eventually(lambda: taint(ready, name) is None and not node(ready, name)["spec"].get("unschedulable"), 60)


def test_what_is_taken_back_is_called_off(ready: Queued) -> None:
    chosen = system_machine(ready)
    name, instance = chosen["metadata"]["name"], chosen["spec"]["providerID"].rpartition("/")[2]
    announce(ready, instance, "instance-retirement", "--in", "3h")
    eventually(lambda: condition(ready, name) == "True", 60)
    announce(ready, instance, "--withdraw")
    eventually(lambda: condition(ready, name) == "False", 60)
    assert taint(ready, name) is None


def test_while_its_leader_is_killed_a_plan_goes_on(ready: Queued) -> None:
    name = run(ready, "plan", "host-2", "--at", "2h", "--why", "disk", "--yes")["maintenance"]
    eventually(lambda: phases(ready, name) == {HOST: "told"}, 60)
    lease = ready.get("-n", "kube-system", "lease", maintenance.LEASE)["spec"]["holderIdentity"]
    ready.kubectl("-n", "kube-system", "delete", "pod", lease, "--grace-period=0", "--force")
    run(ready, "now", name, "--yes")
    eventually(lambda: phases(ready, name) == {HOST: "drained"}, 120)
    run(ready, "cancel", name)
    eventually(lambda: taint(ready, HOST) is None, 60)
    eventually(lambda: condition(ready, HOST) == "False", 60)


def on_machine(queued: Queued, node_name: str, script: str) -> None:
    up = client.status(queued.cloud.home / "local")
    assert up
    command = client.machine_command(up, node_name, ["sh", "-c", script])
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def test_a_run_begins_elsewhere_when_a_look_at_its_host_finds_something(
    ready: Queued, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ann = Researcher(ready.cloud, "ann", tmp_path_factory.mktemp("ann"))
    folder = ann.home / "where"
    folder.mkdir()
    (folder / "where.sh").write_text("echo attempt $RUN_ATTEMPT begins\n")
    script = "#!/bin/sh\\necho fan 3 stands still\\nexit 1\\n"
    on_machine(ready, HOST, f"mkdir -p $(dirname {OWN_LOOK}); printf '{script}' > {OWN_LOOK}; chmod +x {OWN_LOOK}")
    ready.kubectl("cordon", OTHER)
    try:
        words = ("--gpus", "1", "--name", "where", "--detach", "--", "sh", "where.sh")
        ann.run("run", "--folder", str(folder), *words)
        eventually(lambda: taint(ready, HOST) == "0m", 180)
    finally:
        ready.kubectl("uncordon", OTHER)
    (found,) = (one for one in run(ready)["maintenances"] if one["source"] == "host-finding")
    assert found["why"] == "fan: fan 3 stands still"
    done = ann.run("logs", "where", "-f").stdout
    assert re.search(r"attempt [1-9]\d* begins", done)
    assert "attempt 0 begins" not in done
    (pod,) = ready.get("-n", SPACE, "pods", "-l", "landbridge.dev/run=where")["items"]
    assert (pod["spec"]["nodeName"], pod["status"]["phase"]) == (OTHER, "Succeeded")
    (shown,) = (one for one in ann.report("runs")["runs"] if one["name"] == "where")
    assert (shown["phase"], shown["restarts"]) == ("done", 0), "that is no failure of the run's"
    on_machine(ready, HOST, f"rm {OWN_LOOK}")
    eventually(lambda: taint(ready, HOST) is None and not node(ready, HOST)["spec"].get("unschedulable"), 120)


def test_a_program_that_handles_the_signal_gets_it_in_the_last_hour(
    ready: Queued, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What is planned is written by hand: the service would wait for the last hour."""
    ann = Researcher(ready.cloud, "ann", tmp_path_factory.mktemp("ann"))
    folder = ann.home / "saves"
    folder.mkdir()
    (folder / "saves.py").write_text(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGUSR1, lambda *_: sys.exit(print('checkpoint', flush=True)))\n"
        "print('begun', flush=True)\ntime.sleep(600)\n"
    )
    words = ("--gpus", "1", "--name", "saves", "--checkpoint-signal", "USR1", "--detach", "--", "python3", "saves.py")
    ann.run("run", "--folder", str(folder), *words)
    eventually(lambda: "begun" in ann.run("logs", "saves", code=None).stdout, 180)
    (pod,) = ready.get("-n", SPACE, "pods", "-l", "landbridge.dev/run=saves")["items"]
    plan = json.dumps({"left": "30m", "maintenance": "lab", "start": "2026-11-30T22:00:00Z"}, sort_keys=True)
    ready.kubectl("-n", SPACE, "annotate", "pod", pod["metadata"]["name"], f"{ANNOTATION}={plan}")
    done = ann.run("logs", "saves", "-f").stdout
    told = "landbridge: USR1 to 1 processes: lab begins 2026-11-30T22:00:00Z"
    assert sorted(done.splitlines()[-2:]) == ["checkpoint", told], "and that was its end"
