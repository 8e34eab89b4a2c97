"""What objects, events and audit entries show: as Kubernetes 1.36, JobSet and Kueue write them."""

import json
from typing import Any

import pytest

from evidence import audit, pods
from evidence.events import of_event
from evidence.judge import judge
from evidence.nodes import of_node
from evidence.observation import Observation
from evidence.pods import of_pod
from evidence.works import of_work
from fleet import maintenance
from services.maintenance import marks

AT, LATER = "2026-11-28T10:00:00Z", "2026-11-28T10:00:30Z"
SECONDS = 1795860000.0


def pod(status: dict[str, Any], **meta: Any) -> dict[str, Any]:
    known = {"namespace": "team-a", "name": "train-0", "uid": "u1", "creationTimestamp": AT}
    return {"metadata": {**known, **meta}, "spec": {"nodeName": "gpu-1"}, "status": {"startTime": AT, **status}}


def container(**state: Any) -> dict[str, Any]:
    return {"name": "run", "image": "registry.example.com/a:1", "restartCount": 0, "state": state}


def ended(code: int, reason: str = "Error", **more: Any) -> dict[str, Any]:
    return {"exitCode": code, "reason": reason, "startedAt": AT, "finishedAt": LATER, **more}


def terminated(code: int, reason: str = "Error", **more: Any) -> dict[str, Any]:
    return pod({"phase": "Failed", "containerStatuses": [container(terminated=ended(code, reason, **more))]})


def waiting(reason: str, message: str) -> dict[str, Any]:
    return pod({"phase": "Pending", "containerStatuses": [container(waiting={"reason": reason, "message": message})]})


def failed(reason: str, message: str) -> dict[str, Any]:
    return pod({"phase": "Failed", "reason": reason, "message": message})


def disrupted(reason: str) -> dict[str, Any]:
    told = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "m", "lastTransitionTime": AT}
    return pod({"phase": "Running", "conditions": [told]})


LOW = "The node was low on resource: {}. Threshold quantity: 100Mi, available: 40Mi. "
PODS = {
    "own exit code": (terminated(3), "exited", "exit code 3"),
    "segmentation fault": (terminated(139), "exited", "(SIGSEGV)"),
    "SIGKILL": (terminated(137), "signalled", "(SIGKILL)"),
    "memory": (terminated(137, "OOMKilled"), "oom-of-container", "Container run"),
    "kubelet gone": (terminated(137, "ContainerStatusUnknown"), "lost-with-kubelet", ""),
    "no such program": (
        terminated(128, "StartError", message="exec: not found"),
        "container-refused",
        "exec: not found",
    ),
    "all is well": (
        pod({"phase": "Succeeded", "containerStatuses": [container(terminated=ended(0, "Completed"))]}),
        "done",
        "",
    ),
    "init": (
        pod({"phase": "Failed", "initContainerStatuses": [container(terminated=ended(75))]}),
        "init-failed",
        "exit code 75",
    ),
    "unfit host": (
        pod(
            {"phase": "Failed", "initContainerStatuses": [{**container(terminated=ended(75)), "name": pods.FIRST}]},
            labels={pods.RUN: "train"},
        ),
        "host-unfit",
        "",
    ),
    "node's memory": (failed("Evicted", LOW.format("memory")), "evicted-memory", "available: 40Mi"),
    "node's disk": (failed("Evicted", LOW.format("ephemeral-storage")), "evicted-disk", ""),
    "node's inodes": (failed("Evicted", "The node had condition: [DiskPressure]. "), "evicted-disk", ""),
    "node's pids": (failed("Evicted", LOW.format("pids")), "evicted-pids", ""),
    "own disk": (
        failed("Evicted", 'Usage of EmptyDir volume "data" exceeds the limit "1Gi". '),
        "evicted-own-disk",
        '"data"',
    ),
    "own limit": (
        failed("Evicted", 'Container run exceeded its local ephemeral storage limit "1Gi". '),
        "evicted-own-disk",
        "",
    ),
    "pod's deadline": (
        failed("DeadlineExceeded", "Pod was active on the node longer than the specified deadline"),
        "deadline",
        "",
    ),
    "device gone": (
        failed("UnexpectedAdmissionError", "Allocate failed due to no healthy devices"),
        "admission-error",
        "healthy",
    ),
    "no GPU left": (failed("OutOfnvidia.com/gpu", "Node didn't have enough resource"), "node-full", ""),
    "shut down": (
        failed("Terminated", "Pod was terminated in response to imminent node shutdown."),
        "node-shutdown",
        "",
    ),
    "no such tag": (waiting("ErrImagePull", 'failed to resolve reference "a:9": a:9: not found'), "image-name", "a:9"),
    "no rights": (
        waiting("ImagePullBackOff", "pull access denied, insufficient_scope: authorization failed"),
        "image-rights",
        "",
    ),
    "no way": (waiting("ErrImagePull", "dial tcp 192.0.2.1:443: i/o timeout"), "image-network", "i/o timeout"),
    "no secret": (waiting("CreateContainerConfigError", 'secret "keys" not found'), "config-missing", '"keys"'),
    "preempted": (disrupted("PreemptionByScheduler"), "preempted", ""),
    "taint": (disrupted("DeletionByTaintManager"), "taint-manager", ""),
    "drained": (disrupted("EvictionByEvictionAPI"), "evicted-by-api", ""),
    "node deleted": (disrupted("DeletionByPodGC"), "node-gone", ""),
}


