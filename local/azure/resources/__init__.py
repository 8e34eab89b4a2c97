"""Every type that the local Azure knows, by its name in small letters. A new one is a `Kind` in a fitting file."""

from collections.abc import Mapping

from ..kinds import Kind
from . import (
    action_groups,
    alerts,
    balancers,
    blob_services,
    connections,
    disks,
    file_shares,
    forwarding,
    galleries,
    identities,
    interfaces,
    local_gateways,
    machines,
    network,
    peerings,
    private_endpoints,
    private_zones,
    public_addresses,
    resolvers,
    roles,
    routes,
    scale_set_instances,
    scale_sets,
    security,
    storage_accounts,
    subnets,
    vault_contents,
    vaults,
    vpn_gateways,
    watchers,
)

TOPICS = (
    *(
        action_groups,
        alerts,
        network,
        subnets,
        peerings,
        watchers,
        security,
        routes,
        public_addresses,
        interfaces,
        balancers,
    ),
    *(vpn_gateways, local_gateways, connections, private_endpoints, private_zones, resolvers, forwarding),
    *(storage_accounts, blob_services, file_shares, vaults, vault_contents, identities, roles),
    *(scale_sets, scale_set_instances, machines, disks, galleries),
)
KINDS: Mapping[str, Kind] = {kind.type.lower(): kind for topic in TOPICS for kind in topic.KINDS}
