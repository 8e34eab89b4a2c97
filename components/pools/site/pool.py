"""A pool at a site: its bundle, published for its hosts. It makes no machines: they stand, and people enrol them."""

from typing import TypedDict

import pulumi

from components.boot.hosts import NOTHING
from components.storage.site import nfs_server, nfs_units
from components.storage.site.nfs_server import Identity
from components.storage.site.nfs_spec import nfs_spec
from components.tags import Owner
from fleet.address.plan import AddressPlan
from fleet.model import Cloud, Fleet
from fleet.shares import server_pool

from ..bundle import bundle, with_files
from ..publishing import Publishing, store_region
from ..spec import PoolSpec


class SitePoolArgs(TypedDict):
    """`key_arn` is the key of the cluster's home region, whose bucket has the bundle; `authority` the cluster's PEM.

    `people_authority` is the public line of what signs people's certificates; empty where keys let them in.
    """

    fleet: Fleet
    plan: AddressPlan
    spec: PoolSpec
    owner: Owner
    key_arn: pulumi.Input[str]
    authority: pulumi.Input[str]
    people_authority: pulumi.Input[str]


def _publishing(cloud: Cloud) -> type[Publishing]:
    """A cloud's SDK is imported where the fleet has that cloud."""
    if cloud == "azure":
        from ..azure.publishing import AzurePublishing

        return AzurePublishing
    from ..aws.publishing import AwsPublishing

    return AwsPublishing


class SitePool(pulumi.ComponentResource):
    """`verify_key` vouches for every bundle: each host gets it with its enrolment.

    `own_prefixes` are those of hosts that have a bundle of their own: the pool's, and what such a host does besides.
    """

    def __init__(self, name: str, args: SitePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:pools:SitePool", name, None, opts)
        self.args, self.spec = args, args["spec"]
        fleet = args["fleet"]
        store = _publishing(fleet.regions[store_region(fleet, self.spec)].cloud)
        self.publishing = store(fleet, self.spec, args["key_arn"], self)
        # It has no right in any cloud, and so no way to a secret.
        self.publishing.publish(args["authority"], args["people_authority"], NOTHING, self._tags)
        self.bucket, self.verify_key = self.publishing.bucket, self.publishing.verify_key
        self.own_prefixes: dict[str, str] = {}
        if server_pool(args["fleet"], self.spec.place) == self.spec.name:
            self._nfs()
        self.register_outputs({})

    def _tags(self, name: str) -> dict[str, str]:
        tags = {"landbridge:cluster": self.spec.cluster, "landbridge:pool": self.spec.name}
        return {**self.args["owner"].tags(name), **tags}

    def _nfs(self) -> None:
        """The host that serves the site's shares, under the pool's signature."""
        fleet, plan, spec = self.args["fleet"], self.args["plan"], self.spec
        server = nfs_spec(fleet, plan, spec.place)
        arns = pulumi.Output.from_input(list[str]())
        if server.backup:
            from components.storage.aws.nfs import NfsRole

            role = NfsRole(
                "nfs",
                {
                    "fleet": fleet,
                    "spec": server,
                    "owner": self.args["owner"],
                    "key_arn": self.args["key_arn"],
                    "authority": self.args["authority"],
                },
                pulumi.ResourceOptions(parent=self),
            )
            arns = role.arns

        def files(authority: str, arns: list[str]) -> dict[str, str]:
            more = nfs_server.bundle(fleet, plan, spec.place, Identity(*arns) if arns else None)
            return with_files(bundle(spec, authority), more, nfs_units.TARGET).files

        prefix = self.own_prefixes[server.host] = spec.own_prefix(server.host)
        made = pulumi.Output.all(self.args["authority"], arns).apply(lambda both: files(*both))
        self.publishing.lay(prefix, made, self._tags, f"-{server.host}")
