"""What a world of all kinds of stacks is when it is saved, and what must be the same whatever happens to it."""

import json
import subprocess
from typing import Any

from local import client
from tests.components.pools.joining_client import eventually
from tests.support import saved
from tests.support.cloud import COMMAND, Cloud

# Beside the fleet file of a saved world: its facts, and the report of its first up.
FACTS, UP = "facts", "up"
BUCKET = "kept-objects"
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "worker", "annotations": {"local.landbridge.dev/runs-for": "2h"}},
    "spec": {"containers": [{"name": "main", "image": "registry.example.com/train:1"}], "restartPolicy": "Never"},
}


def bring_up(cloud: Cloud) -> None:
    """With a pod at work and a bucket; notes down what there is."""
    cloud.run("preview", "--local", "us-west-2")
    saved.note(cloud, UP, cloud.report("up", "--local", "--yes", seconds=1200))
    kubectl(cloud, "apply", "-f", "-", stdin=json.dumps(POD))
    eventually(lambda: phase(cloud) == "Running", 240)
    cloud.python(f"client('s3', 'us-east-1').create_bucket(Bucket='{BUCKET}')")
    saved.note(cloud, FACTS, facts(cloud))


def kubectl(cloud: Cloud, *words: str, stdin: str = "", code: int | None = 0, seconds: float = 120) -> str:
    command = [COMMAND, "kubectl", "--fleet", str(cloud.fleet), "--local", *words]
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, env=cloud._environment(), check=False, timeout=seconds
    )
    assert code is None or done.returncode == code, done.stderr
    return done.stdout if done.returncode == 0 else ""


def facts(cloud: Cloud) -> dict[str, Any]:
    """What must be the same afterwards: all ids, and who is who in the cluster."""
    told = json.loads(kubectl(cloud, "get", "nodes,pods", "--all-namespaces", "-o", "json"))["items"]
    uids = {one["metadata"]["name"]: one["metadata"]["uid"] for one in told if not owned(one)}
    inventory = cloud.inventory()
    return {
        "objects": sorted(
            key for account in inventory.values() for one in account.values() for key in one.pop("s3 objects", ())
        ),
        "inventory": inventory,
        "uids": uids,
        "machines": sorted((one["machine"], one["instance"], one["address"]) for one in machines(cloud)),
    }


def owned(one: dict[str, Any]) -> bool:
    """A controller's pods come and go."""
    return one["kind"] == "Pod" and bool(one["metadata"].get("ownerReferences"))


def machines(cloud: Cloud) -> list[dict[str, Any]]:
    return [one for one in client.machine_list(cloud.home / "local") if one["state"] != "terminated"]


def phase(cloud: Cloud) -> str:
    return kubectl(
        cloud, "get", "pod", "worker", "-o", "jsonpath={.status.phase}", "--request-timeout", "5s", code=None
    )
