"""A minor version of Kubernetes for a whole cluster, from its fleet file to its last machine, while it is worked on.

    PYTHONPATH=. .venv/bin/python bench/kubernetes_update.py

A local cloud with a control plane and a pool in AWS (in Azure with `--home azure`), a pool in Azure and a host at a site;
training of which each machine runs some; and clients that write all the time. `landbridge cluster update` brings it
from the older version to the newer.
Told are the requests, how many of them failed, how long each step took, and pods that ended without being drained. It
ends with 1 where a request failed, a write was lost, or such a pod ended.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from local.kubernetes import BUILT_IN, VERSIONS
from tests.components.pools.joining_client import eventually
from tests.e2e.standing import kubectl
from tests.e2e.worlds import SUBSCRIPTION, TENANT
from tests.support import cloud as clouds
from tests.support.cloud import COMMAND, ROOT, Cloud

NEW, OLD = BUILT_IN, VERSIONS[1]
FLEET = f"""\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {{account_id: "012345678901"}}
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: {TENANT}}}
regions:
  us-west-2: {{cloud: aws, zones: [a, b, c]}}
  southcentralus: {{cloud: azure, zones: ["1", "2"]}}
sites:
  lab: {{gateways: [192.0.2.10], asn: 65010, hosts: {{host-1: {{gpus: 8, gpu: h100, cpus: 96, memory_gib: 1024}}}}}}
clusters:
  main: {{region: HOME, kubernetes: {OLD}}}
pools:
  system: {{kind: system, cluster: main, region: HOME, owner: ops, instance_type: SMALL, min: 2, max: 4}}
  west: {{kind: cpu, cluster: main, region: HOME, owner: lab, instance_type: LARGE, min: 2, max: 4}}
  south: {{kind: cpu, cluster: main, region: southcentralus, owner: lab, instance_type: Standard_D8s_v5, min: 1, max: 3}}
  site: {{kind: gpu, cluster: main, site: lab, owner: lab, hosts: [host-1]}}
teams:
  ops: {{gid: 2000}}
  lab: {{gid: 2001}}