@pytest.mark.parametrize("name", PODS)
def test_a_pod_shows_its_end(name: str) -> None:
    given, code, words = PODS[name]
    found = judge(of_pod(given))
    assert found.code == code
    assert words in found.sentence
    assert found.at >= SECONDS


def test_a_pod_that_does_well_shows_nothing() -> None:
    assert of_pod(pod({"phase": "Running", "containerStatuses": [container(running={"startedAt": AT})]})) == []


def test_a_container_s_last_end_counts_too() -> None:
    again = {**container(running={"startedAt": LATER}), "restartCount": 1, "lastState": {"terminated": ended(1)}}
    (found,) = of_pod(pod({"phase": "Running", "containerStatuses": [again]}))
    assert (found.code, found.at, found.facts["seconds"], found.uid) == ("exited", SECONDS + 30, 30.0, "u1")


def test_a_pod_that_waits_says_for_what() -> None:
    no = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/3 nodes",
        "lastTransitionTime": AT,
    }
    assert "0/3 nodes" in judge(of_pod(pod({"phase": "Pending", "conditions": [no]}))).sentence
    held = pod({"phase": "Pending"})
    held["spec"] = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}
    assert "kueue.x-k8s.io/admission" in judge(of_pod(held)).sentence


def event(kind: str, reason: str, text: str, **more: Any) -> dict[str, Any]:
    thing = {"kind": kind, "name": "train-0", "uid": "u1", **({"namespace": "team-a"} if kind != "Node" else {})}
    meta = {"name": "e", "creationTimestamp": AT}
    return {
        "metadata": meta,
        "involvedObject": thing,
        "reason": reason,
        "message": text,
        "lastTimestamp": LATER,
        **more,
    }


def test_events_of_either_api_show_the_same() -> None:
    old = of_event(
        event("Pod", "FailedMount", "MountVolume.SetUp failed: timed out", count=4, source={"component": "kubelet"})
    )
    new = of_event(
        {
            "metadata": {"creationTimestamp": AT},
            "regarding": {"kind": "Pod", "namespace": "team-a", "name": "train-0", "uid": "u1"},
            "reason": "FailedMount",
            "note": "MountVolume.SetUp failed: timed out",
            "reportingController": "kubelet",
            "eventTime": AT,
            "series": {"count": 4, "lastObservedTime": LATER},
        }
    )
    assert old is not None
    assert new is not None
    assert old._replace(facts={}) == new._replace(facts={})
    assert (new.at, new.code, new.about, new.source) == (SECONDS + 30, "mount", "pod/team-a/train-0", "kubelet")
    assert new.facts["times"] == old.facts["times"] == 4


def test_events_that_show_nothing_are_passed_over() -> None:
    assert of_event(event("Pod", "Pulled", "Successfully pulled image")) is None
    assert of_event(event("ConfigMap", "LeaderElection", "became leader")) is None


def test_a_probe_s_words_tell_a_hang_from_a_probe() -> None:
    hang = of_event(
        event("Pod", "Unhealthy", "Liveness probe failed: 70 s of 60 at most: this host hangs, and is ended")
    )
    other = of_event(event("Pod", "Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500"))
    assert hang is not None
    assert other is not None
    assert (hang.code, other.code) == ("hang", "liveness")
    assert judge([other]).code == "unknown", "one of several that it takes"
    assert of_event(event("Pod", "Unhealthy", "Readiness probe failed: no")) is None


def node(**spec: Any) -> dict[str, Any]:
    conditions = spec.pop("conditions", [])
    return {
        "metadata": {"name": "gpu-1", "annotations": spec.pop("notes", {})},
        "spec": spec,
        "status": {"conditions": conditions},
    }


