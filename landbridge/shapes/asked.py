"""Asks clouds what they offer in several regions, side by side."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from fleet.buckets import in_azure
from fleet.model import Fleet

from . import aws, azure
from .offer import AwayError, Offers

# Regions at a time.
READERS = 8


class Sources(NamedTuple):
    """What makes EC2's client of a region, and Azure's client of Compute."""

    ec2: Callable[[str], Any]
    compute: Callable[[], Any]


class Answers(NamedTuple):
    """By region: what came, and why nothing did."""

    offers: Mapping[str, Offers]
    away: Mapping[str, str]


def ask(fleet: Fleet, wanted: Mapping[str, Sequence[str]], sources: Sources) -> Answers:
    """`wanted` are instance types by region."""

    def one(region: str) -> Offers | AwayError:
        try:
            if in_azure(fleet, region):
                return azure.offers(sources.compute(), region, wanted[region])
            return aws.offers(sources.ec2(region), region, wanted[region])
        except AwayError as error:
            return error

    regions = [region for region, types in wanted.items() if types]
    with ThreadPoolExecutor(READERS) as pool:
        came = dict(zip(regions, pool.map(one, regions), strict=True))
    return Answers(
        {region: found for region, found in came.items() if not isinstance(found, AwayError)},
        {region: str(found) for region, found in came.items() if isinstance(found, AwayError)},
    )


def source(fleet: Fleet, region: str) -> str:
    """Who said it, as the file has it."""
    return f"{azure.SOURCE if in_azure(fleet, region) else aws.SOURCE} of {region}"
