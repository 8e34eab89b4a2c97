"""A link between a region of AWS and one gateway of a site: a connection of two tunnels, and their keys."""

import json
from typing import TypedDict

import pulumi
import pulumi_aws as aws

from components.tags import Owner

from ..connections import Connection
from ..ends import RegionEnd
from ..keys import key
from .connections import key_place, options
from .vpn import vpn


class SiteLinkArgs(TypedDict):
    """`here` is the connection's region."""

    connection: Connection
    here: RegionEnd
    owner: Owner


class SiteLink(pulumi.ComponentResource):
    """`vpn` is the connection, whose outside addresses the site's gateway has to know."""

    def __init__(self, name: str, args: SiteLinkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:SiteLink", name, None, opts)
        self.name, self.connection, self.owner = name, args["connection"], args["owner"]
        tunnels = self.connection.tunnels
        keys = {tunnel.name: key(f"{name}-{tunnel.number}", self) for tunnel in tunnels}
        self.vpn = vpn(
            name,
            {
                "here": args["here"],
                "address": self.connection.address,
                "asn": self.connection.asn,
                "options": options(tunnel.inside_cidr for tunnel in tunnels),
                "keys": [keys[tunnel.name] for tunnel in tunnels],
                "between": f"{self.connection.site} to {self.connection.region}",
                "owner": self.owner,
            },
            self,
        )
        self._keep(keys, args["here"])
        self.register_outputs({})

    def _keep(self, keys: dict[str, pulumi.Output[str]], here: RegionEnd) -> None:
        child = pulumi.ResourceOptions(parent=self, provider=here["provider"])
        secret = aws.secretsmanager.Secret(
            self.name,
            name=key_place(self.owner.fleet, self.connection),
            description=f"Keys of the tunnels of gateway {self.connection.number} of {self.connection.site}",
            kms_key_id=here["key_arn"],
            # A name that waits for its end would keep the next connection from coming up.
            recovery_window_in_days=0,
            tags=self.owner.tags(self.name),
            opts=child,
        )
        text = pulumi.Output.all(**keys).apply(lambda values: json.dumps(values, sort_keys=True))
        aws.secretsmanager.SecretVersion(self.name, secret_id=secret.id, secret_string=text, opts=child)
