"""The fleet of the day, machines of two clouds and a site, and what can be done to it."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from components.pools import labels
from tests.e2e.queued import Queued
from tests.e2e.researcher import Researcher
from tests.e2e.worlds import SUBSCRIPTION, TENANT
from tests.support.cloud import Cloud

FLEET = f"""\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {{account_id: "012345678901"}}
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: {TENANT}}}
images: {{runs: registry.example.com/train:1}}
regions:
  us-west-2: {{cloud: aws, zones: [a, b, c]}}
  southcentralus: {{cloud: azure, zones: ["1"]}}
sites:
  lab:
    gateways: [192.0.2.10]
    asn: 65010
    nfs: host-1
    hosts:
      host-1: &host {{gpus: 8, gpu: h100, cpus: 96, memory_gib: 1024}}
      host-2: *host
      host-3: *host
storage:
  shares: {{homes: {{path: /homes}}, results: {{path: /results}}}}
clusters:
  main: {{region: us-west-2, kubernetes: 1.36.2}}
pools:
  site-gpu: {{kind: gpu, cluster: main, site: lab, owner: lab, hosts: [host-1, host-2, host-3]}}
  west: {{kind: gpu, cluster: main, region: us-west-2, owner: lab, instance_type: p5.48xlarge, gpus: 8, min: 2, max: 4}}
  south: {{kind: gpu, cluster: main, region: southcentralus, owner: lab, instance_type: Standard_ND96isr_H100_v5, gpus: 8,
          min: 2, max: 4}}
  system: {{kind: system, cluster: main, region: us-west-2, owner: ops, instance_type: m7i.large, zones: [a, b], min: 2,
           max: 4}}
teams:
  ops: {{gid: 2000}}
  lab: {{gid: 2001, queues: {{main: {{gpus: 32, borrows: 0}}}}}}
people:
  ann: {{uid: 3001, team: lab}}
"""
PLACES = {"lab": "site-gpu", "us-west-2": "west", "southcentralus": "south"}
# The host that serves the shares stays up.
SERVER = "host-1.lab"
TEAM = "team-lab"
WAITS = "trap 'exit 143' TERM; while :; do sleep 60 & wait; done"
# Kubernetes waits five minutes before it gives up on pods of a silent node.
GIVES_UP_SECONDS = 10


def pod(name: str, node: str, program: str = WAITS, *, space: str = TEAM, **more: Any) -> dict[str, Any]:
    """A real process on one node. What `more` has of the container goes there."""
    # To Kubernetes two dollars are one.
    command = ["sh", "-c", program.replace("$", "$$")]
    container = {"name": "run", "image": "registry.example.com/train:1", "command": command}
    of_container = ("livenessProbe", "resources")
    container |= {key: more.pop(key) for key in of_container if key in more}
    gone = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    spec = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 5,
        "nodeSelector": {"kubernetes.io/hostname": node},
        "tolerations": [
            {"key": labels.GPU_TAINT.key, "operator": "Exists"},
            *(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": GIVES_UP_SECONDS}
                for key in gone
            ),
        ],
        "containers": [container],
        **more,
    }
    meta = {"name": name, "namespace": space, "labels": {"landbridge.dev/run": name, "day": name}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def job(name: str, template: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Of pods like `template`."""
    meta = {"name": name, "namespace": template["metadata"]["namespace"]}
    inside = {"metadata": {"labels": template["metadata"]["labels"]}, "spec": template["spec"]}
    spec = {"backoffLimit": 0, "template": inside, **more}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}


def until(look: Callable[[], Any], seconds: float, what: str) -> Any:
    """What `look` gives once it is something. Raises AssertionError."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not after {seconds:.0f} s")
        time.sleep(1)
    return found


class World(Queued):
    def __init__(self, cloud: Cloud, ann: Researcher) -> None:
        super().__init__(cloud)
        self.ann = ann

    def make_all(self, made: Sequence[dict[str, Any]]) -> None:
        self.kubectl("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [*made]}))

    def nodes(self, place: str) -> list[str]:
        """Ready ones that take pods."""
        listed = self.get("nodes", "-l", f"{labels.POOL}={PLACES[place]}")["items"]
        return sorted(
            one["metadata"]["name"]
            for one in listed
            if not one["spec"].get("unschedulable")
            and not [taint for taint in one["spec"].get("taints", []) if taint["key"] != labels.GPU_TAINT.key]
            and any(c["type"] == "Ready" and c["status"] == "True" for c in one["status"]["conditions"])
        )

    def machine(self, node: str) -> str:
        """What the cloud calls it."""
        return str(self.get("node", node)["spec"].get("providerID", ""))

    def phases(self) -> dict[tuple[str, str], str]:
        """Of all pods of the day: namespace and name → phase, or `ends` of one that is told to."""
        items = self.get("pods", "--all-namespaces", "-l", "landbridge.dev/run")["items"]
        return {
            (one["metadata"]["namespace"], one["metadata"]["name"]): (
                "ends" if "deletionTimestamp" in one["metadata"] else one["status"]["phase"]
            )
            for one in items
        }

    def await_phase(self, pods: Iterable[tuple[str, str]], phases: set[str], seconds: float) -> None:
        """`gone` is the phase of what is not there."""
        wanted = set(pods)
        missing = set[tuple[str, str]]()

        def there() -> bool:
            found = self.phases()
            missing.clear()
            missing.update(one for one in wanted if found.get(one, "gone") not in phases)
            return not missing

        try:
            until(there, seconds, f"{phases}")
        except AssertionError as error:
            raise AssertionError(f"{error} of {sorted(missing)}") from None
