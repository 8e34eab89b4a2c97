"""What a change costs: the API server's own refusals, kind by kind, against the phrases that mean "make another"."""

from typing import Any

import pytest

from local.providers.codec import UNKNOWN
from local.providers.kubernetes.diff import differences, documented_replacements, guilty, immutable_fields, within
from tests.local.providers.kubernetes.bed import job, manifest, work
from tests.support.apiserver import Server

POD = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
SELECTOR = {"matchLabels": {"a": "b"}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}, "storageClassName": "x"}
VOLUME = {
    "capacity": {"storage": "1Gi"},
    "accessModes": ["ReadWriteMany"],
    "nfs": {"server": "10.0.0.1", "path": "/a"},
}
ONCE = {**POD, "spec": {**POD["spec"], "restartPolicy": "Never"}}

# kind, what it is, what it shall be, whether another must be made.
CASES: list[tuple[str, str, dict[str, Any], dict[str, Any], bool]] = [
    (
        "apps/v1",
        "Deployment",
        {"spec": {"selector": SELECTOR, "template": POD}},
        {"spec": {"selector": {"matchLabels": {"a": "c"}}, "template": {**POD, "metadata": {"labels": {"a": "c"}}}}},
        True,
    ),
    (
        "apps/v1",
        "Deployment",
        {"spec": {"selector": SELECTOR, "template": POD}},
        {"spec": {"replicas": -1, "selector": SELECTOR, "template": POD}},
        False,
    ),
    (
        "apps/v1",
        "StatefulSet",
        {"spec": {"serviceName": "a", "selector": SELECTOR, "template": POD}},
        {"spec": {"serviceName": "b", "selector": SELECTOR, "template": POD}},
        True,
    ),
    (
        "batch/v1",
        "Job",
        {"spec": {"template": ONCE}},
        {"spec": {"template": {**ONCE, "spec": {**ONCE["spec"], "nodeName": "n"}}}},
        True,
    ),
    (
        "v1",
        "Service",
        {"spec": {"clusterIP": "10.1.0.77", "ports": [{"port": 1}]}},
        {"spec": {"clusterIP": "10.1.0.78", "ports": [{"port": 1}]}},
        True,
    ),
    ("v1", "PersistentVolumeClaim", {"spec": CLAIM}, {"spec": {**CLAIM, "storageClassName": "y"}}, True),
    (
        "v1",
        "PersistentVolume",
        {"spec": VOLUME},
        {"spec": {**VOLUME, "nfs": {"server": "10.0.0.2", "path": "/a"}}},
        True,
    ),
    ("v1", "Secret", {"type": "Opaque"}, {"type": "test/other"}, True),
    ("v1", "ConfigMap", {"immutable": True, "data": {"a": "b"}}, {"immutable": True, "data": {"a": "c"}}, True),
    (
        "v1",
        "Pod",
        {"spec": POD["spec"]},
        {"spec": {"containers": [{"name": "c", "image": "i", "command": ["x"]}]}},
        True,
    ),
    (
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}},
        {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "b"}},
        True,
    ),
    (
        "storage.k8s.io/v1",
        "StorageClass",
        {"provisioner": "a/b", "parameters": {"a": "b"}},
        {"provisioner": "a/b", "parameters": {"a": "c"}},
        True,
    ),
    ("storage.k8s.io/v1", "StorageClass", {"provisioner": "a/b"}, {"provisioner": "a/c"}, True),
    (
        "storage.k8s.io/v1",
        "CSIDriver",
        {"spec": {"fsGroupPolicy": "File", "attachRequired": True}},
        {"spec": {"fsGroupPolicy": "File", "attachRequired": False}},
        True,
    ),
    ("scheduling.k8s.io/v1", "PriorityClass", {"value": 1}, {"value": 2}, True),
    ("node.k8s.io/v1", "RuntimeClass", {"handler": "a"}, {"handler": "b"}, True),
]
GLOBAL = {"PersistentVolume", "StorageClass", "CSIDriver", "PriorityClass", "RuntimeClass"}


@pytest.mark.parametrize(
    ("version", "kind", "old", "new", "another"), CASES, ids=[f"{case[1]}-{n}" for n, case in enumerate(CASES)]
)
def test_the_api_server_says_what_can_t_be_changed(
    kube: Server, namespace: str, version: str, kind: str, old: dict[str, Any], new: dict[str, Any], another: bool
) -> None:
    inside, name = work(kube), f"{namespace}-x"
    place = "" if kind in GLOBAL else namespace
    before, after = (
        manifest(version, kind, name, place, **part, metadata={"annotations": {"pulumi.com/skipAwait": "true"}})
        for part in (old, new)
    )
    id_, state = inside.create(job(before), before)
    causes = inside.refused_as_immutable(job(after), id_, after, state)
    assert causes, "the API server would have taken it"
    fields = immutable_fields(causes)
    assert bool(fields) is another, causes
    if another:
        changed = list(differences(before, after))
        assert set(guilty(changed, fields)) <= set(changed)


def test_a_claim_made_smaller_never_costs_its_data() -> None:
    cause = {"message": "Forbidden: field can not be less than status.capacity", "field": "spec.resources.requests"}
    assert immutable_fields([cause]) == []


def test_one_other_fault_and_nothing_is_replaced() -> None:
    immutable = {"message": "Invalid value: field is immutable", "field": "spec.selector"}
    assert immutable_fields([immutable]) == ["spec.selector"]
    assert immutable_fields([immutable, {"message": "must be at least 0", "field": "spec.replicas"}]) == []


def test_paths_name_what_changed() -> None:
    old = {"metadata": {"labels": {"app.kubernetes.io/name": "a"}}, "spec": {"args": ["a", "b"], "c": [{"x": 1}]}}
    new = {
        "metadata": {"labels": {"app.kubernetes.io/name": "b"}},
        "spec": {"args": ["b", "a"], "c": [{"x": 2, "y": None}]},
    }
    assert differences(old, new) == {
        'metadata.labels["app.kubernetes.io/name"]': "UPDATE",
        "spec.args[0]": "UPDATE",
        "spec.args[1]": "UPDATE",
        "spec.c[0].x": "UPDATE",
    }
    assert differences({"a": [1]}, {"a": [1, 2], "b": UNKNOWN}) == {"a": "UPDATE", "b": "ADD"}
    assert differences({"__inputs": 1, "a": {"__x": 1}}, {"a": {"__x": 2}}) == {"a.__x": "UPDATE"}
    assert guilty(["spec.selector.matchLabels.a", "spec.replicas"], ["spec.selector"]) == [
        "spec.selector.matchLabels.a"
    ]
    assert guilty(["spec.nfs.server"], ["spec.persistentvolumesource"]) == ["spec.nfs.server"]
    assert within("spec.a[0]", "spec.a")
    assert not within("spec.ab", "spec.a")


def test_config_maps_and_secrets_are_replaced_unless_the_provider_may_change_them() -> None:
    settings = {"config_maps": False, "secrets": False}
    assert documented_replacements(manifest("v1", "ConfigMap", "c"), **settings) == ("data", "binaryData")
    assert documented_replacements(manifest("v1", "ConfigMap", "c"), config_maps=True, secrets=False) == ()
    assert "stringData" in documented_replacements(manifest("v1", "Secret", "s"), **settings)
    assert documented_replacements(manifest("v1", "Secret", "s"), config_maps=False, secrets=True) == ()
