"""The cluster that a command works on: what its stack published, and the ways to its cloud, machines and API."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from botocore.config import Config

from components.boot.people import logins
from fleet.buckets import in_azure
from fleet.logins import by_certificate
from fleet.model import Fleet
from fleet.world import World
from landbridge import places, remote_execution
from landbridge.clouds.aws.cloud import Aws
from landbridge.clouds.aws.lookups import ClientOf, clients
from landbridge.clouds.azure.clients import Clients
from landbridge.clouds.azure.cloud import Azure
from landbridge.clouds.cloud import Bucket, Cloud
from landbridge.errors import UsageError
from landbridge.local import enter
from landbridge.places import Place
from local import client

from . import info, kubeconfig
from .info import ClusterInfo
from .kept import CLUSTER
from .kube import Kube, unchanged

# A region that is out answers nothing; whoever asks after copies should not wait minutes to hear that.
HASTY = Config(connect_timeout=5, read_timeout=15, retries={"total_max_attempts": 2})

AZURE = "azure"


@dataclass
class Session:
    """`around` makes of a command one that reaches the API's network; commands run in it already.

    `hasty` is for those who only look, see `kube.Kube`.
    """

    world: World
    place: Place
    info: ClusterInfo
    around: Callable[[list[str]], list[str]] = unchanged
    hasty: bool = False

    @cached_property
    def of(self) -> ClientOf:
        """The cloud's APIs in the cluster's home region."""
        return self.at(self.info.region)

    def at(self, region: str, config: Config | None = None) -> ClientOf:
        """The same in any region."""
        return clients_at(self.world, self.place, region, config)

    @cached_property
    def cloud(self) -> Cloud:
        """What the commands do in the cluster's home region."""
        return self._azure(self.info.region) if self.info.cloud == AZURE else Aws(self.of, self.info.region)

    def cloud_at(self, region: str, *, hasty: bool = False) -> Cloud:
        """The same in any region; `hasty`: one that may be out is not waited for."""
        return cloud_in(self.world, self.place, region, hasty=hasty)

    def _azure(self, region: str) -> Azure:
        if self.world.fleet.azure is None:  # a cluster that was brought up by another file
            where = self.world.path.name
            raise UsageError(
                f"{where}: cluster {self.info.name} stands in {region} in Azure, but the fleet names no azure account."
                " Name it as it was when the cluster came up: azure: {subscription_id: …, tenant_id: …}."
            )
        return azure_in(self.world, self.place, region)

    @property
    def bucket(self) -> Bucket:
        """The fleet bucket at home."""
        return self.cloud.bucket(self.info.bucket)

    @cached_property
    def remote(self) -> remote_execution.RemoteExecution:
        if self.place.cloud is not None:
            cloud = self.place.cloud
            return remote_execution.Local(lambda machine, argv: client.machine_command(cloud, machine, argv))

        def instances() -> Mapping[str, remote_execution.Instance]:
            return self.cloud.machines(self.info)

        fleet, comes = self.world.fleet, self.cloud.successor
        if fleet.access == "ssm" and self.info.cloud != AZURE:
            return remote_execution.Ssm(self.of("ssm"), instances)
        names = [one.name for one in logins(fleet, fleet.owner)]
        return remote_execution.Ssh(instances, names, certificates=by_certificate(fleet), successor=comes)

    @cached_property
    def admin(self) -> Kube:
        """The API as the administrator, by RBAC."""
        return Kube(kubeconfig.kubeconfig(self.info, kubeconfig.admin(self.cloud, self.info)), self.around, self.hasty)

    def break_glass(self) -> Kube:
        """The API as system:masters, past RBAC."""
        return Kube(kubeconfig.kubeconfig(self.info, kubeconfig.break_glass(self.cloud, self.info)), self.around)


def cloud_in(world: World, place: Place, region: str, *, hasty: bool = False) -> Cloud:
    """What the commands do in a region of the fleet; `hasty`: one that may be out is not waited for."""
    if in_azure(world.fleet, region):
        return azure_in(world, place, region, hasty=hasty)
    return Aws(clients_at(world, place, region, HASTY if hasty else None), region)


def azure_in(world: World, place: Place, region: str, *, hasty: bool = False) -> Azure:
    from landbridge.clouds.azure import recreate as azure_recreate  # Pulumi's engine: large

    assert world.fleet.azure is not None  # fleet.rules: no region in Azure without a subscription
    clients = Clients(world.fleet.azure.subscription_id, hasty=hasty)
    return Azure(clients, world.fleet, region, azure_recreate.at(place))


def clients_at(world: World, place: Place, region: str, config: Config | None = None) -> ClientOf:
    """The cloud's APIs in a region. The local cloud is many accounts at once, and has to be told which is meant."""
    aws = world.fleet.aws
    return clients(region, aws.account_id if aws and place.world == "local" else None, config)


def opened(world: World, cluster: str | None, *, local: bool) -> Session:
    """Raises UsageError and LandbridgeError. On the local cloud this process continues inside it: see `entering`."""
    name = chosen(world.fleet, world.path, cluster)
    place = the_place(world, local=local)
    return Session(world, place, info.read(place, name))


def chosen(fleet: Fleet, path: Path, cluster: str | None) -> str:
    """The cluster named on the command line, else by the environment, else the fleet's only one."""
    names, said = list(fleet.clusters), cluster
    cluster = cluster or os.environ.get(CLUSTER)
    if cluster is None and len(names) == 1:
        return names[0]
    known = f"Its clusters: {', '.join(names)}." if names else "It has no clusters."
    if cluster is None:
        raise UsageError(f"{path.name}: which cluster is meant? Name one with --cluster. {known}")
    if cluster not in fleet.clusters:
        why = "" if said else f", which {CLUSTER} names"
        raise UsageError(f"{path.name} has no cluster {cluster}{why}. {known}")
    return cluster


def the_place(world: World, *, local: bool) -> Place:
    """The real clouds, or the local cloud that is up: a cluster can't be in one that has yet to start.

    A fleet without `state` can be nowhere else than in a local cloud.
    """
    cloud = client.status(enter.LOCAL_HOME) if local or world.fleet.state is None else None
    if cloud is None and local:
        why = client.last_words(enter.LOCAL_HOME)
        raise UsageError(f"The local cloud is not up{f'; it {why}' if why else ''}. Run `landbridge up --local`.")
    if cloud is None:
        return places.cloud_place(world)
    if not client.inside(cloud):
        enter.enter(cloud)
    return places.local_place(world, cloud)
