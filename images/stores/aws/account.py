"""A fleet's account in AWS, as its images need it: clients of the regions, names, tags."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...baked import Baked
from ..publishing import Waits, image_tags
from .calls import CREDENTIALS, DISABLED, clear_errors

SERVICES = ("ec2", "ssm", "ebs", "autoscaling")


class Account:
    """`at` gives a region's clients by service. Raises ImageError where there are no credentials."""

    def __init__(
        self,
        fleet: str,
        regions: Sequence[str],
        at: Callable[[str], Callable[[str], Any]],
        journals: Path,
        waits: Waits = Waits(),  # noqa: B008
    ) -> None:
        self.fleet, self.places, self.journals, self.waits = fleet, tuple(regions), journals, waits
        # Made here, one after the other: boto3 is not safe for making them at once.
        self.clients: dict[tuple[str, str], Any] = {}
        for region in regions:
            with clear_errors(region, CREDENTIALS):
                self.clients |= {(region, name): at(region)(name) for name in SERVICES}

    def of(self, region: str) -> Callable[[str], Any]:
        return lambda service: self.clients[region, service]

    def tags(self, image: Baked) -> dict[str, str]:
        """On the image and its snapshot, in every region: copies take none along."""
        return image_tags(self.fleet, self.name(image), image, "raw")

    def name(self, image: Baked) -> str:
        return f"{self.fleet}-{image.name}"

    def bring_back(self, region: str, image: str, *, disabled: bool) -> None:
        """One that was deprecated, or disabled as well. Raises ClientError."""
        ec2 = self.of(region)("ec2")
        if disabled:
            ec2.enable_image(ImageId=image)
            ec2.delete_tags(Resources=[image], Tags=[{"Key": DISABLED}])
        ec2.disable_image_deprecation(ImageId=image)
