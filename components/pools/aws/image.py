"""The image that a pool's next machine will start from: looked up in the cloud, and judged before anything is made.

A launch template names a parameter, so that no property of any resource says which image stands behind it: policies
judge the parameter's name, and this its image.
"""

import datetime

import pulumi
import pulumi_aws as aws

from fleet.image_names import of_pool
from fleet.images import DRIVER, PROMOTE, TAG, refusals
from fleet.model import Fleet

from ..spec import PoolSpec


async def check(fleet: Fleet, spec: PoolSpec, provider: pulumi.ProviderResource) -> None:
    """Raises pulumi.RunError if there is no image, or one that the fleet does not take."""
    name, opts = of_pool(fleet, spec.name), pulumi.InvokeOutputOptions(provider=provider)
    # Look-ups that find nothing and do not fail: a failed one ends the program before it can say what it means.
    listed = await aws.ssm.get_parameters_by_path_output(path=name.rpartition("/")[0], opts=opts).future()
    known = dict(zip(listed.names, listed.values, strict=True)) if listed else {}
    if name not in known:
        raise _refused(spec, f"there is no image: {name} is not set", f"{PROMOTE} there")
    id_ = known[name]
    # Owners see what is deprecated, too: its age decides.
    which = {"filters": [{"name": "image-id", "values": [id_]}], "owners": ["self"]}
    found = await aws.ec2.get_ami_ids_output(**which, opts=opts).future()
    if not found or id_ not in found.ids:
        raise _refused(spec, f"its image {id_} ({name}) is gone", PROMOTE)
    made = await aws.ec2.get_ami_output(**which, opts=opts).future()
    now = datetime.datetime.now(datetime.UTC)
    tags, created = (made.tags, made.creation_date) if made else ({}, "")
    problems = list(
        refusals(
            spec.kubernetes,
            tags.get(TAG),
            created,
            fleet.images.max_age_days,
            now,
            gpus=spec.hardware.gpus,
            driver=tags.get(DRIVER),
        )
    )
    if problems:
        what = ", and ".join(what for what, _ in problems)
        raise _refused(spec, f"its image {id_} ({name}) {what}", ". ".join(remedy for _, remedy in problems))


def _refused(spec: PoolSpec, what: str, remedy: str) -> pulumi.RunError:
    return pulumi.RunError(f"pool {spec.name} in {spec.place}: {what}. {remedy}.")
