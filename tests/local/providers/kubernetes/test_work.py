"""Objects on a real API server, without an engine: apply, conflicts, drift, and the words of refusals."""

import threading
import time
from typing import Any

import pytest

from local.providers.kubernetes.api import Api, ApiError
from local.providers.kubernetes.apply import apply
from local.providers.kubernetes.discovery import Kind
from local.providers.kubernetes.kubeconfig import Access
from local.providers.kubernetes.objects import live_in
from local.providers.kubernetes.refusals import refusal
from local.providers.kubernetes.work import Unfinished
from local.providers.servicer import ProviderError
from tests.local.providers.kubernetes.bed import Heard, job, manifest, work
from tests.support.apiserver import Server

DEPLOYMENT = {
    "selector": {"matchLabels": {"app": "a"}},
    "template": {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "1000m"}}}]},
    },
}
SKIP = {"annotations": {"pulumi.com/skipAwait": "true"}}


def config_map(namespace: str, **data: str) -> dict[str, Any]:
    return manifest("v1", "ConfigMap", "c", namespace, data=data)


def path(namespace: str, plural: str = "configmaps", name: str = "c") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}/{name}"


def test_a_field_of_another_manager_is_a_conflict_that_says_whose_and_what_to_do(kube: Server, namespace: str) -> None:
    inside, mine = work(kube), config_map(namespace, a="1", b="1")
    id_, state = inside.create(job(mine), mine)
    kube.apply(path(namespace), config_map(namespace, a="theirs"), "autoscaler")
    wish = config_map(namespace, a="2", b="2")
    for attempt in (inside.update, inside.preview_update):
        with pytest.raises(ProviderError, match=r"data\.a is managed by autoscaler.*pulumi\.com/patchForce"):
            attempt(job(mine), id_, wish, state, [])
    there = kube.find(path(namespace))
    assert there is not None
    assert there["data"] == {"a": "theirs", "b": "1"}

    forced = {**wish, "metadata": {**wish["metadata"], "annotations": {"pulumi.com/patchForce": "true"}}}
    state = inside.update(job(mine), id_, forced, state, [])
    assert state["data"] == {"a": "2", "b": "2"}


def test_the_provider_s_own_setting_takes_over_too(kube: Server, namespace: str) -> None:
    inside, mine = work(kube, enablePatchForce=True), config_map(namespace, a="1")
    id_, state = inside.create(job(mine), mine)
    kube.apply(path(namespace), config_map(namespace, a="theirs"), "autoscaler")
    assert inside.update(job(mine), id_, config_map(namespace, a="2"), state, [])["data"] == {"a": "2"}


def test_what_a_person_changed_with_kubectl_is_taken_back_and_said(kube: Server, namespace: str) -> None:
    inside, mine = work(kube), config_map(namespace, a="1")
    id_, state = inside.create(job(mine), mine)
    kube.patch(path(namespace), {"data": {"a": "by hand"}}, {"fieldManager": "kubectl-edit"})
    assert inside.update(job(mine), id_, config_map(namespace, a="2"), state, [])["data"] == {"a": "2"}
    assert isinstance(inside.log, Heard)
    assert "takes back data.a from kubectl-edit" in inside.log.lines


def test_an_ignored_field_is_left_to_whoever_has_it(kube: Server, namespace: str) -> None:
    inside, mine = work(kube), config_map(namespace, a="1", b="1")
    id_, state = inside.create(job(mine), mine)
    kube.apply(path(namespace), config_map(namespace, a="theirs"), "autoscaler")
    state = inside.update(job(mine), id_, config_map(namespace, a="1", b="2"), state, ["data.a"])
    assert state["data"] == {"a": "theirs", "b": "2"}


def test_only_managed_fields_drift(kube: Server, namespace: str) -> None:
    inside = work(kube)
    mine = manifest("apps/v1", "Deployment", "d", namespace, metadata=SKIP, spec={"replicas": 2, **DEPLOYMENT})
    id_, state = inside.create(job(mine), mine)
    deployment = f"/apis/apps/v1/namespaces/{namespace}/deployments/d"
    kube.patch(deployment, {"metadata": {"labels": {"somebody": "else"}}, "spec": {"minReadySeconds": 1}})
    read = inside.read(job(mine), id_, mine, state)
    assert read is not None
    assert read[1] == mine  # cpu: 1000m stands as it was written, though the API says 1

    kube.patch(deployment, {"spec": {"replicas": 5, "template": {"spec": {"nodeSelector": {"a": "b"}}}}})
    read = inside.read(job(mine), id_, mine, read[2])
    assert read is not None
    assert read[1] == {**mine, "spec": {**mine["spec"], "replicas": 5}}
    # Nothing new since: the drift stays.
    again = inside.read(job(mine), id_, read[1], read[2])
    assert again is not None
    assert again[1]["spec"]["replicas"] == 5


