"""The service as a program of its own, before the example's scaling groups in a local AWS, and in a local Azure."""

import contextlib
import functools
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import grpc

from components.addons import autoscaler, autoscaler_settings
from components.addons.manifests import compact, rights
from components.addons.spec import addons_spec
from components.pools.names import Names
from fleet.autoscaler import CLUSTER_TAG
from fleet.world import World, current
from local.providers.host import free_port
from services.autoscaler import certificates
from services.autoscaler.protocol import messages, services
from services.kube import HOST, PORT
from tests.components.links.bed import example_in_aws
from tests.components.pools.joining_client import eventually
from tests.local.aws.conftest import asker, clients
from tests.services.autoscaler.azure import joined as azure_joined
from tests.services.autoscaler.azure.side import AzureSide
from tests.support.apiserver import Server

ROOT = Path(__file__).parents[3]
CLUSTER = "main"
SECONDS = 60


def settings(world: World, **most: int) -> dict[str, Any]:
    """Of the example's cluster, as its add-ons' stack writes them; `most` changes the maximum of some pools."""
    told: dict[str, Any] = json.loads(
        compact(autoscaler_settings.settings(addons_spec(world.fleet, world.plan, CLUSTER)))
    )
    for name, machines in most.items():
        pool = name.replace("_", "-")
        told["limits"]["pools"][pool] = {"machines": machines}
        for group in told["groups"]:
            group["most"] = machines if group["pool"] == pool else group["most"]
    return told


def example() -> World:
    """What of it is in AWS."""
    return example_in_aws()


def whole() -> World:
    return current(ROOT / "fleet.yaml")


class Cloud(NamedTuple):
    """A local AWS; `own` asks its own API. `azure` is what stands beside it, if anything does."""

    endpoint: str
    own: Callable[..., Any]
    client: Callable[..., Any]
    azure: AzureSide | None = None

    def group(self, name: str, region: str) -> dict[str, Any]:
        told = self.client("autoscaling", region).describe_auto_scaling_groups(AutoScalingGroupNames=[name])
        found: dict[str, Any] = told["AutoScalingGroups"][0]
        return found

    def launched(self, region: str, shape: str = "p5.48xlarge") -> list[dict[str, Any]]:
        """Every machine, with GPUs or of another shape, that was ever launched in a region, terminated ones too."""
        pages = (
            self.client("ec2", region)
            .get_paginator("describe_instances")
            .paginate(Filters=[{"Name": "instance-type", "Values": [shape]}])
        )
        return [one for page in pages for made in page["Reservations"] for one in made["Instances"]]


def cloud(endpoint: str) -> Cloud:
    return Cloud(endpoint, asker(endpoint), clients(endpoint))


def lay(made: Cloud, world: World, told: dict[str, Any]) -> None:
    """The scaling groups of the settings, as pool stacks make them, but for what their machines boot."""
    fleet, names = world.fleet, Names(world.fleet)
    sizes = {one["name"]: one for one in told["groups"]}
    if made.azure:
        made.azure.lay()
    for pool in {one["pool"] for one in told["groups"] if told["region_clouds"][one["region"]] == "aws"}:
        region, shape = fleet.pools[pool].region, fleet.pools[pool].instance_type
        ec2, scaling = made.client("ec2", region), made.client("autoscaling", region)
        data = {"ImageId": ec2.describe_images()["Images"][0]["ImageId"], "InstanceType": shape}
        ec2.create_launch_template(LaunchTemplateName=pool, LaunchTemplateData=data)
        near = {one["AvailabilityZone"][-1]: one["SubnetId"] for one in ec2.describe_subnets()["Subnets"]}
        for group in names.scaling(pool):
            scaling.create_auto_scaling_group(
                AutoScalingGroupName=group.name,
                MinSize=0,
                MaxSize=sizes[group.name]["most"],
                DesiredCapacity=0,
                VPCZoneIdentifier=",".join(near[zone] for zone in group.zones),
                LaunchTemplate={"LaunchTemplateName": pool},
                NewInstancesProtectedFromScaleIn=True,
                Tags=[
                    {"Key": CLUSTER_TAG, "Value": CLUSTER, "PropagateAtLaunch": False},
                    {"Key": "landbridge:pool", "Value": pool, "PropagateAtLaunch": True},
                ],
            )


RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLES = {"Role": f"{RBAC}/namespaces/kube-system/roles", "ClusterRole": f"{RBAC}/clusterroles"}
PATHS = {
    "ServiceAccount": "/api/v1/namespaces/kube-system/serviceaccounts",
    **ROLES,
    **{f"{kind}Binding": path.removesuffix("s") + "bindings" for kind, path in ROLES.items()},
}


def account(kube: Server, folder: Path) -> Path:
    """A folder as Kubernetes lays it into the add-on's pod: its account, with the rights that it has and no others."""
    for one in rights(autoscaler.ADDON, autoscaler.ADDON, autoscaler.everywhere(), autoscaler.here()):
        if not kube.find(f"{PATHS[one['kind']]}/{one['metadata']['name']}"):
            kube.api.call("POST", PATHS[one["kind"]], None, one)
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 86_400}}
    given = kube.api.call("POST", f"{PATHS['ServiceAccount']}/{autoscaler.ADDON}/token", None, asked)
    folder.mkdir()
    (folder / "token").write_text(given["status"]["token"])
    (folder / "ca.crt").write_text(kube.authority.pem)
    return folder


class Serving:
    """The program; `ask(RPC, **fields)` calls it as the autoscaler does. With an API server it looks at its nodes."""

    def __init__(
        self, folder: Path, made: Cloud, told: dict[str, Any], kube: Server | None = None, words: Sequence[str] = ()
    ) -> None:
        self.folder, self.cloud, self.kube, self.words = folder, made, kube, words
        self.port, self.metrics_port = free_port(), free_port()
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(told))
        certificates.write(folder)
        self.account = account(kube, folder / "account") if kube else None
        self.start()

    def start(self) -> None:
        words = [
            "-m",
            azure_joined.__name__ if self.cloud.azure else "services.autoscaler",
            *self.words,
            f"--settings={self.folder}/settings.json",
            f"--pair={self.folder}",
        ]
        words += [f"--listen=127.0.0.1:{self.port}", f"--metrics=127.0.0.1:{self.metrics_port}"]
        words += [f"--freeze={self.folder}/freeze", f"--decisions={self.folder}/decisions.jsonl"]
        keys = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
        environment = {**os.environ, **keys, "AWS_ENDPOINT_URL": self.cloud.endpoint}
        if self.cloud.azure:
            environment |= azure_joined.told(self.cloud.azure.azure)
        if self.kube:
            there = urlsplit(self.kube.url)
            environment |= {HOST: str(there.hostname), PORT: str(there.port)}
            words.append(f"--account={self.account}")
        log = (self.folder / "service.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, *words], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        eventually(self.up)

    def up(self) -> bool:
        """By its other port: gRPC in a program that goes on starting others ends some of them."""
        assert self.process.poll() is None, (self.folder / "service.log").read_text()
        try:
            return bool(
                urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/healthz", timeout=5).status == 200
            )
        except OSError:
            return False

    @functools.cached_property
    def stub(self) -> Any:
        return services.CloudProviderStub(grpc.secure_channel(f"127.0.0.1:{self.port}", self.credentials()))

    def credentials(self) -> Any:
        files = [(self.folder / name).read_bytes() for name in ("ca.crt", "client.key", "client.crt")]
        return grpc.ssl_channel_credentials(*files)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(SECONDS)

    @property
    def decisions(self) -> list[dict[str, Any]]:
        lines = (self.folder / "service.log").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def ask(self, rpc: str, **fields: Any) -> Any:
        kinds = {
            "NodeGroupForNode": messages.NodeGroupForNodeRequest,
            "NodeGroupDeleteNodes": messages.DeleteNodesRequest,
            "NodeGroupIncreaseSize": messages.ChangeRequest,
            "NodeGroupDecreaseTargetSize": messages.ChangeRequest,
        }
        kind = kinds.get(rpc, messages.GroupRequest if fields else messages.Nothing)
        return getattr(self.stub, rpc)(kind(**fields), timeout=SECONDS, wait_for_ready=True)

    def target(self, group: str) -> int:
        return int(self.ask("NodeGroupTargetSize", id=group).targetSize)

    def nodes(self, group: str) -> list[Any]:
        return list(self.ask("NodeGroupNodes", id=group).instances)

    def delete(self, group: str, ids: list[str]) -> None:
        self.ask("NodeGroupDeleteNodes", id=group, nodes=[messages.AskedNode(providerID=one) for one in ids])


@contextlib.contextmanager
def serving(folder: Path, made: Cloud, told: dict[str, Any]) -> Iterator[Serving]:
    one = Serving(folder, made, told)
    try:
        yield one
    finally:
        one.stop()
