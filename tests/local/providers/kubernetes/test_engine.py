"""The kubernetes plugin on the real engine and a real API server: from the first preview to a destroy that leaves nothing."""

import json
import signal
import time

import pytest

from tests.local.providers.kubernetes.bed import Project
from tests.support.apiserver import Server, free_port, pods_ready

pytestmark = pytest.mark.cloud

BASE = """\
ns = k8s.core.v1.Namespace("ns", metadata={"name": NAMESPACE}, opts=opts)
secret = k8s.core.v1.Secret("secret", metadata={"name": "s", "namespace": NAMESPACE},
    string_data={"password": "hush-hush-42"}, opts=ResourceOptions(provider=cluster, depends_on=[ns]))
definition = k8s.apiextensions.v1.CustomResourceDefinition("crd", metadata={"name": f"gadgets.{NAMESPACE}.test"},
    spec={"group": f"{NAMESPACE}.test", "scope": "Namespaced", "names": {"kind": "Gadget", "plural": "gadgets"},
          "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"open_apiv3_schema": {
              "type": "object", "properties": {"spec": {"type": "object", "properties": {
                  "size": {"type": "integer"}, "any": {"x_kubernetes_preserve_unknown_fields": True}}}}}}}]}, opts=opts)
gadget = k8s.apiextensions.CustomResource("gadget", api_version=f"{NAMESPACE}.test/v1", kind="Gadget",
    metadata={"name": "g", "namespace": NAMESPACE}, spec={"size": 3},
    opts=ResourceOptions(provider=cluster, depends_on=[ns]))
app = k8s.apps.v1.Deployment("app", metadata={"name": "app", "namespace": NAMESPACE},
    spec={"replicas": 2, "selector": {"match_labels": {"app": LABEL}},
          "template": {"metadata": {"labels": {"app": LABEL}},
                       "spec": {"containers": [{"name": "c", "image": IMAGE, "resources": {"limits": {"cpu": "1000m"}}}]}}},
    opts=ResourceOptions(provider=cluster, depends_on=[ns]))
service = k8s.core.v1.Service("service", metadata={"namespace": NAMESPACE},
    spec={"selector": {"app": LABEL}, "ports": [{"port": 80}]}, opts=ResourceOptions(provider=cluster, depends_on=[app]))
pulumi.export("address", service.spec.cluster_ip)
pulumi.export("available", app.status.available_replicas)
pulumi.export("name", service.metadata.name)
"""


def head(namespace: str, image: str = "one", label: str = "app") -> str:
    return f"NAMESPACE, IMAGE, LABEL = {namespace!r}, {image!r}, {label!r}\n"


