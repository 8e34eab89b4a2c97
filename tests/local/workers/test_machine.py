"""A whole local machine boots a pool's bundle, unchanged, and is a node: here a site's host, by its enrolment's token."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from local.workers.played import faults
from tests.local.machines.host import Box
from tests.local.workers import real_pods
from tests.local.workers.machine_bed import (
    ADDRESSES,
    asked,
    conditions,
    gone,
    made,
    of_pods,
    output,
    part,
    ready,
    retried,
    status,
)
from tests.local.workers.real_pods import DEFAULT, container, pod

NODE, ADDRESS = "host-2.lab", ADDRESSES["host-2"]


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


def reviewed(box: Box, token: str, *audiences: str) -> Any:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview"}
    path = "/apis/authentication.k8s.io/v1/tokenreviews"
    return asked(box, path, "POST", {**review, "spec": {"token": token, "audiences": list(audiences)}})["status"]


@pytest.fixture(scope="module")
def whole(box: Box) -> Any:
    """A pod that runs really, beside one that is played."""
    assert box.ctl("start", "kubelet").code == 0
    retried(lambda: ready(box))
    played = pod("played", NODE, {"name": "main", "image": "registry.example.com/main:1"})
    made(box, real_pods.CONFIG, real_pods.SECRET, played, real_pods.whole(NODE))
    retried(lambda: conditions(status(box, "whole")).get("Ready") == "True")
    return asked(box, f"{DEFAULT}/pods/whole")


def test_a_pod_of_a_known_image_is_processes_and_one_beside_it_is_played(box: Box, whole: Any) -> None:
    told = whole["status"]
    assert told["phase"] == "Running"
    assert (told["podIP"], told["hostIP"]) == (of_pods(box), ADDRESS)
    assert set(conditions(told).values()) == {"True"}
    assert part(told, "before")["state"]["terminated"]["reason"] == "Completed"
    assert part(told, "beside")["started"]
    assert "kwok" not in [one["manager"] for one in whole["metadata"]["managedFields"]]
    said = json.loads(retried(lambda: output(box, "whole", "main").partition("\n")[0]))
    up = float(output(box, "whole", "beside").split()[1])
    assert said["begun"] > up, "it was begun when the one beside was up"
    assert said["shared"] == "by the first"
    assert (said["colour"], said["data"]) == ("blue", "..data/colour")
    assert said["arguments"] == ["blue"]
    given = said["environment"]
    assert (given["POD"], given["HOST_IP"], given["COLOUR"], given["WORD"]) == ("whole", ADDRESS, "blue", "sesame")
    assert given["BOTH"] == "whole-blue-$(PATH)-$(POD)"
    assert not {"NONE", "INVOCATION_ID", "NOTIFY_SOCKET"} & set(given)
    assert given["KUBERNETES_SERVICE_PORT"] == "6443"
    account = "system:serviceaccount:default:default"
    assert reviewed(box, said["token"])["user"]["username"] == account
    assert reviewed(box, said["team"], "example.com")["user"]["extra"]["authentication.kubernetes.io/pod-name"] == [
        "whole"
    ]
    assert not reviewed(box, said["team"]).get("authenticated"), "another audience"
    assert "BEGIN CERTIFICATE" in said["authority"]
    mapped = (
        len(Path("/proc/self/uid_map").read_text().split()) and box.sh("cat /proc/self/uid_map").out.split()[2] != "1"
    )
    assert said["host"] == said["environment"]["HOSTNAME"] == "whole", "not the machine's, which others share"
    assert said["who"] == ([1, 65534, 0, [0, 65534]] if mapped else [1, 0, 0, []])
    assert said["refused"] == ["Read-only file system"] * 3
    assert said["shared memory"] is None
    assert status(box, "played")["phase"] == "Running"
    assert not list((box.disk / "var/log/pods").glob("default_played_*"))


def test_what_crashes_or_is_ill_is_started_again(box: Box, whole: Any) -> None:
    from_log = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    ill = {"exec": {"command": ["python3", "-c", "import sys; sys.exit(1)"]}, "periodSeconds": 1, "failureThreshold": 1}
    deaf = "import time\nwhile True: time.sleep(1)"
    crash = pod(
        "crash",
        NODE,
        container("crashes", "import sys; print('no luck'); sys.exit(3)", **from_log),
        container("ill", deaf, livenessProbe={**ill, "timeoutSeconds": 20}),
        container("unready", deaf, readinessProbe={"tcpSocket": {"port": 18088}, "periodSeconds": 1}),
        terminationGracePeriodSeconds=1,
    )
    made(box, crash)
    found = retried(lambda: (p := part(told := status(box, "crash"), "crashes")) and p["restartCount"] >= 2 and told)
    crashes = part(found, "crashes")
    assert crashes["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert re.match("back-off [12]0s restarting", crashes["state"]["waiting"]["message"])
    last = crashes["lastState"]["terminated"]
    assert (last["exitCode"], last["reason"], last["message"]) == (3, "Error", "no luck")
    assert output(box, "crash", "crashes", crashes["restartCount"] - 1) == "no luck\n"
    killed = retried(lambda: (p := part(status(box, "crash"), "ill"))["restartCount"] and p)
    # A process 1 without a handler does not hear SIGTERM, in a container as here.
    assert killed["lastState"]["terminated"]["exitCode"] == 137
    assert conditions(status(box, "crash"))["Ready"] == "False"
    assert not part(status(box, "crash"), "unready")["ready"]
    asked(box, f"{DEFAULT}/pods/crash", "DELETE")
    retried(lambda: gone(box, "crash"))


def test_a_pod_that_is_through_is_done_with_all_that_ran_beside_it(box: Box, whole: Any) -> None:
    deaf = "import time\nwhile True: time.sleep(1)"
    beside = container("beside", deaf, restartPolicy="Always")
    brief = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "automountServiceAccountToken": False}
    works = pod("works", NODE, container("main", "pass"), initContainers=[beside], **brief)
    fails = pod("fails", NODE, container("main", "pass"), initContainers=[beside, container("first", "1 / 0")], **brief)
    made(box, works, fails)
    for name, phase, reason in (("works", "Succeeded", "PodCompleted"), ("fails", "Failed", "PodFailed")):
        told = retried(lambda name=name, phase=phase: (s := status(box, name))["phase"] == phase and s)
        assert part(told, "beside")["state"]["terminated"]["exitCode"] == 137
        assert [one["reason"] for one in told["conditions"] if one["type"] == "Ready"] == [reason]
    assert part(told, "main")["state"]["waiting"]["reason"] == "PodInitializing"
    ended = part(told, "first")["state"]["terminated"]
    assert (ended["exitCode"], "message" in ended) == (1, False), "logs are not for all who see a status"
    assert "ZeroDivisionError" in output(box, "fails", "first")
    for name in ("works", "fails"):
        asked(box, f"{DEFAULT}/pods/{name}", "DELETE")
        retried(lambda name=name: gone(box, name))


def test_what_is_not_honoured_is_said_and_so_is_a_program_that_is_not_there(box: Box, whole: Any) -> None:
    disk = [{"name": "disk", "hostPath": {"path": "/dev/null", "type": "CharDevice"}}]
    odd = pod(
        "odd", NODE, container("main", "print(1)", lifecycle={"preStop": {"sleep": {"seconds": 1}}}), volumes=disk
    )
    scaler = {
        "name": "main",
        "image": "registry.k8s.io/autoscaling/cluster-autoscaler:v1.36.1",
        "imagePullPolicy": "Never",
        "command": ["./cluster-autoscaler", "--v=1"],
    }
    made(box, odd, pod("scaler", NODE, scaler))
    waits = {}
    for name in ("odd", "scaler"):
        told = retried(
            lambda name=name: (s := status(box, name)).get("conditions") and s.get("containerStatuses") and s
        )
        assert told["phase"] == "Pending"
        assert conditions(told)["Ready"] == "False"
        waits[name] = part(told, "main")["state"]["waiting"]
    assert waits["odd"]["reason"] == "CreateContainerConfigError"
    assert "spec.volumes[disk].hostPath.type: 'CharDevice' is not honoured" in waits["odd"]["message"]
    assert "spec.containers[main].lifecycle is not honoured" in waits["odd"]["message"]
    assert waits["scaler"]["reason"] == "ErrImageNeverPull"
    assert "the program cluster-autoscaler is not on this machine: `make setup` builds it" in waits["scaler"]["message"]
    assert "pod default/odd: refused: spec.volumes[disk]" in box.log("kubelet.service")
    for name in ("odd", "scaler"):
        asked(box, f"{DEFAULT}/pods/{name}", "DELETE")
        retried(lambda name=name: gone(box, name))


def test_a_pod_waits_for_its_config_maps(box: Box, whole: Any) -> None:
    late = {"name": "late", "configMap": {"name": "late"}}
    word = {"name": "WORD", "valueFrom": {"configMapKeyRef": {"name": "later", "key": "word"}}}
    mount = {"name": "late", "mountPath": "/run/late"}
    code = "import os; print(os.environ['WORD'], open('/run/late/word').read())"
    made(
        box,
        pod(
            "early",
            NODE,
            container("main", code, env=[word], volumeMounts=[mount]),
            volumes=[late],
            restartPolicy="Never",
        ),
    )
    for name, reason in (("late", "ContainerCreating"), ("later", "CreateContainerConfigError")):
        said = f"configmap '{name}' not found"
        found = retried(lambda said=said: (p := part(status(box, "early"), "main")) and said in str(p["state"]) and p)
        assert found["state"]["waiting"]["reason"] == reason
        made(box, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"word": name}})
    retried(lambda: status(box, "early")["phase"] == "Succeeded")
    assert output(box, "early", "main") == "later late\n"
    asked(box, f"{DEFAULT}/pods/early", "DELETE")
    retried(lambda: gone(box, "early"))


def test_a_kubelet_that_is_killed_takes_them_along_and_its_successor_starts_them_again(box: Box, whole: Any) -> None:
    # As one that began before the machine's network of pods was up.
    before = {"podIP": ADDRESS, "podIPs": [{"$patch": "replace"}, {"ip": ADDRESS}]}
    patch = "application/strategic-merge-patch+json"
    assert asked(box, f"{DEFAULT}/pods/whole/status", "PATCH", {"status": before}, patch)["status"]["podIP"] == ADDRESS
    device = box.sh("ip -brief link show flannel.1").out
    assert box.sh("pkill -9 -f bin.k[u]belet").code == 0
    told = retried(lambda: (s := status(box, "whole")) and part(s, "main")["restartCount"] == 1 and s)
    retried(lambda: conditions(status(box, "whole"))["Ready"] == "True")
    assert part(told, "main")["lastState"]["terminated"]["exitCode"] == 137
    assert status(box, "whole")["podIPs"] == [{"ip": of_pods(box)}]
    assert box.sh("ip -brief link show flannel.1").out == device
    assert box.sh("pgrep -fc 'import boto3, local.workers.imag[e]s'").out == "1\n", "and no one twice"


def test_a_pod_that_is_deleted_ends_in_order_and_in_its_own_time(box: Box, whole: Any) -> None:
    run = part(status(box, "whole"), "main")["restartCount"]
    # A process 1 hears SIGTERM once it has a handler for it.
    retried(lambda: "shared memory" in output(box, "whole", "main", run))
    begun = time.monotonic()
    asked(box, f"{DEFAULT}/pods/whole", "DELETE")
    retried(lambda: gone(box, "whole"))
    assert time.monotonic() - begun < 25, "nobody waited for its 30 s"
    ended = float(re.search(r"ended ([\d.]+)", output(box, "whole", "main", run))[1])
    asked_to = float(re.search(r"asked to end ([\d.]+)", output(box, "whole", "beside", run))[1])
    assert ended <= asked_to, "the one beside ends last"
    uid = whole["metadata"]["uid"]
    # As a kubelet does, which tidies up after its pod has gone.
    retried(lambda: not (box.disk / "var/lib/kubelet/pods" / uid).exists())
    assert uid not in box.sh("cat /proc/mounts").out


def test_the_exporter_of_gpu_metrics_reads_the_gpus_that_the_machine_plays(box: Box, whole: Any) -> None:
    words = ["python3", "-m", "services.gpu_metrics", "--listen=:19400"]
    exporter = {**container("exporter", ""), "command": words}
    busy = container("busy", "import time; time.sleep(600)", resources={"limits": {"nvidia.com/gpu": "1"}})
    made(box, pod("gpu-metrics", NODE, exporter, terminationGracePeriodSeconds=1))
    made(box, pod("at-work", NODE, busy, terminationGracePeriodSeconds=1))
    fetch = (
        "python3 -c 'import urllib.request as r; print(r.urlopen(\"http://127.0.0.1:19400/metrics\").read().decode())'"
    )

    def told(line: str) -> str:
        found = re.search(rf"^{line}.*$", box.sh(fetch).out, re.MULTILINE)
        return found[0].rpartition(" ")[2] if found else ""

    retried(lambda: told('DCGM_FI_DEV_GPU_UTIL{gpu="0"') == "100")
    assert told('DCGM_FI_DEV_GPU_UTIL{gpu="1"') == "0"
    faults.change(box.disk, 7, {"lost": True, "xids": [79]})
    retried(lambda: told('DCGM_FI_DEV_XID_ERRORS{gpu="7"') == "79")
    assert (told("landbridge_gpu_exporter_gpus"), told("landbridge_gpu_exporter_failing_gpus")) == ("8.0", "1.0")
    for name in ("gpu-metrics", "at-work"):
        asked(box, f"{DEFAULT}/pods/{name}", "DELETE")
        retried(lambda name=name: gone(box, name))
