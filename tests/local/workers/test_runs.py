"""Pods of runs on whole local machines: real programs, their logs by kubectl, and the names by which they meet."""

import json
import time
from datetime import datetime, timedelta
from typing import Any

import pytest

from local.workers import log_lines
from local.workers.images import RUNS_FOR
from tests.local.machines.host import Box
from tests.local.workers.machine_bed import (
    ADDRESSES,
    API,
    applied,
    asked,
    kubectl,
    leave,
    made,
    node,
    of_pods,
    part,
    proxies,
    ready,
    retried,
    status,
)
from tests.local.workers.real_pods import DEFAULT
from tests.local.workers.runs import MEETS, SEES, SERVICE, code, program, run_pod, share

NAMES = ["night-0.alone.default", "night-0.alone"]
CLOSED = "Read-only file system"


@pytest.fixture(scope="module")
def machine(box: Box) -> Box:
    assert box.ctl("start", "kubelet").code == 0
    retried(lambda: ready(box))
    # Once its port answers: its certificate comes a little later.
    retried(lambda: "certificate of" in box.log("kubelet.service") and port_open(box))
    return box


def port_open(box: Box) -> bool:
    return bool(box.host("import socket; socket.create_connection((a, 10250), 5).close(); result = 1", a=where(box)))


def where(box: Box) -> str:
    return ADDRESSES[box.name]


def reached(box: Box, name: str, phase: str) -> Any:
    return retried(lambda: (found := status(box, name)).get("phase") == phase and found)


def test_one_that_is_on_its_node_for_too_long_has_failed_whatever_it_ends_with(machine: Box) -> None:
    late = run_pod("late", node(machine), ["sh", "-c", "trap 'exit 0' TERM; sleep 300 & wait"], activeDeadlineSeconds=3)
    early = run_pod("early", node(machine), ["true"], activeDeadlineSeconds=300)
    made(machine, late, early)
    found = reached(machine, "late", "Failed")
    assert found["reason"] == "DeadlineExceeded"
    assert found["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
    assert "reason" not in reached(machine, "early", "Succeeded")


def test_its_containers_are_processes_in_the_machine_s_root_which_they_cannot_change(machine: Box) -> None:
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "code", "configMap": {"name": "train"}}]
    mounts = {"volumeMounts": [{"name": one["name"], "mountPath": f"/{one['name']}"} for one in volumes]}
    sees = ["python", "-c", SEES]
    told = {"volumes": volumes, "hostname": "night-0", "subdomain": "alone"}
    whole = run_pod("night-0-x7k2p", node(machine), sees, index=3, **told)
    whole["spec"]["initContainers"] = [program("first", sees, **mounts)]
    whole["spec"]["containers"] = [
        program("main", sees, workingDir="/code", **mounts),
        {**program("beside", sees, **mounts), "image": "localhost/other:2"},
    ]
    other = run_pod("other", node(machine), sees, volumes=[{"name": "code", "configMap": {"name": "tune"}}])
    other["spec"]["containers"][0] |= {"volumeMounts": [{"name": "code", "mountPath": "/code"}]}
    made(machine, code("train", "train.py"), code("tune", "tune.py"), whole, other)
    reached(machine, "night-0-x7k2p", "Succeeded")
    reached(machine, "other", "Succeeded")
    said = {}
    for name in ("first", "main", "beside"):
        said[name] = json.loads(kubectl(machine, "logs", "night-0-x7k2p", "-c", name).text)
        assert said[name]["environment"]["JOB_COMPLETION_INDEX"] == "3"
        assert said[name]["environment"]["HOME"] == "/tmp"
        assert said[name]["host"] == "night-0"
        machine_s, *own = (line.split() for line in said[name]["names"][2:])
        assert machine_s[0] == API, "how it reaches the cluster"
        full = "night-0.alone.default.svc.cluster.local"
        assert own == [[of_pods(machine), full, "night-0.alone.default.svc", *NAMES, "night-0"]]
        assert said[name]["code"] == ["train.py"]
        assert said[name]["writable"] == ["/tmp/x", "/dev/shm/x", "/data/x"]
        assert said[name]["refused"] == [CLOSED] * 6
        assert said[name]["found"] == [], "another container's"
    assert said["main"]["here"] == "/code"
    assert json.loads(kubectl(machine, "logs", "other").text)["code"] == ["tune.py"]
    # Where they were, an empty folder is left of them.
    made(machine, run_pod("later", node(machine), sees))
    reached(machine, "later", "Succeeded")
    assert json.loads(kubectl(machine, "logs", "later").text)["code"] == []
    assert "kwok" not in str(asked(machine, f"{DEFAULT}/pods/later")["metadata"]["managedFields"])
    leave(machine, "night-0-x7k2p", "other", "later")


