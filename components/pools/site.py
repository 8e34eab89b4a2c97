"""A pool at a site: its bundle, published for its hosts. It makes no machines: they stand, and people enrol them."""

from typing import TypedDict

import pulumi

from components.tags import Owner
from fleet.model import Fleet

from .publishing import Publishing
from .spec import PoolSpec


class SitePoolArgs(TypedDict):
    """`key_arn` is the key of the cluster's home region, whose bucket has the bundle; `authority` the cluster's PEM."""

    fleet: Fleet
    spec: PoolSpec
    owner: Owner
    key_arn: pulumi.Input[str]
    authority: pulumi.Input[str]


class SitePool(pulumi.ComponentResource):
    """`verify_key` vouches for the bundle: each host gets it with its enrolment."""

    def __init__(self, name: str, args: SitePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:pools:SitePool", name, None, opts)
        spec, owner = args["spec"], args["owner"]
        publishing = Publishing(args["fleet"], spec, args["key_arn"], self)
        tags = {
            name: {**owner.tags(name), "landbridge:cluster": spec.cluster, "landbridge:pool": spec.name}
            for name in ("files", "manifest")
        }
        publishing.publish(args["authority"], tags)
        self.bucket, self.verify_key = publishing.bucket, publishing.verify_key
        self.register_outputs({})