def test_an_object_of_nothing_but_a_name_has_no_drift(kube: Server, namespace: str) -> None:
    inside, mine = work(kube), manifest("v1", "ServiceAccount", "a", namespace)
    id_, state = inside.create(job(mine), mine)
    kube.patch(path(namespace, "serviceaccounts", "a"), {"metadata": {"labels": {"somebody": "else"}}})
    read = inside.read(job(mine), id_, mine, state)
    assert read is not None
    assert read[1] == mine


def test_whole_lists_drift_where_the_api_treats_them_as_one(kube: Server, namespace: str) -> None:
    inside = work(kube)
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    mine = manifest("rbac.authorization.k8s.io/v1", "Role", "r", namespace, rules=[rule])
    id_, state = inside.create(job(mine), mine)
    more = {**rule, "verbs": ["delete"]}
    kube.patch(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles/r", {"rules": [rule, more]})
    read = inside.read(job(mine), id_, mine, state)
    assert read is not None
    assert read[1]["rules"] == [rule, more]


def test_a_secret_s_text_drifts_though_the_api_never_gives_it_back(kube: Server, namespace: str) -> None:
    inside, mine = work(kube), manifest("v1", "Secret", "s", namespace, stringData={"a": "one", "b": "two"})
    id_, state = inside.create(job(mine), mine)
    read = inside.read(job(mine), id_, mine, state)
    assert read is not None
    assert read[1] == mine
    kube.patch(path(namespace, "secrets", "s"), {"data": {"a": "b3RoZXI="}})
    read = inside.read(job(mine), id_, mine, state)
    assert read is not None
    assert read[1]["stringData"] == {"a": "other", "b": "two"}


def test_what_is_gone_is_gone_for_a_refresh_and_an_error_for_an_update(kube: Server, namespace: str) -> None:
    inside, mine = work(kube), config_map(namespace, a="1")
    id_, state = inside.create(job(mine), mine)
    kube.api.call("DELETE", path(namespace))
    assert inside.read(job(mine), id_, mine, state) is None
    with pytest.raises(ProviderError, match=f"ConfigMap {namespace}/c is gone from the cluster.*--refresh"):
        inside.update(job(mine), id_, config_map(namespace, a="2"), state, [])
    inside.delete(job(mine), id_, mine, state)


def test_an_import_takes_what_is_there_less_what_the_server_says(kube: Server, namespace: str) -> None:
    kube.apply(path(namespace), config_map(namespace, a="1"), "test")
    read = work(kube).read(job(config_map(namespace)), f"{namespace}/c", {}, {})
    assert read is not None
    assert read[1] == config_map(namespace, a="1")


def test_an_object_that_exists_is_not_taken_over_unasked(kube: Server, namespace: str) -> None:
    kube.apply(path(namespace), config_map(namespace, a="1"), "test")
    inside, wish = work(kube), config_map(namespace, b="2")
    with pytest.raises(ProviderError, match=r"exists already.*pulumi import"):
        inside.create(job(wish), wish)
    assert inside.preview_create(job(wish), wish) == wish
    assert isinstance(inside.log, Heard)
    assert "`up` will fail" in inside.log.lines[0]
    _, state = work(kube, upsertExistingObjects=True).create(job(wish), wish)
    assert state["data"] == {"a": "1", "b": "2"}


def test_a_patch_adds_to_what_others_made_and_gives_it_up(kube: Server, namespace: str) -> None:
    inside = work(kube)
    mine = manifest("v1", "Namespace", namespace, metadata={"labels": {"pod-security": "restricted"}})
    id_, state = inside.create(job(mine, patch=True), mine)
    wish = manifest("v1", "Namespace", namespace, metadata={"labels": {"pod-security": "baseline"}})
    state = inside.update(job(mine, patch=True), id_, wish, state, [])
    assert state["metadata"]["labels"]["pod-security"] == "baseline"
    inside.delete(job(mine, patch=True), id_, wish, state)
    there = kube.find(f"/api/v1/namespaces/{namespace}")
    assert there is not None
    assert "pod-security" not in there["metadata"]["labels"]
    assert "deletionTimestamp" not in there["metadata"]


def test_another_manager_s_name_takes_the_fields_along(kube: Server, namespace: str) -> None:
    inside, mine = work(kube), config_map(namespace, a="1")
    id_, state = inside.create(job(mine), mine)
    wish = {**mine, "metadata": {**mine["metadata"], "annotations": {"pulumi.com/patchFieldManager": "chosen"}}}
    state = inside.update(job(mine), id_, wish, state, [])
    there = kube.find(path(namespace))
    assert there is not None
    assert {entry["manager"] for entry in there["metadata"]["managedFields"]} == {"chosen"}


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (manifest("v1", "ConfigMap", "c", dta={"a": "b"}), r"c: dta: the kind has no such field\..*Correct or remove"),
        (manifest("apps/v1", "Deployment", "d", spec={**DEPLOYMENT, "replicas": -1}), "spec.replicas: .*greater than or equal to 0"),
        (manifest("apps/v1", "Deployment", "d", spec={**DEPLOYMENT, "replicas": "two"}), r"Deployment .*spec\.replicas"),
        (manifest("v1", "ConfigMap", "Not_A_Name"), "metadata.name: .*RFC 1123"),
    ],
)  # fmt: skip
def test_refusals_name_the_field_before_anything_is_made(
    kube: Server, namespace: str, thing: dict[str, Any], text: str
) -> None:
    mine = {**thing, "metadata": {**thing["metadata"], "namespace": namespace}}
    for attempt in (work(kube).preview_create, work(kube).create):
        with pytest.raises(ProviderError, match=text) as caught:
            attempt(job(mine), mine)
        assert f"{mine['kind']} {namespace}/" in str(caught.value)


