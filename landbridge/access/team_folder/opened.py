"""A team's buckets in whichever cloud its cluster keeps its code."""

from fleet.buckets import bucket_name, in_azure
from landbridge.clouds.cloud import Bucket

from ..person import Person
from . import aws, azure


def buckets(person: Person) -> list[Bucket]:
    """That of the cluster's own region first, then those of others. Raises UsageError and LandbridgeError."""
    fleet, home = person.world.fleet, person.storage_region
    names = [bucket_name(fleet, region) for region in (home, *(one for one in person.storage_regions if one != home))]
    opened = azure.buckets if in_azure(fleet, home) else aws.buckets
    return opened(person, names)
