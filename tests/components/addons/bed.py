"""Clusters of fleets for tests of add-ons, and a real API server that takes their manifests."""

import datetime
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from components.addons import addons
from components.addons.manifests import Manifest
from components.addons.spec import AddOnsSpec, addons_spec
from components.storage.mounts import FileSystem
from fleet.address.plan import draft
from fleet.loader import load
from fleet.model import Fleet, TeamQueue
from fleet.monitoring_model import Logs, Monitoring, OwnAlarm, Receiver, RemoteWrite
from fleet.world import World, current
from local.providers.kubernetes.api import APPLY
from local.providers.kubernetes.discovery import Discovery
from tests.components.links.bed import in_aws as of_aws
from tests.support.apiserver import Server

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent
BORN = datetime.date(2026, 1, 1)
REGIONS = ("eu-west-1", "us-east-1", "us-west-2")


def spec(path: Path = ROOT / "fleet.yaml", cluster: str = "main", regions: tuple[str, ...] = REGIONS) -> AddOnsSpec:
    """The example's cluster with all that measures, and with file systems such as region stacks publish."""
    world = current(path)
    systems = {region: file_system(world, region) for region in regions}
    return addons_spec(measured(world.fleet), world.plan, cluster, systems)


def measured(fleet: Fleet) -> Fleet:
    """With one receiver of each kind, an alarm of its own, a place that keeps for longer, sites that keep their own, and logs."""
    mail = {"to": "lab@example.com", "sender": "alarms@example.com", "server": "smtp.example.com:587"}
    receivers = {
        "on-call": Receiver(kind="pagerduty", severities=["page"]),
        "channel": Receiver(kind="slack", owners=["operators"]),
        "research": Receiver(kind="email", owners=["research"], **mail),
        "witness": Receiver(kind="webhook", watchdog=True),
    }
    alarms = {"LossIsNaN": OwnAlarm(when="training_loss != training_loss", owner="research", says="It is no number.")}
    to = RemoteWrite(url="https://metrics.example.com/api/v1/write")
    more = {"logs": Logs(), "metrics_api": True, "keep_at_sites": True}
    monitoring = Monitoring(receivers=receivers, alarms=alarms, remote_write=to, **more)
    return fleet.model_copy(update={"monitoring": monitoring})


def file_system(world: World, region: str) -> FileSystem:
    shares = {share: f"fs-{region}::fsap-{share}" for share in world.fleet.storage.shares}
    homes = {person: f"fs-{region}::fsap-home-{person}" for person in world.fleet.people}
    return FileSystem(region, shares, homes, world.plan.region(region).zones["a"].addresses["shares"])


def both() -> World:
    """A fleet in AWS and in Azure, with a cluster at home in each that has nodes in both."""
    fleet = load(HERE / "azure.yaml")
    made = draft(fleet, None, BORN)
    assert not made.refusals
    return World(fleet, made.plan, HERE / "azure.yaml")


def in_aws(example: AddOnsSpec) -> AddOnsSpec:
    """The example's part in AWS."""
    fleet = of_aws(example.fleet)
    return example._replace(fleet=fleet, pools=tuple(one for one in example.pools if one.name in fleet.pools))


def with_queues(of: AddOnsSpec) -> AddOnsSpec:
    """Every team owns GPUs of the cluster, and the first one lends some of its own alone."""
    own = TeamQueue(gpus=16)
    teams = {name: team.model_copy(update={"queues": {of.cluster.name: own}}) for name, team in of.fleet.teams.items()}
    first = next(iter(teams))
    teams[first] = teams[first].model_copy(update={"queues": {of.cluster.name: TeamQueue(gpus=8, borrows=24, lends=4)}})
    fleet = of.fleet.model_copy(update={"teams": teams})
    return of._replace(fleet=fleet, cluster=of.cluster._replace(queues=True))


def with_spares(example: AddOnsSpec, **counts: int) -> AddOnsSpec:
    """Of pools by their names with _ for -, and of no others."""
    named = {name.replace("_", "-"): count for name, count in counts.items()}
    pools = {name: pool.model_copy(update={"spares": named.get(name, 0)}) for name, pool in example.fleet.pools.items()}
    return example._replace(fleet=example.fleet.model_copy(update={"pools": pools}))


def every(of: AddOnsSpec) -> list[Manifest]:
    return [manifest for made in addons.manifests(of).values() for manifest in made]


def named(manifests: list[Manifest], kind: str, name: str) -> Manifest:
    (found,) = [one for one in manifests if (one["kind"], one["metadata"]["name"]) == (kind, name)]
    return found


def asks(manifests: list[Manifest]) -> bool:
    """Whether somebody among them has a token of the API."""
    return any(one["kind"] == "ServiceAccount" and one.get("automountServiceAccountToken", True) for one in manifests)


def pods(manifests: list[Manifest]) -> Iterator[tuple[str, Manifest]]:
    """Name and pod of every workload."""
    for one in manifests:
        if "template" in one.get("spec", {}):
            yield one["metadata"]["name"], one["spec"]["template"]["spec"]


class Applying:
    """Server-side apply with strict validation, as the kubernetes provider does it."""

    def __init__(self, server: Server) -> None:
        self.api, self.discovery = server.api, Discovery(server.api)

    def path(self, manifest: Mapping[str, Any]) -> str:
        deadline = time.monotonic() + 20
        # A definition's kind is served a moment after it was taken.
        while (kind := self.discovery.find(manifest["apiVersion"], manifest["kind"])) is None:
            assert time.monotonic() < deadline, f"no kind {manifest['apiVersion']} {manifest['kind']}"
            time.sleep(0.2)
        metadata = manifest["metadata"]
        return kind.path(metadata.get("namespace", ""), metadata["name"])

    def __call__(self, manifest: Manifest, *, dry: bool = False) -> dict[str, Any]:
        query = {"fieldManager": "addons", "fieldValidation": "Strict", **({"dryRun": "All"} if dry else {})}
        return self.api.call("PATCH", self.path(manifest), query, manifest, APPLY)