def test_what_it_prints_is_there_while_it_runs_and_after(machine: Box) -> None:
    slow = ["sh", "-c", "echo one; echo two; sleep 4; echo three"]
    again = ["sh", "-c", "[ -e /data/x ] && { echo well; exec sleep 60; }; touch /data/x; echo ill; exit 4"]
    twice = run_pod("twice", node(machine), again, volumes=[{"name": "data", "emptyDir": {}}])
    twice["spec"]["containers"][0] |= {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    made(
        machine,
        run_pod("slow", node(machine), slow),
        twice | {"spec": twice["spec"] | {"restartPolicy": "OnFailure", "terminationGracePeriodSeconds": 0}},
    )
    reached(machine, "slow", "Running")
    shown = kubectl(machine, "logs", "-f", "slow")
    assert (shown.code, shown.text) == (0, "one\ntwo\nthree\n")
    assert shown.times[2] - shown.times[1] > 1, "each line when it is printed"
    reached(machine, "slow", "Succeeded")
    assert kubectl(machine, "logs", "slow", "--tail=1").text == "three\n"
    assert kubectl(machine, "logs", "-f", "slow", "--limit-bytes=6").text == "one\ntw"
    retried(lambda: kubectl(machine, "logs", "twice").text == "well\n")
    assert kubectl(machine, "logs", "twice", "--previous").text == "ill\n"
    stamped = [line.split(" ", 1) for line in kubectl(machine, "logs", "slow", "--timestamps").text.splitlines()]
    times = [datetime.fromisoformat(when) for when, _ in stamped]
    assert [text for _, text in stamped] == ["one", "two", "three"]
    assert timedelta(seconds=4) <= times[2] - times[1] < timedelta(seconds=60)
    between = (times[2] - timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert kubectl(machine, "logs", "slow", f"--since-time={between}").text == "three\n"
    shown = kubectl(machine, "logs", "slow", "--previous")
    assert (shown.code, 'previous terminated container "main" in pod "slow" not found' in shown.text) == (1, True)
    leave(machine, "slow", "twice")


def test_a_crowd_is_played_and_has_no_output(machine: Box) -> None:
    crowd = run_pod("crowd", node(machine), ["sh", "-c", "exit 1"])
    crowd["metadata"]["annotations"][RUNS_FOR] = "1h"
    made(machine, crowd)
    reached(machine, "crowd", "Running")
    shown = kubectl(machine, "logs", "crowd")
    assert "the pod default/crowd is only simulated on this machine" in shown.text
    assert "nothing answers" not in machine.log("kubelet.service")
    leave(machine, "crowd")


def test_it_ends_as_its_program_does_or_when_it_is_told_to(machine: Box) -> None:
    told = ["sh", "-c", "trap 'echo told; sleep 1; echo through; exit 0' TERM; echo up; while :; do sleep 0.1; done"]
    made(
        machine,
        run_pod("fails", node(machine), ["sh", "-c", "exit 3"]),
        run_pod("lacks", node(machine), ["no-such-program"]),
        run_pod("lacks-too", node(machine), ["/code/no-such-program"]),
        run_pod("long", node(machine), told),
    )
    assert part(reached(machine, "fails", "Failed"), "main")["state"]["terminated"]["exitCode"] == 3
    for name, program_name in (("lacks", "no-such-program"), ("lacks-too", "/code/no-such-program")):
        found = part(reached(machine, name, "Failed"), "main")
        state = found["state"]["terminated"]
        assert (state["exitCode"], state["reason"], found["restartCount"]) == (128, "StartError", 0)
        assert "o such file" in state["message"]
        assert f"'{program_name}'" in state["message"]
    retried(lambda: kubectl(machine, "logs", "long").text == "up\n")
    begun = time.monotonic()
    (folder,) = (machine.disk / "var/log/pods").glob("default_long_*")
    leave(machine, "long")
    assert time.monotonic() - begun < 9, "nobody waited for its 10 s"
    assert b"".join(log_lines.printed([(folder / "main/0.log").read_bytes()])) == b"up\ntold\nthrough\n"
    leave(machine, "fails", "lacks", "lacks-too")


def test_they_find_each_other_by_name(machine: Box, other_box: Box) -> None:
    retried(lambda: ready(other_box))
    short, full = "night-worker-0-0.night", "night-worker-0-0.night.default.svc.cluster.local"
    for index, (where_to, name) in enumerate(((machine, short), (other_box, full))):
        host = f"night-worker-0-{index}"
        words = ["python", "-u", "-c", MEETS, name]
        told = {"hostname": host, "subdomain": "night"}
        made(machine, run_pod(f"{host}-x7k2p", node(where_to), words, index, **told))
    made(machine, SERVICE)
    alone = "no pod of kube-system/kube-proxy is on this node"
    for one in (machine, other_box):
        retried(lambda one=one: alone in one.log("kubelet.service"))
    for name in ("night-worker-0-0-x7k2p", "night-worker-0-1-x7k2p"):
        reached(machine, name, "Running")
    # The machine's own names change beneath them, as when another machine comes.
    hosts = (other_box.disk / "etc/hosts").read_text()
    other_box.do("write_hosts", f"{hosts}10.129.0.99 other\n")
    proxies(machine, other_box)
    for index, heard in ((0, 1), (1, 0)):
        name = f"night-worker-0-{index}-x7k2p"
        reached(machine, name, "Succeeded")
        assert kubectl(machine, "logs", name).text == f"heard from {heard} at {of_pods(machine)}\n"
    assert other_box.log("kubelet.service").count(alone) == 1, "said once"
    lines = "".join(one.log("kubelet.service") for one in (machine, other_box)).splitlines()
    assert not [line for line in lines if "forbidden" in line and "endpointslices" in line]
    leave(machine, "night-worker-0-0-x7k2p", "night-worker-0-1-x7k2p")


def test_a_claim_is_one_folder_on_all_machines(machine: Box, other_box: Box) -> None:
    retried(lambda: ready(other_box))
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    mounts = [{"name": "data", "mountPath": "/data"}]
    writes = ["sh", "-c", "until [ -e /data/read ]; do echo weights > /data/model; sleep 0.2; done"]
    reads = ["sh", "-c", "until cat /data/model; do sleep 0.2; done; touch /data/read && touch /shut/no"]
    pods = {"writes": run_pod("writes", node(machine), writes, volumes=[claim])}
    shut = {"name": "shut", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}}
    pods["reads"] = run_pod("reads", node(other_box), reads, volumes=[claim, shut])
    for one in pods.values():
        one["spec"]["containers"][0]["volumeMounts"] = mounts
    pods["reads"]["spec"]["containers"][0]["volumeMounts"] = [*mounts, {"name": "shut", "mountPath": "/shut"}]
    made(machine, *pods.values())
    waits = "persistentvolumeclaim 'data' not found"
    for name in pods:
        retried(lambda name=name: waits in str(part(status(machine, name), "main")))
    applied(machine, *share())
    reached(machine, "writes", "Succeeded")
    reached(machine, "reads", "Failed")
    said = kubectl(machine, "logs", "reads").text.splitlines()
    assert said[-2:] == ["weights", f"touch: cannot touch '/shut/no': {CLOSED}"]
    assert (machine.host.folder / "shares/nfs/nfs.example.com/export/data/model").read_text() == "weights\n"
    leave(machine, *pods)


HEALTH = """
import ssl, http.client
def asked(pair):
    # Its certificate names the machine's address.
    context = ssl.create_default_context(cafile=authority)
    if pair:
        context.load_cert_chain(*pair)
    line = http.client.HTTPSConnection(address, 10250, timeout=30, context=context)
    line.request("GET", path)
    answer = line.getresponse()
    return [answer.status, answer.read().decode()]
result = [asked(pair) for pair in pairs]
"""


def test_its_port_asks_who_one_is_and_the_api_server_whether_one_may(machine: Box, other_box: Box) -> None:
    retried(lambda: ready(other_box))
    pki = machine.host("from tests.components.pools import joining_cluster as b; result = str(b.cluster.pki)")
    node_s = str(other_box.disk / "var/lib/kubelet/pki/kubelet-client-current.pem")
    pairs = [None, [node_s], [f"{pki}/kubelet-client.crt", f"{pki}/kubelet-client.key"]]
    told = machine.host(HEALTH, address=where(machine), authority=f"{pki}/ca.crt", path="/healthz", pairs=pairs)
    who = f"user=system:node:{node(other_box)}, verb=get, resource=nodes, subresource(s)=[healthz proxy]"
    assert told == [[401, "Unauthorized"], [403, f"Forbidden ({who})"], [200, "ok"]]
