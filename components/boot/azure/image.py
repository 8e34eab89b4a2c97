"""The image that a machine in Azure starts from: the version that a channel names there now, judged before it is used.

A scale set or machine names the version itself. The channel is a tag of the gallery's image, so a promotion comes to
machines by the next `up` of their stack.
"""

import datetime
from typing import Any, NamedTuple

import pulumi

from fleet.azure import images as names
from fleet.image_names import ImageVariant
from fleet.images import DRIVER, NAME, PROMOTE, TAG, refusals
from fleet.model import Channel, Fleet

PUBLISH = "`landbridge image publish NAME`, then `landbridge image promote NAME`"


class Wanted(NamedTuple):
    """Whose machines ask: `who` is for errors; `gpus` are those of one machine."""

    who: str
    region: str
    kubernetes: str
    variant: ImageVariant = "cpu"
    channel: Channel = "stable"
    gpus: int = 0


async def version(fleet: Fleet, wanted: Wanted, provider: pulumi.ProviderResource) -> str:
    """The id of a version of the fleet's gallery. Raises pulumi.RunError if there is none that the fleet takes."""
    image = names.image_id(fleet, wanted.kubernetes, wanted.variant)
    at = {"resourceGroupName": names.group(fleet.fleet), "galleryName": names.gallery(fleet.fleet)}
    at["galleryImageName"] = names.definition(wanted.kubernetes, wanted.variant)
    what = f"{at['galleryImageName']}, channel {wanted.channel}"
    response = await _get("getGalleryImage", at, provider)
    if isinstance(response, str):
        raise _refused(
            wanted, f"there is no image ({what}): {image} can't be read ({response})", f"{PROMOTE}: {PUBLISH}"
        )
    number = names.channel_version(response.get("tags") or {}, wanted.region, wanted.channel)
    if not number:
        raise _refused(wanted, f"there is no image: {what} says none in {wanted.region}", f"{PROMOTE}: {PUBLISH}")
    made = await _get("getGalleryImageVersion", {**at, "galleryImageVersionName": number}, provider)
    if isinstance(made, str):
        raise _refused(wanted, f"its image {number} ({what}) can't be read ({made})", f"{PROMOTE}: {PUBLISH}")
    if found := list(_unfit(fleet, wanted, made)):
        called = (made.get("tags") or {}).get(NAME, number)
        told_what = ", and ".join(one for one, _ in found)
        raise _refused(wanted, f"its image {called} ({what}) {told_what}", ". ".join(remedy for _, remedy in found))
    return f"{image}/versions/{number}"


async def _get(function: str, at: dict[str, str], provider: pulumi.ProviderResource) -> dict[str, Any] | str:
    """What Azure says; a text is why it says nothing."""
    # Not the SDK's own function: a failure of that ends the program before it can say what it means.
    try:
        found = await pulumi.runtime.invoke_async(
            f"azure-native:compute:{function}", at, pulumi.InvokeOptions(provider=provider)
        )
    except Exception as error:  # Pulumi raises nothing narrower
        return str(error).strip().splitlines()[-1].strip()
    return found or {}


def _unfit(fleet: Fleet, wanted: Wanted, made: dict[str, Any]) -> Any:
    tags, profile = made.get("tags") or {}, made.get("publishingProfile") or {}
    there = {str(one["name"]).replace(" ", "").lower() for one in profile.get("targetRegions") or ()}
    if wanted.region not in there:
        yield f"has no copy in {wanted.region}", "`landbridge image publish NAME` brings it there"
    if names.tag(names.DISABLED, wanted.region) in tags:
        yield f"is disabled in {wanted.region}", f"{PROMOTE}: promotion brings it back, too"
    now = datetime.datetime.now(datetime.UTC)
    created, most = str(profile.get("publishedDate", "")), fleet.images.max_age_days
    driver = tags.get(DRIVER)
    yield from refusals(wanted.kubernetes, tags.get(TAG), created, most, now, gpus=wanted.gpus, driver=driver)


def _refused(wanted: Wanted, what: str, remedy: str) -> pulumi.RunError:
    return pulumi.RunError(f"{wanted.who} in {wanted.region}: {what}. {remedy}.")
