"""The images that machines start from, by the version of Kubernetes in them: there before anyone asks.

On real clouds image promotion sets the parameter; on the local cloud, where images are a stand-in, a run does.
"""

from typing import NamedTuple

from botocore.exceptions import ClientError

from fleet import laptops
from fleet.buckets import in_azure
from fleet.image_names import ImageVariant, parameter
from fleet.model import Channel, Fleet
from landbridge.clouds.aws.lookups import ClientOf, clients
from landbridge.errors import LandbridgeError
from landbridge.places import Place
from stacks.catalogue import StackSpec

NAME = "landbridge-local-{variant}-{kubernetes}"


class Needed(NamedTuple):
    """An image with a version of Kubernetes."""

    kubernetes: str
    variant: ImageVariant = "cpu"
    channel: Channel = "stable"


def needed(fleet: Fleet, stack: StackSpec) -> Needed | None:
    """What a stack's machines start from; None if it has none that do."""
    if stack.kind == "laptops":
        return Needed(fleet.clusters[laptops.cluster(fleet, stack.region) or ""].kubernetes, "laptop")
    if stack.kind == "cluster":
        return Needed(fleet.clusters[stack.name].kubernetes)
    if stack.kind == "pool" and fleet.pools[stack.name].region:
        pool = fleet.pools[stack.name]
        return Needed(fleet.clusters[pool.cluster].kubernetes, "gpu" if pool.gpus else "cpu", pool.channel)
    return None


def ensure(
    place: Place, region: str, fleet: Fleet, kubernetes: str, variant: ImageVariant = "cpu", channel: Channel = "stable"
) -> str | None:
    """Sets the parameter in a region of the local cloud if it is missing; gives the image then.

    Raises LandbridgeError when there is no image: a machine that dies then would have no successor.
    """
    if in_azure(fleet, region):
        from landbridge.clouds.azure import gallery as azure_gallery  # seconds of imports that few runs need

        return azure_gallery.ensure(place, region, fleet, kubernetes, variant, channel)
    of = clients(region, fleet.aws.account_id if fleet.aws and place.world == "local" else None)
    name = parameter(fleet.fleet, kubernetes, channel, variant)
    if named(of, name):
        return None
    if place.world != "local":
        raise LandbridgeError(
            f"{region} has no image with Kubernetes {kubernetes}: nothing has been promoted to {name}. Promote one "
            "first; until then machines that die would have no successor."
        )
    filters = [{"Name": "name", "Values": [NAME.format(variant=variant, kubernetes=kubernetes)]}]
    images = of("ec2").describe_images(Owners=["self"], Filters=filters)["Images"]
    if not images:
        raise LandbridgeError(
            f"The local cloud has no image with Kubernetes {kubernetes} in {region}: `landbridge local forget`, then "
            "up again."
        )
    try:
        of("ssm").put_parameter(Name=name, Value=images[0]["ImageId"], Type="String", Overwrite=False)
    except ClientError as error:  # another stack of this run may have been quicker
        if error.response["Error"]["Code"] != "ParameterAlreadyExists":
            raise
    return str(images[0]["ImageId"])


def wanted(of: ClientOf, fleet: str, kubernetes: str, variant: ImageVariant = "cpu") -> str:
    """What the parameter of channel stable says; empty if nobody has set it."""
    return named(of, parameter(fleet, kubernetes, variant=variant))


def named(of: ClientOf, name: str) -> str:
    """What a parameter says; empty if nobody has set it."""
    found = of("ssm").get_parameters(Names=[name])["Parameters"]
    return str(found[0]["Value"]) if found else ""
