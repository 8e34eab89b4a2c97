"""The image that control plane machines of the local cloud start from: a name, since images are a stand-in there.

On real clouds image promotion sets the same parameter.
"""

from fleet.model import Fleet

from .errors import LandbridgeError
from .lookups import clients
from .places import Place

NAMED = {"Name": "name", "Values": ["landbridge-local-cpu"]}


def parameter(fleet: str) -> str:
    return f"/{fleet}/images/cpu/stable"


def ensure(place: Place, region: str, fleet: Fleet) -> str | None:
    """Sets the parameter in a region of the local cloud if it is missing; gives the image then. Nothing elsewhere."""
    if place.world != "local":
        return None
    of = clients(region, fleet.aws.account_id if fleet.aws else None)
    ssm, name = of("ssm"), parameter(fleet.fleet)
    if ssm.get_parameters(Names=[name])["Parameters"]:
        return None
    images = of("ec2").describe_images(Owners=["self"], Filters=[NAMED])["Images"]
    if not images:
        raise LandbridgeError(f"The local cloud has no image in {region}: `landbridge local stop`, then up again.")
    newest = max(images, key=lambda image: (image.get("CreationDate", ""), image["ImageId"]))
    ssm.put_parameter(Name=name, Value=newest["ImageId"], Type="String", Overwrite=False)
    return str(newest["ImageId"])