def test_a_node_shows_who_took_it() -> None:
    taints = [{"key": "ToBeDeletedByClusterAutoscaler", "value": str(int(SECONDS)), "effect": "NoSchedule"}]
    (down,) = of_node(node(taints=taints))
    assert (down.code, down.at, down.about) == ("scale-down", SECONDS, "node/gpu-1")
    notes = {"landbridge.dev/rolling-since": AT, "landbridge.dev/rolling-why": "image 12"}
    rolling = {"key": "status-taint.cluster-autoscaler.kubernetes.io/rolling", "value": "true", "effect": "NoSchedule"}
    (roll,) = of_node(node(taints=[rolling], notes=notes))
    assert (roll.code, roll.at, roll.text) == ("rolling", SECONDS, "image 12")
    cordon = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": AT}
    (held,) = of_node(node(taints=[cordon], unschedulable=True))
    assert (held.code, held.at) == ("cordoned", SECONDS)


def test_a_node_shows_what_it_lacks() -> None:
    def condition(kind: str, status: str) -> dict[str, Any]:
        return {"type": kind, "status": status, "reason": "R", "message": "m", "lastTransitionTime": AT}

    ailing = [condition("Ready", "Unknown"), condition("MemoryPressure", "True"), condition("XidCritical", "True")]
    assert {one.code for one in of_node(node(conditions=ailing))} == {"node-silent", "memory-pressure", "node-finding"}
    well = [condition("Ready", "True"), condition("DiskPressure", "False"), condition("XidCritical", "False")]
    assert of_node(node(conditions=well)) == []


def work(*conditions: tuple[str, str], **spec: Any) -> dict[str, Any]:
    told = [
        {"type": kind, "status": "True", "reason": reason, "message": "m", "lastTransitionTime": AT}
        for kind, reason in conditions
    ]
    return {
        "metadata": {"namespace": "team-a", "name": "train", "uid": "w", "creationTimestamp": AT},
        "spec": spec,
        "status": {"conditions": told},
    }


@pytest.mark.parametrize(
    ("kind", "condition", "code"),
    [
        ("job", ("Failed", "DeadlineExceeded"), "job-deadline"),
        ("job", ("Failed", "SomethingNew"), "job-failed"),
        ("jobset", ("Failed", "ReachedMaxRestarts"), "run-gave-up"),
        ("workload", ("Evicted", "Preempted"), "queue-preempted"),
        ("workload", ("Evicted", "PodsReadyTimeout"), "queue-not-ready"),
        ("workload", ("Evicted", "DeactivatedDueToMaximumExecutionTimeExceeded"), "max-hours"),
        ("workload", ("Evicted", "Deactivated"), "queue-deactivated"),
    ],
)
def test_what_is_above_a_pod_shows_its_end(kind: str, condition: tuple[str, str], code: str) -> None:
    given = work(condition, *([("QuotaReserved", "QuotaReserved")] if kind == "workload" else []))
    assert [one.code for one in of_work(given, kind)] == [code]


def test_a_workload_without_quota_waits_or_is_out() -> None:
    assert [one.code for one in of_work(work(queueName="runs"), "workload")] == ["queue-waits"]
    assert [one.code for one in of_work(work(queueName="runs", active=False), "workload")] == ["queue-deactivated"]


def entry(verb: str, resource: str, user: str, name: str = "train-0", **more: Any) -> dict[str, Any]:
    return {
        "verb": verb,
        "requestURI": "/api/v1/x",
        "user": {"username": user},
        "sourceIPs": ["192.0.2.7"],
        "userAgent": "kubectl/v1.36.2",
        "objectRef": {"resource": resource, "namespace": "team-a", "name": name, "apiVersion": "v1"},
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": "2026-11-28T10:00:00.250000Z",
        **more,
    }


@pytest.mark.parametrize(
    ("user", "code"),
    [
        ("ann", "deleted-by-person"),
        ("landbridge-admin", "deleted-by-person"),
        ("system:serviceaccount:kube-system:job-controller", "deleted-by-job"),
        ("system:serviceaccount:kube-system:generic-garbage-collector", "collected"),
        ("system:serviceaccount:kube-system:cluster-autoscaler", "scale-down"),
        ("system:serviceaccount:team-a:operator", "deleted-by-controller"),
        ("system:node:gpu-1", "kubelet-finished"),
    ],
)
def test_the_audit_log_says_who(user: str, code: str) -> None:
    found = audit.of_entry(entry("delete", "pods", user))
    assert found is not None
    assert (found.code, found.at, found.about) == (code, SECONDS + 0.25, "pod/team-a/train-0")
    assert found.facts == {"what": "it", "user": user, "agent": "kubectl/v1.36.2", "from": "192.0.2.7"}


