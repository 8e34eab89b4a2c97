"""The part of a cluster's add-ons that lets machines of pools in Azure join."""

import pulumi_azure_native as azure
import pulumi_kubernetes as kubernetes
from pulumi import ResourceOptions

from components.addons.azure.joining_identity import JoiningIdentity
from components.addons.joining import ADDON
from components.addons.manifests import config_map
from components.pools.admission import AZURE, CLIENT_ID
from fleet.world import World


def joining(world: World, cluster: str, cloud: azure.Provider, inside: kubernetes.Provider) -> None:
    """Who the joining service is in Azure, and in the cluster what it names that by."""
    options = ResourceOptions(providers={"azure-native": cloud})
    made = JoiningIdentity("joining-azure", {"fleet": world.fleet, "cluster": cluster}, options)
    kubernetes.core.v1.ConfigMap(
        AZURE,
        metadata=config_map(AZURE, ADDON, {})["metadata"],
        data={CLIENT_ID: made.client_id},
        opts=ResourceOptions(provider=inside),
    )