def test_a_refused_secret_is_not_quoted(kube: Server, namespace: str) -> None:
    mine = manifest("v1", "Secret", "s", namespace, data={"password": "hush hush"}, extra=1)
    with pytest.raises(ProviderError) as caught:
        work(kube).create(job(mine), mine)
    assert "hush" not in str(caught.value)
    # Nor where the API itself quotes it.
    quoted = ApiError(422, {"message": 'Invalid value: "hush hush"'})
    assert str(refusal(quoted, mine, "create")).endswith('Invalid value: "[secret]"')


def test_a_preview_shows_defaults_and_leaves_open_what_only_the_real_run_knows(kube: Server, namespace: str) -> None:
    mine = manifest("v1", "Service", "s", namespace, spec={"ports": [{"port": 80}]})
    seen = work(kube).preview_create(job(mine), mine)
    unknown = seen["metadata"]["uid"]
    assert len(unknown) == 36
    assert seen["spec"]["clusterIP"] == unknown
    assert seen["spec"]["type"] == "ClusterIP"
    assert "status" not in seen
    assert kube.find(path(namespace, "services", "s")) is None


def test_namespaces_and_kinds_of_the_same_run_can_t_be_tried_and_are_waited_for(kube: Server, namespace: str) -> None:
    group = f"{namespace}.test"
    late = f"{namespace}-late"
    gadget = manifest(f"{group}/v1", "Gadget", "g", late, spec={"size": 1})
    inside = work(kube)
    assert inside.preview_create(job(gadget), gadget) == gadget
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    definition = manifest(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        f"gadgets.{group}",
        spec={
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": "Gadget", "plural": "gadgets"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    )
    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(inside.create(job(gadget), gadget)))
    thread.start()
    time.sleep(1)
    _, state = inside.create(job(definition), definition)
    assert any(one["type"] == "Established" for one in state["status"]["conditions"])
    time.sleep(1)
    own = manifest("v1", "Namespace", late)
    inside.create(job(own), own)
    thread.join(30)
    assert made[0][0] == f"{late}/g"
    wrong = manifest(f"{group}/v1", "Gadget", "h", late, spec={"sise": 1})
    with pytest.raises(ProviderError, match=r"h: spec\.sise: the kind has no such field"):
        inside.create(job(wrong), wrong)
    # Refused by strict validation until the server has published the new kind's schema, by apply itself afterwards.
    wrong = manifest(f"{group}/v1", "Gadget", "h", late, metadata={"lables": {"a": "b"}})
    with pytest.raises(ProviderError, match=r"metadata\.lables"):
        inside.create(job(wrong), wrong)
    inside.delete(job(definition), f"gadgets.{group}", definition, state)
    # Its definition has gone, and it with it.
    inside.delete(job(gadget), f"{late}/g", gadget, made[0][1])
    assert inside.read(job(gadget), f"{late}/g", gadget, made[0][1]) is None


def test_a_kind_that_never_comes(kube: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local.providers.kubernetes.cluster.ORDER_SECONDS", 0.5)
    thing = manifest("nobody.test/v1", "Ghost", "g", "default")
    with pytest.raises(ProviderError, match=r"knows no Ghost in nobody\.test/v1"):
        work(kube).create(job(thing), thing)
    lost = config_map("nowhere", a="1")
    with pytest.raises(ProviderError, match="Create the namespace nowhere in the program"):
        work(kube).create(job(lost), lost)


def test_what_is_not_ready_in_time_stays_in_state_and_says_why(kube: Server, namespace: str) -> None:
    inside = work(kube)
    mine = manifest("apps/v1", "Deployment", "d", namespace, spec=DEPLOYMENT)
    with pytest.raises(Unfinished, match=r"not ready: .* \(gave up after 3 s\)") as caught:
        inside.create(job(mine, timeout=3), mine)
    assert caught.value.id == f"{namespace}/d"
    assert live_in(caught.value.state)["metadata"]["uid"]
    assert isinstance(inside.log, Heard)
    assert inside.log.lines
    with pytest.raises(Unfinished, match="is not ready"):
        inside.read(job(mine), f"{namespace}/d", mine, caught.value.state)


def test_the_annotation_bounds_the_wait(kube: Server, namespace: str) -> None:
    wish = {"pulumi.com/waitFor": "jsonpath={.data.done}=yes", "pulumi.com/timeoutSeconds": "1"}
    mine = manifest("v1", "ConfigMap", "c", namespace, data={"a": "b"}, metadata={"annotations": wish})
    with pytest.raises(Unfinished, match=r"waiting for jsonpath=\{\.data\.done\}=yes \(gave up after 1 s\)"):
        work(kube).create(job(mine, timeout=0), mine)


def test_a_deletion_waits_for_finalizers_and_names_them(kube: Server, namespace: str) -> None:
    inside = work(kube)
    mine = manifest("v1", "ConfigMap", "c", namespace, metadata={"finalizers": ["test/hold"]})
    id_, state = inside.create(job(mine), mine)
    with pytest.raises(ProviderError, match=r"not gone yet \(gave up after 1 s\): finalizers test/hold hold it"):
        inside.delete(job(mine, timeout=1), id_, mine, state)
    thread = threading.Thread(target=lambda: inside.delete(job(mine), id_, mine, state))
    thread.start()
    time.sleep(0.5)
    kube.patch(path(namespace), {"metadata": {"finalizers": None}})
    thread.join(10)
    assert not thread.is_alive()
    assert kube.find(path(namespace)) is None


def test_cancelling_ends_a_wait_at_once(kube: Server, namespace: str) -> None:
    inside = work(kube)
    mine = manifest("apps/v1", "Deployment", "d", namespace, spec=DEPLOYMENT)
    threading.Timer(1, inside.cluster.cancelled.set).start()
    start = time.monotonic()
    with pytest.raises(Unfinished, match="cancelled"):
        inside.create(job(mine, timeout=60), mine)
    assert time.monotonic() - start < 30


def test_every_manifest_is_validated_strictly_and_a_dry_run_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    inside = Api(Access("https://nobody", ""), threading.Event())
    monkeypatch.setattr(inside, "call", lambda *given, **_: asked.append(given[2]) or {})
    for dry in (True, False):
        apply(inside, Kind("/api/v1", "configmaps", namespaced=True), config_map("n"), "me", dry=dry, force=False)
    assert [query.get("dryRun") for query in asked] == ["All", None]
    assert {query["fieldValidation"] for query in asked} == {"Strict"}
