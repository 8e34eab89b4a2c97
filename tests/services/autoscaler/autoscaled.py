"""The real autoscaler, scheduler and API server, our service, and the local clouds, whose machines a thread plays.

A machine that a local cloud has launched joins as a Node of its pool, and kwok plays what runs on it; the Node of one that
has ended goes, as the service that watches joining removes it. All else is the real thing.
"""

import contextlib
import json
import subprocess
import threading
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from components.addons import autoscaler, autoscaler_flags, gangs
from components.addons.spec import addons_spec
from components.pools import labels, node_template
from components.pools.spec import pool_spec
from fleet.world import World
from local.providers.kubernetes.api import ApiError
from local.workers.kwok import STAGES
from services.autoscaler import provider_ids
from tests.components.pools.joining_client import eventually
from tests.local.aws.conftest import served
from tests.local.azure.support import served as azure_served
from tests.services.autoscaler import bed
from tests.services.autoscaler.azure.side import AzureSide, Standing
from tests.services.autoscaler.bed import Cloud, Serving
from tests.services.autoscaler.noting import Noting
from tests.support.apiserver import Server, free_port, server

PAUSE_SECONDS = 0.5
# As controllers of clusters with the profile `medium` make them; by themselves they take ten seconds for a burst.
PODS_A_SECOND = 200
JOBS = "/apis/batch/v1/namespaces/default/jobs"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PODS = "/api/v1/namespaces/default/pods"
OWN_NAME = ("unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"')
# Where it differs here from what the add-on gives it: one replica, nobody waits for minutes, and groups begin empty.
FLAGS = {
    **{name: flag.value for name, flag in autoscaler_flags.FLAGS.items()},
    "leader-elect": "false",
    "enforce-node-group-min-size": "false",
    "scale-down-unneeded-time": "10s",
}


class Autoscaled:
    """`site` nodes of eight GPUs stand there from the beginning."""

    def __init__(
        self,
        folder: Path,
        kube: Server,
        cloud: Cloud,
        world: World,
        told: dict[str, Any],
        words: Sequence[str] = (),
    ) -> None:
        self.folder, self.kube, self.cloud, self.world, self.told = folder, kube, cloud, world, told
        self.service = Serving(folder / "service", cloud, told, kube, words)
        self.joined: dict[str, str] = {}
        self.over = threading.Event()
        # Machines that are launched while this is so have yet to boot.
        self.booting = False
        # Machines that have come while this was so never join.
        self.join_none = False
        # Those of these are Ready when the test says so (`say_ready`), all others when kwok does.
        self.by_hand = False
        self.lost: set[str] = set()
        self.number = 0
        self.api = kube.api
        self.noting = Noting(folder / "notes", kube, self.service.folder)
        self.player = threading.Thread(target=self.play, name="player", daemon=True)

    def people(self, site: int) -> None:
        """Who plays nodes, and who gives them pods."""
        (self.folder / "kubeconfig").write_text(self.kube.kubeconfig())
        self.kube.start(
            "kwok",
            f"--config={STAGES}",
            f"--kubeconfig={self.folder}/kubeconfig",
            "--manage-all-nodes",
            "--node-lease-duration-seconds=40",
            "-v=WARN",
        )
        self.kube.start(
            "kube-scheduler", f"--kubeconfig={self.folder}/kubeconfig", "--leader-elect=false", "--secure-port=0"
        )
        self.site = site
        for number in range(1, site + 1):
            self.join_site(number)
        self.player.start()

    def start(self, flags: dict[str, str]) -> None:
        """The autoscaler, with all that its pod has."""
        order = autoscaler.order(addons_spec(self.world.fleet, self.world.plan, bed.CLUSTER))
        ours = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": autoscaler.ORDER}}
        body = {**ours, "data": {"priorities": order}}
        self.api.call("POST", "/api/v1/namespaces/kube-system/configmaps", None, body)
        # As the add-on's pod has them: its account, and what gangs ask with.
        as_account = json.loads(self.kube.kubeconfig())
        assert self.service.account
        as_account["users"][0]["user"] = {"tokenFile": str(self.service.account / "token")}
        (self.folder / "account").write_text(json.dumps(as_account))
        self.api.call("POST", DEFINITIONS, None, gangs.definition(autoscaler.ADDON))
        eventually(lambda: self.kube.find(f"/apis/{gangs.GROUP}/{gangs.VERSION}"))
        self.flags = {
            **FLAGS,
            "kubeconfig": f"{self.folder}/account",
            **self.own_flags(),
            **flags,
        }
        self.scale()
        self.noting.start(self.flags)

    def own_flags(self) -> dict[str, str]:
        """Of the autoscaler beside this service."""
        pair = self.service.folder
        config = {
            "address": f"127.0.0.1:{self.service.port}",
            "key": f"{pair}/client.key",
            "cert": f"{pair}/client.crt",
            "cacert": f"{pair}/ca.crt",
            "grpc_timeout": json.loads(autoscaler.cloud_config())["grpc_timeout"],
        }
        (pair / "cloud.json").write_text(json.dumps(config))
        return {"cloud-config": f"{pair}/cloud.json", "address": f"127.0.0.1:{free_port()}"}

    def scale(self) -> None:
        """Starts the autoscaler, with a host name of its own: by that replicas know who leads."""
        words = [f"--{name}={value}" for name, value in self.flags.items()]
        self.kube.start("cluster-autoscaler", *words, before=[*OWN_NAME, self.service.folder.name])

    def second(self) -> tuple[Serving, subprocess.Popen[bytes]]:
        """Another replica on another node, which is the one looked at from now on; the first is given, to be ended."""
        first = self.service, self.kube.processes.pop("cluster-autoscaler")
        self.service = Serving(self.folder / "second", self.cloud, self.told, self.kube)
        self.flags |= self.own_flags()
        self.scale()
        return first

    def stop(self) -> None:
        self.over.set()
        if self.player.ident:
            self.player.join(30)
        self.noting.stop()
        self.service.stop()

    # Machines.

    def play(self) -> None:
        while not self.over.wait(PAUSE_SECONDS):
            # An outage, or an API server that starts anew: the next look finds what this one has missed.
            with contextlib.suppress(Exception):
                self.turn()

    def turn(self) -> None:
        there = {id_: found for region in self.told["region_clouds"] for id_, found in self.machines(region)}
        for id_, found in there.items():
            if self.booting or id_ in self.joined or id_ in self.lost:
                continue
            if self.join_none:
                self.lost.add(id_)
            else:
                self.join(id_, found)
        for id_ in [id_ for id_ in self.joined if id_ not in there]:
            with contextlib.suppress(ApiError):
                self.api.call("DELETE", f"/api/v1/nodes/{self.joined[id_]}")
            del self.joined[id_]

    def machines(self, region: str) -> Iterator[tuple[str, Standing]]:
        """By the names that their nodes have."""
        if self.cloud.azure and self.told["region_clouds"][region] == "azure":
            yield from self.cloud.azure.machines()
            return
        pages = self.cloud.client("autoscaling", region).get_paginator("describe_auto_scaling_instances").paginate()
        for one in (one for page in pages for one in page["AutoScalingInstances"]):
            if not one["LifecycleState"].startswith("Terminat"):
                id_, zone = one["InstanceId"], one["AvailabilityZone"]
                yield id_, Standing(one["AutoScalingGroupName"], zone, provider_ids.aws(zone, id_))

    def pool(self, group: str) -> str:
        return next(str(one["pool"]) for one in self.told["groups"] if one["name"] == group)

    def join(self, id_: str, found: Standing) -> None:
        spec = pool_spec(self.world.fleet, self.world.plan, self.pool(found.group))
        node = node_template.template(spec, found.zone, id_)
        node["spec"]["providerID"] = found.provider
        self.register(node)
        self.joined[id_] = id_

    def join_site(self, number: int) -> None:
        """Like the cloud's machines in all that the scheduler looks at, and by its labels and name the site's."""
        name, site = f"host-{number}.lab", pool_spec(self.world.fleet, self.world.plan, "site-gpu")
        west = pool_spec(self.world.fleet, self.world.plan, "west-gpu")
        node = node_template.template(west, "us-west-2a", name)
        node["metadata"]["labels"] = {**labels.labels(site), "kubernetes.io/hostname": name}
        node["spec"]["providerID"] = f"onprem:///lab/host-{number}"
        self.register(node)

    def register(self, node: dict[str, Any]) -> None:
        self.number += 1
        if not self.by_hand:
            node["spec"]["podCIDR"] = f"10.{self.number // 256}.{self.number % 256}.0/24"
        address = f"10.255.{self.number // 250}.{self.number % 250 + 1}"
        node["status"] |= {"conditions": [], "addresses": [{"type": "InternalIP", "address": address}]}
        self.api.call("POST", "/api/v1/nodes", None, node)
        if self.by_hand:
            self.say_ready(node["metadata"]["name"])

    def say_ready(self, name: str, *, ready: bool = True) -> None:
        condition = {"type": "Ready", "status": str(ready), "lastHeartbeatTime": now(), "lastTransitionTime": now()}
        self.kube.patch(f"/api/v1/nodes/{name}/status", {"status": {"conditions": [condition]}})

    # What a team does, and sees.

    def job(
        self,
        name: str,
        pods: int,
        seconds: int = 86_400,
        *,
        annotations: dict[str, str] | None = None,
        finalizers: Collection[str] = (),
        **spec: Any,
    ) -> None:
        """Of pods with eight GPUs each, unless the spec says otherwise."""
        limits = spec.pop("limits", {"nvidia.com/gpu": "8"})
        pod = {
            "restartPolicy": "Never",
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "work", "image": "example.com/work", "resources": {"limits": limits}}],
            **spec,
        }
        told = {"local.landbridge.dev/runs-for": f"{seconds}s", **(annotations or {})}
        made = {"labels": {"job": name}, "annotations": told, "finalizers": [*finalizers]}
        template = {"metadata": made, "spec": pod}
        body = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name},
            "spec": {"parallelism": pods, "completions": pods, "template": template},
        }
        self.api.call("POST", JOBS, None, body)

    def pods(self, job: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.api.call("GET", PODS, {"labelSelector": f"job={job}"})["items"]
        return found

    def nodes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.api.call("GET", "/api/v1/nodes")["items"]
        return found

    def running(self, job: str) -> int:
        return sum(one["status"].get("phase") == "Running" for one in self.pods(job))

    def cpu_job(self, name: str, pods: int, cpus: int, **more: Any) -> None:
        """For the machines without GPUs, which have 32 cores, and whose pods wait for 2 s, not for 30."""
        self.job(name, pods, limits={"cpu": str(cpus)}, nodeSelector={labels.KIND: "cpu"}, **more)

    def end(self, job: str) -> None:
        self.api.call("DELETE", f"{JOBS}/{job}", {"propagationPolicy": "Background"})

    def live(self, region: str) -> int:
        if self.told["region_clouds"][region] == "azure":
            return sum(1 for _ in self.machines(region))
        return sum(one["State"]["Name"] in ("pending", "running") for one in self.cloud.launched(region))

    def launched(self) -> dict[str, int]:
        """By the cloud's own ledger, ended ones too."""
        return {region: len(self.launched_in(region)) for region in self.told["region_clouds"]}

    def launched_in(self, region: str) -> Sequence[Any]:
        """In Azure as far as a look has met them: it forgets those that have ended."""
        azure = self.cloud.azure if self.told["region_clouds"][region] == "azure" else None
        return azure.launched() if azure else self.cloud.launched(region)

    def said(self, decision: str) -> list[dict[str, Any]]:
        return [one for one in self.service.decisions if one["decision"] == decision]

    def log(self) -> str:
        return (self.kube.folder / "cluster-autoscaler.log").read_text(errors="replace")


@contextlib.contextmanager
def autoscaled(
    folder: Path,
    site: int = 8,
    most: dict[str, int] | None = None,
    words: Sequence[str] = (),
    *,
    azure: bool = False,
    **flags: str,
) -> Iterator[Autoscaled]:
    """Runs until the end of the block. `most` are pools' maxima, `words` our service's, `flags` the autoscaler's with _
    for -. With `azure` the example's pool there is one of them.
    """
    world = bed.whole() if azure else bed.example()
    told = bed.settings(world, **(most or {}))
    with contextlib.ExitStack() as stack:
        (folder / "kube").mkdir(parents=True)
        # Taints of nodes that are not ready come off by it, and those of nodes that fell silent come on.
        kube = stack.enter_context(server(folder / "kube", also="node-lifecycle-controller", rate=PODS_A_SECOND))
        endpoint = stack.enter_context(contextlib.contextmanager(served)())
        cloud = bed.cloud(endpoint)
        if azure:
            (folder / "azure").mkdir()
            here = stack.enter_context(contextlib.contextmanager(azure_served)(folder / "azure"))
            cloud = cloud._replace(azure=AzureSide(here, world, told))
        bed.lay(cloud, world, told)
        one = Autoscaled(folder, kube, cloud, world, told, words)
        stack.callback(one.stop)
        one.people(site)
        one.start({name.replace("_", "-"): value for name, value in flags.items()})
        yield one


def now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def timeline(one: Autoscaled, since: float, decisions: Collection[str] = ("grow", "refused")) -> list[str]:
    """Lines for people: what was asked for and refused, and when."""
    lines = []
    for told in one.service.decisions:
        if told["decision"] in decisions:
            when = datetime.fromisoformat(told["at"]).replace(tzinfo=UTC).timestamp() - since
            lines.append(f"{when:6.1f} s  {told['decision']:8} {told['group']:24} {told['machines']:4}")
    return lines
