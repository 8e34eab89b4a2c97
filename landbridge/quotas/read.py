"""Asks all regions of a fleet for their quotas, side by side."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from fleet import quotas
from fleet.buckets import in_azure
from fleet.model import Cloud, Fleet
from fleet.quotas import Place
from landbridge.clouds.aws.lookups import ClientOf
from landbridge.shapes.clients import aws_clients, azure_clients
from landbridge.shapes.offer import AwayError

from . import aws, azure
from .needs import needs
from .table import Row, Table
from .used import Used

# Regions at a time.
READERS = 8
NAMES: Mapping[Cloud, str] = {"aws": "AWS", "azure": "Azure"}


class Sources(NamedTuple):
    """What makes boto3's clients of a region, and Azure's of the subscription."""

    aws: Callable[[str], ClientOf]
    azure: Callable[[], Any]


def signed_in(fleet: Fleet, *, local: bool) -> Sources:
    return Sources(lambda region: aws_clients(fleet, region, local=local), lambda: azure_clients(fleet))


def table(fleet: Fleet, sources: Sources, now: float) -> Table:
    """`now` in the epoch. What does not answer is told in what is returned."""
    found, uncounted = needs(fleet)

    def one(region: str) -> Mapping[Place, Used] | AwayError:
        wanted = [need.place for need in found if need.region == region]
        try:
            if in_azure(fleet, region):
                return azure.read(fleet, region, wanted, sources.azure(), now)
            return aws.read(fleet, region, wanted, sources.aws(region), now)
        except AwayError as error:
            return error

    with ThreadPoolExecutor(READERS) as pool:
        came = dict(zip(fleet.regions, pool.map(one, fleet.regions), strict=True))
    told = {region: answer for region, answer in came.items() if not isinstance(answer, AwayError)}
    rows = []
    for need in found:
        cloud = fleet.regions[need.region].cloud
        granted = quotas.granted(fleet.regions[need.region].quotas).get(need.place)
        how = (azure if cloud == "azure" else aws).ask
        row = Row(need, NAMES[cloud], told.get(need.region, {}).get(need.place), granted, ("", ""))
        rows.append(row._replace(ask=how(fleet, need.region, need.place, row.wanted)))
    return Table(rows, uncounted, {region: str(why) for region, why in came.items() if isinstance(why, AwayError)})