def test_a_life_from_preview_to_nothing(project: Project, kube: Server) -> None:
    name = "life"
    project.program(head(name) + BASE)
    said = project.preview()
    assert "+ 8 to create" in said
    assert "hush-hush-42" not in said
    assert kube.find(f"/api/v1/namespaces/{name}") is None

    with pods_ready(kube):
        assert "+ 8 created" in project.up()
        outputs = json.loads(project.pulumi("stack", "output", "--json"))
        assert outputs["address"].startswith("10.1.0.")
        assert outputs["available"] == 2
        assert outputs["name"].startswith("service-")
        state = project.state()
        assert "hush-hush-42" not in state
        assert "aHVzaC1odXNoLTQy" not in state  # the same in base64
        assert "client-key-data" not in state
        project.up("--expect-no-changes")
        project.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes")

        project.program(head(name, image="two") + BASE)
        said = project.preview()
        assert "~ 1 to update" in said
        assert '"one" => "two"' in said
        assert "~ 1 updated" in project.up()
        live = kube.find(f"/apis/apps/v1/namespaces/{name}/deployments/app")
        assert live is not None
        assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "two"

        # A selector can't be changed: the API server says so, at preview.
        project.program(head(name, image="two", label="other") + BASE)
        said = project.preview()
        assert "1 to replace" in said
        assert "spec" in said
        assert "1 replaced" in project.up()
        replaced = kube.find(f"/apis/apps/v1/namespaces/{name}/deployments/app")
        assert replaced is not None
        assert replaced["metadata"]["uid"] != live["metadata"]["uid"]
        project.up("--expect-no-changes")

        project.destroy()
    assert kube.find(f"/api/v1/namespaces/{name}") is None
    assert kube.find(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.{name}.test") is None


PLAIN = 'k8s.core.v1.ConfigMap("c", metadata={"name": "c", "namespace": NAMESPACE}, data={"a": VALUE}, opts=opts)\n'


def plain(namespace: str, value: str) -> str:
    return f"NAMESPACE, VALUE = {namespace!r}, {value!r}\n" + PLAIN


def test_a_cluster_that_is_not_up_yet(project: Project, kube: Server, namespace: str) -> None:
    good = (project.folder / "kubeconfig").read_text()
    away = f"https://127.0.0.1:{free_port()}"
    (project.folder / "kubeconfig").write_text(good.replace(kube.url, away))
    project.program(plain(namespace, "1"))
    said = project.preview()
    assert "+ 3 to create" in said
    assert f"{away} does not answer" in said
    assert "goes on without asking the API server" in said
    said = project.up(code=None)
    assert f"kubernetes:core/v1:ConfigMap c: {away} does not answer" in said
    assert "Bring the cluster up" in said
    assert "Traceback" not in said

    # The other way not to know it: it comes out of a resource that this very run makes.
    later = 'first = k8s.core.v1.ConfigMap("f", metadata={"name": "f", "namespace": NAMESPACE}, opts=opts)\n'
    later += 'text = first.metadata.uid.apply(lambda _: open("kubeconfig").read())\n'
    later += 'opts = ResourceOptions(provider=k8s.Provider("later", kubeconfig=text))\n'
    (project.folder / "kubeconfig").write_text(good)
    project.program(f"NAMESPACE, VALUE = {namespace!r}, '1'\n" + later + PLAIN)
    assert "to create" in project.preview()
    project.up()
    project.up("--expect-no-changes")

    # Gone for good: its objects leave the state when the provider may say so.
    (project.folder / "kubeconfig").write_text(good.replace(kube.url, away))
    said = project.pulumi("refresh", "--yes", "--skip-preview", "--run-program", code=None)
    assert "delete_unreachable=True" in said
    project.program(f"NAMESPACE, VALUE = {namespace!r}, '1'\n", "delete_unreachable=True")
    project.pulumi("refresh", "--yes", "--skip-preview", "--run-program")


def test_conflicts_drift_and_replacement_under_one_name(project: Project, kube: Server, namespace: str) -> None:
    where = f"/api/v1/namespaces/{namespace}/configmaps/c"
    mutable = "enable_config_map_mutable=True"
    project.program(plain(namespace, "1"), mutable)
    project.up()
    before = kube.find(where)
    kube.patch(where, {"data": {"a": "drifted", "more": "theirs"}}, {"fieldManager": "somebody"})
    assert '~ a: "drifted" => "1"' in project.preview("--refresh", code=None)
    project.program(plain(namespace, "2"), mutable)
    for said in (project.preview(code=None), project.up(code=None)):
        assert f"conflict: ConfigMap {namespace}/c was not changed: data.a is managed by somebody" in said
        assert 'pulumi.com/patchForce: "true"' in said
        assert "Traceback" not in said
    project.program(plain(namespace, "2"), mutable + ", enable_patch_force=True")
    assert "~ 2 updated" in project.up()  # the provider and the object
    live = kube.find(where)
    assert before is not None
    assert live is not None
    assert live["data"]["a"] == "2"
    assert live["metadata"]["uid"] == before["metadata"]["uid"]

    project.program(plain(namespace, "3"))
    said = project.preview()
    assert "1 to replace" in said
    assert "1 replaced" in project.up()
    live = kube.find(where)
    assert live is not None
    assert live["data"] == {"a": "3"}
    assert live["metadata"]["uid"] != before["metadata"]["uid"]
    project.destroy()
    assert kube.find(where) is None


APP = """\
k8s.apps.v1.Deployment("app", metadata={"name": "app", "namespace": NAMESPACE},
    spec={"selector": {"match_labels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}},
          "spec": {"containers": [{"name": "c", "image": "i"}]}}},
    opts=ResourceOptions(provider=cluster, custom_timeouts=pulumi.CustomTimeouts(create=SECONDS, update=SECONDS)))
"""


def test_what_was_not_ready_is_waited_for_again(project: Project, kube: Server, namespace: str) -> None:
    project.program(f"NAMESPACE, SECONDS = {namespace!r}, '3s'\n" + APP)
    said = project.up(code=None)
    assert f"Deployment {namespace}/app is in the cluster, but not ready: " in said
    assert "gave up after 3 s" in said
    assert "Traceback" not in said
    with pods_ready(kube):
        project.program(f"NAMESPACE, SECONDS = {namespace!r}, '60s'\n" + APP)
        assert "~ 1 updated" in project.up()
        project.up("--expect-no-changes")
        project.destroy()


def test_an_interrupt_ends_the_wait_and_keeps_the_object(project: Project, kube: Server, namespace: str) -> None:
    project.program(f"NAMESPACE, SECONDS = {namespace!r}, '120s'\n" + APP)
    running = project.start("up", "--yes", "--skip-preview")
    deadline = time.monotonic() + 200
    while kube.find(f"/apis/apps/v1/namespaces/{namespace}/deployments/app") is None:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    start = time.monotonic()
    said, _ = running.communicate(timeout=200)
    assert time.monotonic() - start < 60
    assert " (cancelled)" in said
    assert "Deployment::app" in project.state()
    project.destroy()
    assert kube.find(f"/apis/apps/v1/namespaces/{namespace}/deployments/app") is None


def test_what_the_api_would_refuse_is_told_at_preview(project: Project, namespace: str) -> None:
    project.program(plain(namespace, "1").replace('"name": "c"', '"name": "UPPER"'))
    said = project.preview(code=None)
    assert f"ConfigMap c: the API server refused to create ConfigMap {namespace}/UPPER: metadata.name: " in said
    project.program(plain(namespace, "1").replace('"name": "c"', '"name": "c", "lables": {}'))
    assert "no such property: did you mean labels?" in project.preview(code=None)


DATA = """\
manifests = [
    {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a", "namespace": NAMESPACE}},
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "a", "namespace": NAMESPACE},
     "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
]
for one in manifests:
    module = one["apiVersion"] if "/" in one["apiVersion"] else f"core/{one['apiVersion']}"
    pulumi.CustomResource(f"kubernetes:{module}:{one['kind']}", one["kind"], one, opts)
got = k8s.core.v1.Namespace.get("got", NAMESPACE, opts=opts)
pulumi.export("phase", got.status.phase)
k8s.core.v1.NamespacePatch("labels", metadata={"name": NAMESPACE, "labels": {"added": "yes"}}, opts=opts)
"""


def test_manifests_as_data_patches_and_what_others_made(project: Project, kube: Server, namespace: str) -> None:
    project.program(f"NAMESPACE = {namespace!r}\n" + DATA)
    project.up()
    project.up("--expect-no-changes")
    there = kube.find(f"/api/v1/namespaces/{namespace}")
    assert there is not None
    assert there["metadata"]["labels"]["added"] == "yes"
    assert project.pulumi("stack", "output", "phase").strip() == "Active"
    project.destroy()
    there = kube.find(f"/api/v1/namespaces/{namespace}")
    assert there is not None
    assert "added" not in there["metadata"]["labels"]
    assert kube.find(f"/api/v1/namespaces/{namespace}/serviceaccounts/a") is None
