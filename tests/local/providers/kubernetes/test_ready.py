"""Readiness, kind by kind, from statuses as controllers write them; and the annotation pulumi.com/waitFor."""

from typing import Any

import pytest

from local.providers.kubernetes import wait_for
from local.providers.kubernetes.ready import JUDGES
from local.providers.servicer import ProviderError

APPS = "apps/v1"


def judged(version: str, kind: str, spec: Any, status: Any, **rest: Any) -> Any:
    thing = {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "x", "namespace": "n", "generation": 2},
        "spec": spec,
        "status": status,
        **{key: value for key, value in rest.items() if key != "others"},
    }
    return JUDGES[version, kind](thing, lambda path: rest.get("others", {}).get(path))


SEEN = {"observedGeneration": 2}
DONE = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2, **SEEN}
SLICES = "/apis/discovery.k8s.io/v1/namespaces/n/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dx"
IN_USE = {"clusterIP": "10.1.0.5", "selector": {"a": "b"}}


def slices(*ready: bool) -> dict[str, Any]:
    return {"others": {SLICES: {"items": [{"endpoints": [{"conditions": {"ready": one}} for one in ready]}]}}}


@pytest.mark.parametrize(
    ("version", "kind", "spec", "status", "rest", "text"),
    [
        (APPS, "Deployment", {"replicas": 2}, DONE, {}, None),
        (APPS, "Deployment", {"replicas": 0}, SEEN, {}, None),
        (APPS, "Deployment", {"replicas": 2}, {**DONE, "observedGeneration": 1}, {}, "take notice"),
        (APPS, "Deployment", {"replicas": 2}, {**DONE, "updatedReplicas": 1}, {}, "1 of 2 replicas updated"),
        (APPS, "Deployment", {"replicas": 2}, {**DONE, "replicas": 3}, {}, "1 old replicas still end"),
        (APPS, "Deployment", {"replicas": 2}, {**DONE, "availableReplicas": 1}, {}, "1 of 2 replicas available"),
        (APPS, "DaemonSet", {}, SEEN, {}, None),
        (APPS, "DaemonSet", {}, {}, {}, "take notice"),
        (APPS, "DaemonSet", {}, {**SEEN, "desiredNumberScheduled": 2, "updatedNumberScheduled": 1}, {}, "1 of 2 pods updated"),
        (APPS, "DaemonSet", {}, {**SEEN, "desiredNumberScheduled": 2, "updatedNumberScheduled": 2}, {}, "0 of 2 pods available"),
        (APPS, "DaemonSet", {"updateStrategy": {"type": "OnDelete"}}, {**SEEN, "desiredNumberScheduled": 2, "numberAvailable": 2}, {}, None),
        (APPS, "StatefulSet", {"replicas": 2}, {**DONE, "currentRevision": "a", "updateRevision": "a"}, {}, None),
        (APPS, "StatefulSet", {"replicas": 2}, {**DONE, "readyReplicas": 1}, {}, "1 of 2 pods ready"),
        (APPS, "StatefulSet", {"replicas": 2}, {**DONE, "updatedReplicas": 1, "currentRevision": "a", "updateRevision": "b"}, {}, "1 of 2 pods updated"),
        ("batch/v1", "Job", {"completions": 2}, {"succeeded": 1}, {}, "1 of 2 pods succeeded"),
        ("batch/v1", "Job", {}, {"conditions": [{"type": "Complete", "status": "True"}]}, {}, None),
        ("batch/v1", "Job", {"suspend": True}, {}, {}, None),
        ("v1", "Pod", {}, {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}, {}, None),
        ("v1", "Pod", {}, {"phase": "Running", "conditions": [{"type": "Ready", "status": "False", "reason": "Why"}]}, {}, "Ready (Why)"),
        ("v1", "Pod", {}, {"phase": "Succeeded"}, {}, None),
        ("v1", "Service", IN_USE, {}, slices(True), None),
        ("v1", "Service", IN_USE, {}, slices(), None),
        ("v1", "Service", IN_USE, {}, slices(True, False), "1 of its pods are not ready"),
        ("v1", "Service", IN_USE, {}, {}, "endpoints"),
        ("v1", "Service", {"clusterIP": "None", "selector": {"a": "b"}}, {}, {}, None),
        ("v1", "Service", {"type": "ExternalName"}, {}, {}, None),
        ("v1", "Service", {**IN_USE, "type": "LoadBalancer"}, {"loadBalancer": {}}, {}, "load balancer's address"),
        ("v1", "Namespace", {}, {"phase": "Active"}, {}, None),
        ("v1", "Namespace", {}, {"phase": "Terminating"}, {}, "not Active"),
        ("v1", "PersistentVolumeClaim", {}, {"phase": "Bound"}, {}, None),
        ("v1", "PersistentVolumeClaim", {"storageClassName": "s"}, {"phase": "Pending"}, {}, "not Bound"),
        ("v1", "PersistentVolumeClaim", {"storageClassName": "s"}, {"phase": "Pending"}, {"others": {"/apis/storage.k8s.io/v1/storageclasses/s": {"volumeBindingMode": "WaitForFirstConsumer"}}}, None),
        ("v1", "PersistentVolume", {}, {"phase": "Available"}, {}, None),
        ("v1", "Secret", {}, {}, {"type": "kubernetes.io/service-account-token"}, "token"),
        ("v1", "Secret", {}, {}, {"type": "Opaque"}, None),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", {}, {"conditions": [{"type": "Established", "status": "True"}]}, {}, None),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", {}, {}, {}, "Established"),
        ("apiregistration.k8s.io/v1", "APIService", {}, {"conditions": [{"type": "Available", "status": "False", "message": "no endpoints"}]}, {}, "no endpoints"),
    ],
)  # fmt: skip
def test_ready_and_what_is_waited_for(
    version: str, kind: str, spec: Any, status: Any, rest: Any, text: str | None
) -> None:
    found = judged(version, kind, spec, status, **rest)
    assert found.ready == (text is None)
    assert not found.failed
    assert text is None or text in found.text


