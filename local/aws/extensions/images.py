"""Images that local machines can start from, and image ids that stand in a parameter.

EC2 user guide: "Use a Systems Manager parameter in place of an AMI ID" (`resolve:ssm:/name`, also with a version or a
label): looked up at every launch. moto takes such an id for the image's own.
"""

import re
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend
from moto.ec2.models.amis import Ami

from local import standins
from local.kubernetes import VERSIONS
from local.standins import PREFIX, STAND_INS

from . import direct_blocks
from .patching import override

RESOLVE = "resolve:ssm:"
# What a bake would tag an image with: the versions of Kubernetes and of NVIDIA's driver in it.
KUBERNETES, DRIVER = "landbridge:kubernetes", "landbridge:driver"


def install() -> None:
    """Puts the stand-ins into every region, and resolves at every launch."""

    @override(EC2Backend, "describe_images")
    def describe_images(self: Any, original: Any, *args: Any, **given: Any) -> Any:
        for name, id_ in STAND_INS.items():
            if id_ not in self.amis:
                self.amis[id_] = _stand_in(self, name, id_)
        return original(*args, **given)

    @override(EC2Backend, "run_instances")
    def run_instances(self: Any, original: Any, image_id: str, *args: Any, **given: Any) -> Any:
        return original(resolved(self, image_id), *args, **given)


def _stand_in(backend: Any, name: str, id_: str) -> Ami:
    return Ami(
        backend,
        id_,
        name=name,
        description="What local machines have: this computer's own programs, and Kubernetes",
        virtualization_type="hvm",
        architecture="x86_64",
        root_device_type="ebs",
        root_device_name="/dev/sda1",
        hypervisor="xen",
        tags={KUBERNETES: standins.kubernetes(name), **({DRIVER: driver} if (driver := standins.driver(name)) else {})},
    )


def is_stand_in(backend: Any, image_id: str) -> bool:
    """Whether a machine may start from it: one of ours, what was made of one, or one that was published here."""
    image = backend.amis.get(image_id)
    return image is not None and ((image.name or "").startswith(PREFIX) or published(image) is not None)


def kubernetes(backend: Any, image_id: str) -> str:
    """The version in an image."""
    image = backend.amis.get(image_id)
    return (image and published(image)) or standins.kubernetes((image.name or "") if image else "")


def published(image: Ami) -> str | None:
    """The version in an image with contents of its own, if local machines can be of it; they do not boot its disk."""
    tags = {tag["key"]: tag["value"] for tag in image.get_tags()}
    version = tags.get(KUBERNETES)
    return version if version in VERSIONS and direct_blocks.contents(image.ebs_snapshot) else None


def resolved(backend: Any, image_id: str) -> str:
    """The image's own id. Raises EC2ClientError when the parameter is missing or holds no image's id."""
    if not str(image_id).startswith(RESOLVE):
        return image_id
    from moto.ssm.models import ssm_backends

    name = image_id.removeprefix(RESOLVE)
    parameter = ssm_backends[backend.account_id][backend.region_name].get_parameter(name)
    if parameter is None:
        _refuse(f"The parameter '{name}' was not found: {image_id} cannot be resolved in {backend.region_name}")
    if not re.fullmatch(r"ami-[0-9a-f]{8,17}", str(parameter.value)):
        _refuse(f"The parameter '{name}' does not contain a valid AMI ID: {parameter.value}")
    return str(parameter.value)


def _refuse(message: str) -> None:
    raise EC2ClientError("InvalidParameterValue", f"Invalid value for parameter imageId. {message}")
