"""In a storage account: the identity of the team's pods, for a token of their service account."""

from collections.abc import Sequence

from components.addons.azure import team_pods
from components.addons.azure.pod_role import AUDIENCE
from landbridge.clouds.azure.blobs import Blobs
from landbridge.clouds.azure.clients import Clients
from landbridge.clouds.cloud import Bucket
from landbridge.errors import LandbridgeError

from ..person import Person


def buckets(person: Person, names: Sequence[str]) -> list[Bucket]:
    """Nobody is asked yet. Raises LandbridgeError where the team has no identity."""
    from azure.identity import ClientAssertionCredential

    told = person.world.fleet.azure
    assert told is not None
    found = person.kube.find("configmap", team_pods.IDENTITY, f"--namespace={person.namespace}")
    if found is None:
        raise LandbridgeError(
            f"Team {person.team} has no identity in Azure. It comes with the cluster's add-ons: "
            f"`landbridge up {person.cluster}-addons{person.place.options}`."
        )
    client_id = str(found["data"][team_pods.CLIENT_ID])
    signed_in = ClientAssertionCredential(told.tenant_id, client_id, lambda: person.token(AUDIENCE))
    clients = Clients(told.subscription_id, credential=signed_in)
    return [Blobs(clients, name) for name in names]
