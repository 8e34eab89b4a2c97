"""Every AWS resource type that the local cloud can build, by token. To add one, write its entry in the fitting file."""

from collections.abc import Mapping

from ..kinds import Kind
from . import (
    alarms,
    balancing,
    bucket_objects,
    compute,
    files,
    gateways,
    hub,
    hub_routes,
    identity,
    keys,
    machines,
    network,
    objects,
    parameters,
    policies,
    public,
    records,
    resolving,
    roles_anywhere,
    scaling,
    security,
    vpn,
)

KINDS: Mapping[str, Kind] = {
    **network.KINDS,
    **gateways.KINDS,
    **public.KINDS,
    **security.KINDS,
    **hub.KINDS,
    **hub_routes.KINDS,
    **vpn.KINDS,
    **files.KINDS,
    **objects.KINDS,
    **bucket_objects.KINDS,
    **keys.KINDS,
    **identity.KINDS,
    **policies.KINDS,
    **parameters.KINDS,
    **compute.KINDS,
    **machines.KINDS,
    **scaling.KINDS,
    **balancing.KINDS,
    **records.KINDS,
    **resolving.KINDS,
    **roles_anywhere.KINDS,
    **alarms.KINDS,
}
