"""AWS's prices. On demand: the price list of a region, as CSV, which anybody may read. Spot: EC2's own, signed in.

A list has hundreds of megabytes (all that EC2 sells there, in all terms), so it is read line by line and never kept.
https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-an-offer.html: five lines of metadata, then names.
"""

import csv
import datetime
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import urllib3
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from . import web
from .web import AwayError, Hear, Lists

URL = "https://pricing.us-east-1.amazonaws.com"
PATH = "/offers/v1.0/aws/AmazonEC2/current/{region}/index.csv"
FIRST, PUBLISHED = "SKU", "Publication Date"
TYPE, USD = "Instance Type", "PricePerUnit"
# A plain machine by the hour, out of a dozen ways in which AWS sells one.
PLAIN = {
    "TermType": "OnDemand",
    "MarketOption": "OnDemand",
    "Unit": "Hrs",
    "Currency": "USD",
    "Tenancy": "Shared",
    "Operating System": "Linux",
    "Pre Installed S/W": "NA",
    "CapacityStatus": "Used",
}
# Lines between two words on progress.
LINES = 20_000
# Of networks of today and of before them: EC2 names either.
SYSTEMS = ["Linux/UNIX", "Linux/UNIX (Amazon VPC)"]


def on_demand(url: str, region: str, types: Collection[str], hear: Hear) -> Lists:
    """Raises AwayError."""
    address = url.rstrip("/") + PATH.format(region=region)

    def take(answer: urllib3.BaseHTTPResponse) -> tuple[datetime.date, dict[str, float]]:
        try:
            return listed(_lines(answer, hear), types)
        except csv.Error as error:
            raise ValueError(str(error)) from None

    published, found = web.read(address, take)
    return {"on_demand": (f"{address} (published {published})", found)}


def _lines(answer: urllib3.BaseHTTPResponse, hear: Hear) -> Iterator[str]:
    answer.auto_close = False  # type: ignore[attr-defined] # the wrapper asks once more when all is read
    length = answer.headers.get("Content-Length", "")
    whole: Any = answer  # typeshed has the wrapper of its own streams alone
    for number, line in enumerate(io.TextIOWrapper(whole, encoding="utf-8", newline="")):
        if number % LINES == 0:
            hear(answer.tell(), int(length) if length.isdigit() else None)
        yield line


def listed(lines: Iterable[str], types: Collection[str]) -> tuple[datetime.date, dict[str, float]]:
    """When it was published, and its prices. Raises ValueError for what is no such list."""
    rows, about = csv.reader(lines), dict[str, str]()
    for names in rows:
        if names[:1] == [FIRST]:
            break
        about[names[0] if names else ""] = names[-1] if names else ""
    else:
        raise ValueError(f"no line begins with {FIRST}")
    if lacking := [name for name in (TYPE, USD, *PLAIN) if name not in names]:
        raise ValueError(f"it has no column {', '.join(lacking)}")
    kind, usd = names.index(TYPE), names.index(USD)
    plain = [(names.index(name), value) for name, value in PLAIN.items()]
    found: dict[str, float] = {}
    for row in rows:
        counts = row[kind] in types and all(row[place] == value for place, value in plain)
        if counts and 0 < (price := float(row[usd])) < web.MOST_USD:
            found[row[kind]] = max(price, found.get(row[kind], 0.0))
    return datetime.date.fromisoformat(about.get(PUBLISHED, "")[:10]), found


def spot(ec2: Any, region: str, zones: Sequence[str], types: Collection[str], now: datetime.datetime) -> Lists:
    """As it is now. Raises AwayError."""
    asked = {"InstanceTypes": sorted(types), "ProductDescriptions": SYSTEMS, "StartTime": now}
    filters = [{"Name": "availability-zone", "Values": [*zones]}]
    try:
        pages = ec2.get_paginator("describe_spot_price_history").paginate(Filters=filters, **asked)
        found = dearest(one for page in pages for one in page["SpotPriceHistory"])
    except NoCredentialsError:
        raise AwayError("nobody is signed in to AWS, which EC2's spot prices need") from None
    except (BotoCoreError, ClientError) as error:
        raise AwayError(f"EC2 does not tell its spot prices: {error}".rstrip(".")) from None
    return {"spot": (f"ec2:DescribeSpotPriceHistory of {region}, the dearest zone", found)}


def dearest(history: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """US dollars an hour by type, in the zone where it costs most; in each zone the newest price counts."""
    newest: dict[tuple[str, str], tuple[datetime.datetime, float]] = {}
    for one in history:
        key, price = (one["InstanceType"], one["AvailabilityZone"]), (one["Timestamp"], float(one["SpotPrice"]))
        newest[key] = max(price, newest.get(key, price))
    found: dict[str, float] = {}
    for (kind, _), (_, usd) in newest.items():
        found[kind] = max(usd, found.get(kind, 0.0))
    return found
