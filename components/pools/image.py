"""The image that a pool's next machine will start from: looked up in the cloud, and judged before anything is made.

A launch template names a parameter, so that no property of any resource says which image stands behind it: policies
judge the parameter's name, and this its image.
"""

import datetime

import pulumi
import pulumi_aws as aws

from fleet.images import PROMOTE, TAG, refusals
from fleet.model import Fleet

from .spec import PoolSpec
from .template import image


async def check(fleet: Fleet, spec: PoolSpec, provider: pulumi.ProviderResource) -> None:
    """Raises pulumi.RunError if there is no image, or one that the fleet does not take."""
    name, opts = image(fleet, spec), pulumi.InvokeOutputOptions(provider=provider)
    try:
        parameter = await aws.ssm.get_parameter_output(name=name, opts=opts).future()
    except Exception as error:  # the engine has no kind of its own for what a look-up answers
        raise _refused(spec, f"there is no image: {name} can't be read ({_line(error)})", f"{PROMOTE} there") from None
    id_ = parameter.value if parameter else ""
    try:
        ids = [{"name": "image-id", "values": [id_]}]
        # What bakers deprecate is found as well: its age decides.
        made = await aws.ec2.get_ami_output(filters=ids, include_deprecated=True, opts=opts).future()
    except Exception as error:
        raise _refused(spec, f"its image {id_} ({name}) can't be found ({_line(error)})", PROMOTE) from None
    now = datetime.datetime.now(datetime.UTC)
    held, created = (made.tags.get(TAG), made.creation_date) if made else (None, "")
    told = list(refusals(spec.kubernetes, held, created, fleet.images.max_age_days, now))
    if told:
        what = ", and ".join(what for what, _ in told)
        raise _refused(spec, f"its image {id_} ({name}) {what}", ". ".join(remedy for _, remedy in told))


def _refused(spec: PoolSpec, what: str, remedy: str) -> pulumi.RunError:
    return pulumi.RunError(f"pool {spec.name} in {spec.place}: {what}. {remedy}.")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
