"""The example fleet's pools in AWS, in the local one, and a real API server; kubelets are played."""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
from botocore.config import Config

from components.pools.aws.hooks import TERMINATION
from components.pools.names import Names
from fleet import image_names
from fleet.world import World
from landbridge.clouds.aws.lookups import ClientOf
from landbridge.cluster.kube import Kube
from landbridge.cluster.session import Session
from landbridge.places import Place
from local import standins
from tests.components.links.bed import example_in_aws
from tests.local.aws.conftest import asker, clients, served
from tests.support.apiserver import server

from .kubelets import Kubelets

ROOT = Path(__file__).parents[3]
Run = Callable[..., tuple[int, Any]]
# Pools whose machines join as nodes.
PLAYED = ("west-gpu", "cpu", "system", "eu-gpu")
PLACE = Place("local", ROOT, "file:///dev/null", "passphrase", ROOT)


class Here(Session):
    """A session whose cloud is the local AWS on loopback."""

    def __init__(self, world: World, endpoint: str, config: str) -> None:
        super().__init__(world, PLACE, SimpleNamespace(name="main", region="us-west-2"))  # type: ignore[arg-type]
        self.make, self.config = cache(clients(endpoint)), config

    def at(self, region: str, config: Config | None = None) -> ClientOf:
        return lambda service: self.make(service, region)

    @cached_property
    def admin(self) -> Kube:
        return Kube(self.config)


@dataclass
class Bed(Kubelets):
    session: Here
    endpoint: str

    def fault(self, *faults: dict[str, Any]) -> None:
        asker(self.endpoint)("faults", list(faults))

    def groups(self, pool: str) -> list[dict[str, Any]]:
        names = Names(self.session.world.fleet)
        scaling = self.session.at(self.session.world.fleet.pools[pool].region or "")("autoscaling")
        told = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=list(names.groups(pool)))
        return sorted(told["AutoScalingGroups"], key=lambda group: str(group["AutoScalingGroupName"]))

    def machines(self, pool: str) -> list[str]:
        """Newest first."""
        found = [one["InstanceId"] for group in self.groups(pool) for one in group["Instances"]]
        if not found:
            return []
        ec2 = self.session.at(self.session.world.fleet.pools[pool].region or "")("ec2")
        told = [i for r in ec2.describe_instances(InstanceIds=found)["Reservations"] for i in r["Instances"]]
        return [i["InstanceId"] for i in sorted(told, key=lambda i: (i["LaunchTime"], i["InstanceId"]), reverse=True)]

    def desired(self, pool: str) -> list[int]:
        return [group["DesiredCapacity"] for group in self.groups(pool)]

    def joining_pools(self) -> Iterable[str]:
        return PLAYED

    def live(self, pool: str) -> set[str]:
        found = [one for group in self.groups(pool) for one in group["Instances"]]
        return {one["InstanceId"] for one in found if one["LifecycleState"] == "InService"}

    def promote(self, pool: str, name: str, **tags: str) -> str:
        """A copy of the pool's first image under another name, which its channel then names; its id."""
        fleet = self.session.world.fleet
        of, parameter = self.session.at(fleet.pools[pool].region or ""), image_names.of_pool(fleet, pool)
        given = {"SourceImageId": first(parameter), "SourceRegion": fleet.pools[pool].region}
        id_ = str(of("ec2").copy_image(**given, Name=f"landbridge-{name}")["ImageId"])
        marked = {"landbridge:kubernetes": "1.36.2", "landbridge:driver": "played", "landbridge:image": name, **tags}
        of("ec2").create_tags(Resources=[id_], Tags=[{"Key": key, "Value": value} for key, value in marked.items()])
        of("ssm").put_parameter(Name=parameter, Value=id_, Type="String", Overwrite=True)
        return id_


def first(parameter: str) -> str:
    """The local cloud's own image for a parameter."""
    kind, kubernetes = parameter.split("/")[3:5]
    return standins.STAND_INS[standins.image(kind, kubernetes)]


def build(session: Here) -> None:
    """Scaling groups as stacks of pools make them: protected, with the pause at their end."""
    fleet, names = session.world.fleet, Names(session.world.fleet)
    for name, pool in fleet.pools.items():
        if not pool.region:
            continue
        ec2, scaling = session.at(pool.region)("ec2"), session.at(pool.region)("autoscaling")
        parameter = image_names.of_pool(fleet, name)
        session.at(pool.region)("ssm").put_parameter(
            Name=parameter, Value=first(parameter), Type="String", Overwrite=True
        )
        data = {"ImageId": f"resolve:ssm:{parameter}", "InstanceType": pool.instance_type}
        ec2.create_launch_template(LaunchTemplateName=names.template(name), LaunchTemplateData=data)
        subnets = {net["AvailabilityZone"][-1]: net["SubnetId"] for net in ec2.describe_subnets()["Subnets"]}
        for group in names.scaling(name):
            scaling.create_auto_scaling_group(
                AutoScalingGroupName=group.name,
                MinSize=group.least,
                MaxSize=group.most,
                VPCZoneIdentifier=",".join(subnets[zone] for zone in group.zones),
                LaunchTemplate={"LaunchTemplateName": names.template(name), "Version": "$Latest"},
                NewInstancesProtectedFromScaleIn=True,
            )
            scaling.put_lifecycle_hook(
                AutoScalingGroupName=group.name,
                LifecycleHookName=TERMINATION["name"],
                LifecycleTransition=TERMINATION["lifecycle_transition"],
                DefaultResult=TERMINATION["default_result"],
                HeartbeatTimeout=TERMINATION["heartbeat_timeout"],
                NotificationMetadata=TERMINATION["notification_metadata"],
            )


@contextlib.contextmanager
def bed(folder: Path) -> Iterator[Bed]:
    with contextlib.contextmanager(served)() as endpoint, server(folder, controllers=False) as api:
        session = Here(example_in_aws(), endpoint, api.kubeconfig())
        build(session)
        made = Bed(api, session, endpoint)
        with made.playing():
            yield made


def said(words: Sequence[str], command: click.Command, capsys: Any) -> tuple[int, Any]:
    """The exit code of a command and its JSON document."""
    code = command.main([*words, "--json"], standalone_mode=False)
    return int(code or 0), json.loads(capsys.readouterr().out)
