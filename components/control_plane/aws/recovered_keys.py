"""The keys of a cluster that is rebuilt, out of the secret that its region lost and a second one kept."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from fleet.rebuilds import Origin

from ..authority import Recovered
from ..pki import Generations
from ..recovered_keys import found


def recovered(
    origin: Origin | None, generations: Mapping[str, Generations], provider: pulumi.ProviderResource
) -> Recovered | None:
    """None as for `found`."""

    def read(one: Origin) -> pulumi.Output[str]:
        options = pulumi.InvokeOutputOptions(provider=provider)
        version = aws.secretsmanager.get_secret_version_output(secret_id=one.secret, opts=options)
        return pulumi.Output.secret(version.secret_string)

    return found(origin, generations, read)
