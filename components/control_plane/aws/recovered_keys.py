"""The keys of a cluster that is rebuilt, out of the secret that its region lost and a second one kept."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from fleet.rebuilds import Origin

from ..authority import Recovered
from ..pki import Generations
from ..rotation import wanted


def recovered(
    origin: Origin | None, generations: Mapping[str, Generations], provider: pulumi.ProviderResource
) -> Recovered | None:
    """None when nothing is to be taken from there: the cluster was born here, or all its keys have rotated since."""
    if origin is None or not wanted(origin, generations):
        return None
    found = aws.secretsmanager.get_secret_version_output(
        secret_id=origin.secret, opts=pulumi.InvokeOutputOptions(provider=provider)
    )
    return Recovered(pulumi.Output.secret(found.secret_string), origin.generations)
