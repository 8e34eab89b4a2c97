"""Queues in a whole cluster: Kueue and JobSet as the stack installs them, webhooks included, and work of others beside."""

import re
from functools import partial
from typing import Any

import pytest
from ruamel.yaml import YAML

from components.addons import queues, system_pods
from components.pools import labels
from tests.components.pools.joining_client import eventually
from tests.support.cloud import ROOT

from .queued import QUEUED, READY_SECONDS, SPACE, WITHOUT, Queued

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
# Those that know of queues: their webhooks are asked by API machines, and answer on system machines.
STACKS = ("main", "system", "main-addons")
CONTROLLERS = ("kueue", "jobset")
GUIDE = ROOT / "docs/guide/queues.md"


def jobset(name: str, hosts: int) -> dict[str, Any]:
    """The one of the guide, whose author knows nothing of queues but their name."""
    (text,) = re.findall(r"^```\n(apiVersion: jobset.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    made: dict[str, Any] = YAML(typ="safe").load(text)
    made["metadata"] |= {"name": name, "namespace": "team-lab"}
    job = made["spec"]["replicatedJobs"][0]["template"]["spec"]
    job |= {"parallelism": hosts, "completions": hosts}
    # Pods that are played say here how long they run.
    job["template"]["metadata"] = {"annotations": {"local.landbridge.dev/runs-for": "1s"}}
    return made


def conditions(queued: Queued, name: str) -> dict[str, str]:
    found = queued.get("-n", "team-lab", "jobset", name).get("status", {}).get("conditions") or []
    return {one["type"]: one["status"] for one in found}


def test_a_run_is_let_in_as_a_whole_and_runs_at_the_site(queued: Queued) -> None:
    queued.make(jobset("pair", hosts=2))
    eventually(lambda: conditions(queued, "pair").get("Completed") == "True", 180)
    (workload,) = [
        one
        for one in queued.get("-n", "team-lab", "workloads")["items"]
        if one["metadata"]["ownerReferences"][0]["name"] == "pair"
    ]
    (parts,) = workload["status"]["admission"]["podSetAssignments"]
    assert parts["flavors"] == {"nvidia.com/gpu": "lab", queues.TEAM_GPUS: queues.OF_TEAMS}


def test_what_goes_to_a_region_begins_when_its_machines_are_bought(queued: Queued) -> None:
    """The autoscaler is asked for them before there is any pod, so nothing that admission gives pods helps there."""
    made = jobset("bought", hosts=2)
    pod = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["nodeSelector"] = {labels.PLACE: "us-east-1"}
    queued.make(made)
    eventually(lambda: conditions(queued, "bought").get("Completed") == "True", 300)
    assert len(queued.get("nodes", "-l", f"{labels.POOL}=east-gpu")["items"]) == 2


def test_what_is_over_the_quota_waits_and_is_told_why(queued: Queued) -> None:
    queued.make(jobset("large", hosts=3))

    def look() -> dict[str, Any]:
        return dict(queued.cloud.report("queue", "--local"))

    (run,) = eventually(lambda: [one for one in look()["runs"] if one["name"] == "large"], 60)
    assert (run["state"], run["gpus"], run["ahead"]) == ("waits", 24, 0)
    assert run["why"] == "never: it asks for 24 GPUs, and lab may hold 16: it owns 16 and may borrow none"
    (place,) = [one for one in look()["places"] if one["place"] == "lab"]
    assert (place["gpus"], place["free"]) == (16, 16)
    assert queued.get("-n", "team-lab", "jobset", "large")["spec"]["suspend"] is True
    assert not queued.get("-n", "team-lab", "pods", "-l", "jobset.sigs.k8s.io/jobset-name=large")["items"]
    queued.kubectl("-n", "team-lab", "delete", "jobset", "large")


def test_while_the_controllers_are_down_nothing_waits_but_what_is_theirs(queued: Queued) -> None:
    for name in CONTROLLERS:
        queued.kubectl("-n", SPACE, "scale", "deployment", name, "--replicas=0")
    eventually(lambda: not queued.get("-n", SPACE, "pods")["items"], 120)
    pod = {"containers": [{"name": "main", "image": "example.com/plain:1"}]}
    job = {"template": {"spec": {**pod, "restartPolicy": "Never"}}}
    for space in ("team-ops", "team-lab", "default", "kube-system"):
        meta = {"name": "plain", "namespace": space}
        queued.make({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod})
        queued.make({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": job})
        labels = {"matchLabels": {"app": "plain"}}
        template = {"metadata": {"labels": labels["matchLabels"]}, "spec": pod}
        spec = {"selector": labels, "template": template}
        queued.make({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec})
        queued.kubectl("-n", space, "delete", "pod,job,deployment", "plain", "--wait=false")
    meta = {"name": "queued", "namespace": "team-lab", "labels": {queues.QUEUE_LABEL: queues.QUEUE}}
    assert "mjob.kb.io" in queued.refused({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": job})
    assert "jobset.kb.io" in queued.refused(jobset("refused", hosts=1))
    for name in CONTROLLERS:
        queued.kubectl("-n", SPACE, "scale", "deployment", name, f"--replicas={system_pods.REPLICAS}")
        eventually(partial(queued.ready, name), READY_SECONDS)
    queued.make(jobset("again", hosts=1))
    eventually(lambda: conditions(queued, "again").get("Completed") == "True", 180)


def test_a_second_run_changes_nothing(queued: Queued) -> None:
    found = queued.cloud.report("up", "main-addons", "--local", "--yes", "--full", "--refresh", "--expect-no-changes")
    assert [one["result"] for one in found["stacks"]] == ["unchanged"]


def test_a_team_s_queue_goes_and_comes_with_its_line_in_the_fleet_file(queued: Queued) -> None:
    """The last of all: nobody queues any more, and no definition, right or webhook is left."""
    works = jobset("works", hosts=1)
    pod = works["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod["metadata"] = {"annotations": {"local.landbridge.dev/runs-for": "3600s"}}
    queued.make(works)
    eventually(lambda: queued.get("-n", "team-lab", "jobset", "works")["spec"]["suspend"] is False, 60)
    queued.cloud.fleet.write_text(WITHOUT)
    refused = queued.cloud.run("up", *STACKS, "--local", "--yes", seconds=900, code=4)
    assert "the run deletes queues of lab." in " ".join((refused.stdout + refused.stderr).split())
    by_consent = ("up", *STACKS, "--local", "--yes", "--ignore", "runs")
    held = " ".join(queued.cloud.run(*by_consent, seconds=900, code=4).stderr.split())
    assert "the run deletes the queue of jobset/works in team-lab, which holds 8 GPUs. Kueue keeps it" in held
    (remedy,) = re.findall(r"`landbridge ([^`]*)`", held)
    assert remedy.startswith("kubectl --cluster main --local")
    assert remedy.endswith("--namespace team-lab delete jobset/works")
    queued.kubectl(*remedy.split()[1:])
    queued.cloud.run(*by_consent, seconds=900)
    kinds = "mutatingwebhookconfigurations,validatingwebhookconfigurations,crd,clusterroles"
    left = queued.kubectl("get", kinds, "-o", "name").split()
    assert not [one for one in left if "kueue" in one or "jobset" in one]
    assert not [one for one in queued.kubectl("get", "namespaces", "-o", "name").split() if SPACE in one]
    queued.cloud.fleet.write_text(QUEUED)
    queued.cloud.run("up", *STACKS, "--local", "--yes", seconds=900)
    eventually(lambda: queued.ready("kueue") and queued.ready("jobset"), READY_SECONDS)
    queued.make(jobset("anew", hosts=1))
    eventually(lambda: conditions(queued, "anew").get("Completed") == "True", 180)
