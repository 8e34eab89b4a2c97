"""A team's buckets in whichever cloud its cluster keeps its code."""

from collections.abc import Sequence

from fleet.buckets import bucket_name, in_azure
from landbridge.clouds.cloud import Bucket

from ..person import Person
from . import aws, azure


def buckets(person: Person) -> list[Bucket]:
    """That of the cluster's own region first, then those of others. Raises UsageError and LandbridgeError."""
    home = person.storage_region
    return _in(person, [home, *(one for one in person.storage_regions if one != home)])


def at_home(person: Person) -> Bucket:
    """That of the cluster's own region, where its recorder writes. Raises UsageError and LandbridgeError."""
    return _in(person, [person.world.fleet.clusters[person.cluster].region])[0]


def _in(person: Person, regions: Sequence[str]) -> list[Bucket]:
    """All of the first one's cloud."""
    fleet = person.world.fleet
    opened = azure.buckets if in_azure(fleet, regions[0]) else aws.buckets
    return opened(person, [bucket_name(fleet, region) for region in regions])
