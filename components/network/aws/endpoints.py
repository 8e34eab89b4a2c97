"""Private ways to the cloud's own services."""

from typing import Literal, NamedTuple


class Endpoint(NamedTuple):
    """`service` is the last part of the cloud's service name; `private_dns` makes the public name lead here."""

    name: str
    service: str
    kind: Literal["Gateway", "Interface"]
    private_dns: bool
    why: str


# An interface endpoint costs about 7 US dollars a month and zone: only what a machine needs to boot stands here.
ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("s3", "s3", "Gateway", private_dns=False, why="bundles and data, free of charge, inside the network only"),
    Endpoint(
        "s3-interface", "s3", "Interface", private_dns=False, why="the same from sites, which gateways can't serve"
    ),
    Endpoint("secretsmanager", "secretsmanager", "Interface", private_dns=True, why="key material of bundles"),
    Endpoint("sts", "sts", "Interface", private_dns=True, why="identity of machines that join"),
)