def test_what_was_refused_or_tried_dry_was_not_done() -> None:
    lines = [
        entry("delete", "pods", "ann", responseStatus={"code": 403}),
        entry("delete", "pods", "ann", requestURI="/api/v1/x?dryRun=All"),
        entry("delete", "pods", "bob"),
        entry("delete", "pods", "eve", name="other"),
        entry("get", "pods", "eve"),
    ]
    written = [json.dumps(one, separators=(",", ":")).encode() for one in lines] + [b'{"name":"train-0", half']
    done = [*audit.entries(written, ["train-0"])]
    assert [one["user"]["username"] for one in done] == ["bob", "eve"]
    assert [bool(audit.of_entry(one)) for one in done] == [True, False]


def test_an_eviction_and_a_cordon_are_a_person_s() -> None:
    gone = entry("create", "pods", "ops")
    gone["objectRef"]["subresource"] = "eviction"
    cordon = entry("patch", "nodes", "ops", "gpu-1", requestObject={"spec": {"unschedulable": True}})
    del cordon["objectRef"]["namespace"]
    found = [audit.of_entry(one) for one in (gone, cordon)]
    assert [(one.code, one.about) for one in found if one] == [
        ("evicted-by-person", "pod/team-a/train-0"),
        ("cordoned", "node/gpu-1"),
    ]


def test_all_of_which_something_is_made_is_among_acts_and_the_rest_is_not_read() -> None:
    """As API servers write lines: without a space."""
    eviction, status = entry("create", "pods", "ops"), entry("patch", "pods", "system:node:gpu-1")
    eviction["objectRef"]["subresource"], status["objectRef"]["subresource"] = "eviction", "status"
    cordon = entry("patch", "nodes", "ops", "gpu-1", requestObject={"spec": {"unschedulable": True}})
    every = [
        *(entry(verb, "pods", "ann") for verb in ("delete", "deletecollection", "get", "list", "create", "update")),
        *(eviction, status, cordon),
    ]
    lines = [json.dumps(one, separators=(",", ":")).encode() for one in every]
    acts = [*audit.entries(lines, ["team-a"], acts=True)]
    assert acts == [one for one in every if audit.of_entry(one)]
    assert len(acts) == 4
    assert len([*audit.entries(lines, ["team-a"])]) == len(every)


def test_a_pod_that_is_gone_is_as_the_log_saw_it_last() -> None:
    """Whole when it was created and when it was deleted, and patched by its kubelet in between and after."""
    whole = pod({"phase": "Running", "containerStatuses": [container(running={"startedAt": AT})]})
    patch = {
        "metadata": {"uid": "u1"},
        "status": {
            "$setElementOrder/conditions": [{"type": "Ready"}],
            "phase": "Failed",
            "conditions": [{"type": "Ready", "status": "False"}],
            "containerStatuses": [container(terminated=ended(7))],
        },
    }
    patched = entry("patch", "pods", "system:node:gpu-1", requestObject=patch)
    patched["objectRef"]["subresource"] = "status"
    trail = [
        entry("delete", "pods", "ann", responseObject=whole),
        patched,
        entry("delete", "pods", "system:node:gpu-1"),
    ]
    found = audit.last_of(trail, "pods", "team-a", "train-0")
    assert found is not None
    assert [(one.code, one.facts["exit_code"]) for one in of_pod(found)] == [("exited", 7)]
    assert audit.last_of(trail[1:], "pods", "team-a", "train-0") is None
    assert audit.last_of(trail, "pods", "team-b", "train-0") is None


def test_a_pod_shows_what_it_was_told_of_its_machine_in_the_service_s_own_form() -> None:
    spec = {"source": "operator", "target": {"kind": "node", "name": "gpu-1"}, "why": "new NIC", "noticeSeconds": 0}
    times = {"start": "2026-11-30T22:00:00Z", "end": "2026-11-30T23:00:00Z", "closedSeconds": 3600}
    meta = {"name": "nic", "uid": "u", "resourceVersion": "1"}

    def told(**more: str) -> Observation:
        plan = maintenance.read({"metadata": meta, "spec": {**spec, **times, **more}})
        text = marks.of_pod([(plan, maintenance.NodeState("told", 0.0, 0.0))], 0.0)
        pod = {
            "metadata": {"namespace": "team-a", "name": "x", "annotations": {maintenance.ANNOTATION: text}},
            "spec": {},
        }
        (found,) = of_pod(pod)
        return found

    one = told()
    assert (one.code, one.at) == ("maintenance-due", maintenance.seconds(times["start"]))
    assert one.text == "new NIC, announced by an operator for 2026-11-30T22:00:00Z"
    assert told(source="ec2-spot").code == "spot-notice"
    assert not of_pod({"metadata": {"name": "x", "annotations": {maintenance.ANNOTATION: "[1]"}}, "spec": {}})