"""
HOMES = {
    "aws": {"HOME": "us-west-2", "SMALL": "m7i.large", "LARGE": "c7i.8xlarge"},
    "azure": {"HOME": "southcentralus", "SMALL": "Standard_D4s_v5", "LARGE": "Standard_D8s_v5"},
}
POOLS = {"west": 2, "south": 1, "site": 1}
SPACE, OF = "team-lab", "bench.example.com/of"
# Between two writes of each of three writers.
PACE_SECONDS = 0.06
WITNESS = """\
import sys
from pathlib import Path
from landbridge.drill import writer
writer.PACE_SECONDS = {pace}
from tests.support.upgrade import Witness
Witness(Path(sys.argv[1])).run()
"""
Json = dict[str, Any]


def job(pool: str, machines: int) -> Json:
    """Training of a pool: pods that are drained come again, and any other end is the end of all of it."""
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {OF: pool}},
    }
    container = {"name": "train", "image": "example.com/train:1", "resources": {"limits": {"cpu": "1"}}}
    pod = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 5,
        "nodeSelector": {"landbridge.dev/pool": pool},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "topologySpreadConstraints": [spread],
        "containers": [container],
    }
    drained = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    meta = {"labels": {OF: pool}, "annotations": {"local.landbridge.dev/runs-for": "7200s"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"train-{pool}", "namespace": SPACE},
        "spec": {
            "parallelism": 2 * machines,
            "backoffLimit": 0,
            "podFailurePolicy": {"rules": [drained]},
            "template": {"metadata": meta, "spec": pod},
        },
    }


def get(cloud: Cloud, *words: str) -> Json:
    found: Json = json.loads(kubectl(cloud, "get", *words, "-o", "json"))
    return found


def pods(cloud: Cloud, pool: str) -> dict[str, Json]:
    """Those that run, by uid."""
    items = get(cloud, "-n", SPACE, "pods", "-l", f"{OF}={pool}")["items"]
    return {one["metadata"]["uid"]: one for one in items if one["status"].get("phase") == "Running"}


def all_run(cloud: Cloud, pool: str) -> bool:
    return len(pods(cloud, pool)) == 2 * POOLS[pool]


def kubelets(cloud: Cloud) -> dict[str, str]:
    return {
        one["metadata"]["name"]: one["status"]["nodeInfo"]["kubeletVersion"].removeprefix("v")
        for one in get(cloud, "nodes")["items"]
    }


def update(cloud: Cloud, *words: str) -> tuple[Json, list[tuple[float, str]]]:
    """The document, and each line of progress with when it came."""
    begun = time.monotonic()
    process = cloud.start("cluster", "update", "--local", "--json", "--yes", "--to", NEW, *words)
    assert process.stderr
    assert process.stdout
    lines = []
    for line in process.stderr:
        lines.append((time.monotonic() - begun, line.rstrip()))
        sys.stdout.write(f"{lines[-1][0]:7.1f} {lines[-1][1]}\n")
        sys.stdout.flush()
    return json.loads(process.stdout.read()), lines


def witnessed(cloud: Cloud, folder: Path) -> "subprocess.Popen[str]":
    code = WITNESS.format(pace=PACE_SECONDS)
    inside = [
        "env",
        "-C",
        str(ROOT),
        f"LANDBRIDGE_FLEET={cloud.fleet}",
        f"PYTHONPATH={ROOT}",
        sys.executable,
        "-c",
        code,
    ]
    command = [COMMAND, "local", "exec", "--", *inside, str(folder)]
    return subprocess.Popen(command, env=cloud._environment(), text=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", choices=HOMES, default="aws", help="the cloud of the control plane")
    fleet = FLEET
    for word, value in HOMES[parser.parse_args().home].items():
        fleet = fleet.replace(word, value)
    subprocess.run([sys.executable, ROOT / "tools/kubernetes_version.py", OLD], check=True)
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-") as name:
        cloud, watched = clouds.make(Path(name), fleet), Path(name) / "witness"
        watched.mkdir()
        try:
            return measured(cloud, watched)
        finally:
            cloud.stop()


def measured(cloud: Cloud, watched: Path) -> int:
    cloud.run("up", "--local", "--yes", seconds=1800)
    eventually(lambda: set(kubelets(cloud).values()) == {OLD} and len(kubelets(cloud)) == 6, 300)
    for pool, machines in POOLS.items():
        kubectl(cloud, "create", "-f", "-", stdin=json.dumps(job(pool, machines)))
        eventually(partial(all_run, cloud, pool), 180)
    before = {pool: pods(cloud, pool) for pool in POOLS}
    witness = witnessed(cloud, watched)
    eventually((watched / "ready").exists, 300)
    begun = time.monotonic()
    document, _ = update(cloud, "--wait", "--deadline", "30s")
    seconds = time.monotonic() - begun
    (watched / "stop").touch()
    witness.wait(600)
    seen = json.loads((watched / "report.json").read_text())
    after = {pool: pods(cloud, pool) for pool in POOLS}
    failed = [
        pool
        for pool in POOLS
        if (get(cloud, "-n", SPACE, "job", f"train-{pool}")["status"].get("failed") or 0) > len(before[pool])
    ]
    restarted = sum(
        one["restartCount"]
        for found in after.values()
        for pod in found.values()
        for one in pod["status"]["containerStatuses"]
    )
    beyond = len(before["site"].keys() - after["site"].keys()) + restarted
    sys.stdout.write(
        f"{OLD} to {NEW} in {seconds:.0f} s; kubelets now: {kubelets(cloud)}\n"
        f"requests: {seen['acknowledged'] + len(seen['failed'])} writes and {len(seen['versions'])} reads; "
        f"failed: {len(seen['failed'])}, lost: {len(seen['lost'])}, tried again: {seen['retries']}, "
        f"slowest {seen['slowest']:.1f} s\n"
        f"pods that ended without being drained: {beyond}; jobs that failed: {failed or 'none'}\n"
        f"left: {[one['words'] for one in document['steps'] if one['state'] != 'done'] or 'nothing'}\n"
    )
    return int(bool(seen["failed"] or seen["lost"] or beyond or failed))


if __name__ == "__main__":
    sys.exit(main())
