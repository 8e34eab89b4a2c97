"""What a pod belongs to, asked of a real API server: with runs and queues, and without their kinds."""

from functools import partial
from pathlib import Path
from typing import Any

from components.addons import definitions, jobset, kueue
from landbridge.cluster.kube import Kube
from landbridge.why.api import Api
from tests.components.addons.bed import Applying
from tests.components.addons.queueing import job
from tests.components.pools.joining_client import eventually
from tests.support.apiserver import Server, server

SPACE = "team-lab"
PODS: dict[str, Any] = {"name": "main", "count": 1, "template": {"spec": {"containers": [{"name": "a", "image": "b"}]}}}


def make(kube: Server, version: str, kind: str, name: str, spec: dict[str, Any], of: str = "") -> None:
    meta = {"name": name, "namespace": SPACE, "labels": {"kueue.x-k8s.io/job-uid": of} if of else {}}
    body = {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}
    kube.api.call("POST", f"/apis/{version}/namespaces/{SPACE}/{kind.lower()}s", {}, body)


def test_what_a_pod_belongs_to_is_asked_by_its_names(tmp_path: Path) -> None:
    run = {"name": "train-workers-0-abc", "namespace": SPACE, "labels": {"jobset.sigs.k8s.io/jobset-name": "train"}}
    pod = {"metadata": {**run, "ownerReferences": [{"kind": "Job", "name": "train-workers-0"}]}}
    bare = {"metadata": {"name": "bare", "namespace": SPACE}}
    gone = {"metadata": {**bare["metadata"], "ownerReferences": [{"kind": "Job", "name": "gone"}]}}
    with server(tmp_path, controllers=False) as kube:
        asked = Api(Kube(kube.kubeconfig()), {})
        applied = Applying(kube)
        applied({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
        for name in ("train-workers-0", "other"):
            make(kube, "batch/v1", "Job", name, job(1, 1))
        assert asked.works(pod).keys() == {"Job"}, "nobody queues there"
        for one in (
            *definitions.definitions(kueue.GROUP, kueue.ADDON),
            *definitions.definitions(jobset.GROUP, jobset.ADDON),
        ):
            if one["metadata"]["name"].startswith(("workloads.", "jobsets.")):
                applied(one)
        version = f"{jobset.GROUP}/{jobset.VERSION}"
        for served in (f"{version}/jobsets", "kueue.x-k8s.io/v1beta2/workloads"):
            eventually(partial(kube.find, f"/apis/{served}"))
        for name in ("train", "other"):
            make(kube, version, "JobSet", name, {"replicatedJobs": []})
            uid = kube.find(f"/apis/{version}/namespaces/{SPACE}/jobsets/{name}")
            assert uid
            spec = {"podSets": [PODS], "queueName": "runs"}
            make(kube, "kueue.x-k8s.io/v1beta2", "Workload", f"jobset-{name}", spec, uid["metadata"]["uid"])
        found = asked.works(pod)
        assert {kind: one["metadata"]["name"] for kind, one in found.items()} == {
            "Job": "train-workers-0",
            "JobSet": "train",
            "Workload": "jobset-train",
        }
        assert asked.works(bare) == asked.works(gone) == {}
        assert asked.blind == {}
