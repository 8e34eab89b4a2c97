"""Images in AWS' regions: an AMI and its snapshot in each, pointers as parameters of Systems Manager.

The first region gets the disk, the others copies of the image, all of them encrypted. An image's name is one of a kind
in its region, so that a publish that was interrupted finds what is there, and goes on.
"""

import datetime
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from botocore.exceptions import ClientError

from fleet import images as tags
from fleet.image_names import CHANNELS, ImageVariant, parameter

from ...baked import Baked
from ..publishing import FLEET, published
from ..store import Pointer, PointerKey, Published, Record, State, Tell, require_channel
from . import publish as aws_publish
from . import uses
from .account import Account
from .calls import DISABLED, clear_errors

# EnableImageDeprecation wants a time to come, and rounds it to minutes.
DEPRECATE_IN, SOON = datetime.timedelta(minutes=2), datetime.timedelta(minutes=5)
LONGEST_DESCRIPTION = 1024
STATES: dict[str, State] = {"pending": "pending", "available": "available", "disabled": "disabled"}


class Aws(Account):
    """Regions are told in order: the first gets the disk."""

    def publish(self, folder: Path, image: Baked, tell: Tell) -> Mapping[str, str]:
        require_channel(image)
        return aws_publish.publish(self, folder, image, tell)

    def published(self, place: str) -> list[Published]:
        filters = [{"Name": f"tag:{FLEET}", "Values": [self.fleet]}, {"Name": "tag-key", "Values": [tags.NAME]}]
        with clear_errors(place):
            pages = self.of(place)("ec2").get_paginator("describe_images")
            found = pages.paginate(Owners=["self"], Filters=filters, IncludeDisabled=True, IncludeDeprecated=True)
            return [_published(place, one) for page in found for one in page["Images"]]

    def exists(self, place: str, image: str) -> bool:
        with clear_errors(place):
            try:
                found = self.of(place)("ec2").describe_images(ImageIds=[image], IncludeDisabled=True)["Images"]
            except ClientError as error:
                if not error.response["Error"]["Code"].startswith("InvalidAMIID."):
                    raise
                return False
        return [one["State"] for one in found] == ["available"]

    def pointers(self, place: str) -> list[Pointer]:
        with clear_errors(place):
            ssm = self.of(place)("ssm")
            pages = ssm.get_paginator("get_parameters_by_path").paginate(Path=f"/{self.fleet}/images", Recursive=True)
            found = [
                (key, one) for page in pages for one in page["Parameters"] if (key := self._pointer_key(one["Name"]))
            ]
            return [_pointer(ssm, place, key, one) for key, one in found]

    def point(self, place: str, key: PointerKey, image: str, record: Record) -> None:
        variant = next(variant for variant in get_args(ImageVariant) if variant == key.variant)
        name = parameter(self.fleet, key.kubernetes, key.channel, variant)
        description = json.dumps({"who": record.who, "why": record.why, "before": record.before}, separators=(",", ":"))
        with clear_errors(place):
            # Of type text: that of an image's id is written later than the call, if at all.
            self.of(place)("ssm").put_parameter(
                Name=name, Value=image, Type="String", Overwrite=True, Description=description[:LONGEST_DESCRIPTION]
            )

    def users(self, place: str) -> Mapping[str, Sequence[str]]:
        with clear_errors(place):
            return uses.users(self.of(place))

    def restore(self, image: Published) -> None:
        with clear_errors(image.place):
            self.bring_back(image.place, image.id, disabled=image.state == "disabled")

    def deprecate(self, image: Published) -> None:
        with clear_errors(image.place):
            when = datetime.datetime.now(datetime.UTC) + DEPRECATE_IN
            self.of(image.place)("ec2").enable_image_deprecation(ImageId=image.id, DeprecateAt=when)

    def disable(self, image: Published) -> None:
        with clear_errors(image.place):
            ec2, now = self.of(image.place)("ec2"), datetime.datetime.now(datetime.UTC)
            # EC2 does not tell since when one is disabled. Before it is: a disabled image without it would go at once.
            ec2.create_tags(Resources=[image.id], Tags=[{"Key": DISABLED, "Value": now.isoformat()}])
            ec2.disable_image(ImageId=image.id)

    def remove(self, image: Published) -> None:
        with clear_errors(image.place):
            self.of(image.place)("ec2").deregister_image(ImageId=image.id, DeleteAssociatedSnapshots=True)

    def _pointer_key(self, name: str) -> PointerKey | None:
        """None for a parameter that is no channel's."""
        found = re.fullmatch(rf"/{re.escape(self.fleet)}/images/([^/]+)/([^/]+)/([^/]+)", name)
        known = found and found[1] in get_args(ImageVariant) and found[3] in CHANNELS
        return PointerKey(*found.groups()) if found and known else None


def _published(place: str, one: Mapping[str, Any]) -> Published:
    found_tags = {tag["Key"]: tag["Value"] for tag in one.get("Tags", [])}
    created, now = datetime.datetime.fromisoformat(one["CreationDate"]), datetime.datetime.now(datetime.UTC)
    state, since = STATES.get(one["State"], "failed"), created
    deprecated = one.get("DeprecationTime")
    # One whose day is set far ahead is not deprecated yet.
    if state == "available" and deprecated and (when := datetime.datetime.fromisoformat(deprecated)) <= now + SOON:
        state, since = "deprecated", min(when, now)
    if state == "disabled":
        # One that somebody disabled by hand counts from now on, and so stays.
        since = datetime.datetime.fromisoformat(found_tags.get(DISABLED) or now.isoformat())
    return published(place, one["ImageId"], found_tags, created, state, since)


def _pointer(ssm: Any, place: str, key: PointerKey, one: Mapping[str, Any]) -> Pointer:
    """With what the parameter's history says of its last move; nothing is known of one that was set by hand."""
    pages = ssm.get_paginator("get_parameter_history").paginate(Name=one["Name"])
    history = sorted((version for page in pages for version in page["Parameters"]), key=lambda v: int(v["Version"]))
    previous = next((v["Value"] for v in reversed(history) if v["Value"] != one["Value"]), "")
    try:
        description = json.loads(history[-1].get("Description") or "{}")
    except ValueError:
        description = {}
    description = description if isinstance(description, dict) else {}
    who = str(description.get("who") or history[-1].get("LastModifiedUser") or "")
    record = Record(
        who, history[-1]["LastModifiedDate"], str(description.get("why", "")), str(description.get("before", ""))
    )
    return Pointer(place, key, str(one["Value"]), str(previous), record)