@pytest.mark.parametrize(
    ("version", "kind", "status", "text"),
    [
        (APPS, "Deployment", {**SEEN, "conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "it hangs"}]}, "it hangs"),
        ("batch/v1", "Job", {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}, "BackoffLimitExceeded"),
        ("v1", "Pod", {"phase": "Failed", "reason": "Evicted"}, "Evicted"),
        ("v1", "PersistentVolumeClaim", {"phase": "Lost"}, "lost"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", {"conditions": [{"type": "NamesAccepted", "status": "False", "message": "taken"}]}, "taken"),
    ],
)  # fmt: skip
def test_what_can_t_become_ready_is_not_waited_for(version: str, kind: str, status: Any, text: str) -> None:
    found = judged(version, kind, {}, status)
    assert not found.ready
    assert found.failed
    assert text in found.text


THING = {
    "metadata": {"labels": {"a.b/c": "x"}},
    "status": {
        "phase": "Running",
        "count": 3,
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "Old", "status": "False"}],
    },
}


@pytest.mark.parametrize(
    ("wish", "met"),
    [
        ("condition=Ready", True),
        ("condition=ready", False),
        ("condition=Old", False),
        ("condition=Old=False", True),
        ("jsonpath={.status.phase}=Running", True),
        ("jsonpath={$.status.phase}=Pending", False),
        ("jsonpath={.status.count}=3", True),
        ("jsonpath={.status.nothing}", False),
        ("jsonpath={.status.conditions[0].type}", True),
        ("jsonpath={.status.conditions[*].type}=Ready", False),  # two values
        ('jsonpath={.status.conditions[?(@.type=="Ready")].status}=True', True),
        (r"jsonpath={.metadata.labels.a\.b/c}=x", True),
        ("jsonpath={.metadata.labels['a.b/c']}=x", True),
        ('["condition=Ready", "jsonpath={.status.phase}=Running"]', True),
        ('["condition=Ready", "jsonpath={.status.phase}=Pending"]', False),
    ],
)
def test_wait_for(wish: str, met: bool) -> None:
    found = wait_for.judge(wish, THING)
    assert found.ready is met
    assert met or "waiting for" in found.text


@pytest.mark.parametrize("wish", ["Ready", "condition=", "jsonpath=.a", "jsonpath={.a[?(@.b>1)]}", "[]", "[1]"])
def test_a_wish_that_can_t_be_read_says_what_can(wish: str) -> None:
    with pytest.raises(ProviderError, match=r"pulumi\.com/waitFor is .*(write condition=NAME|it knows)"):
        wait_for.judge(wish, THING)
