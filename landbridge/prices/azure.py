"""Azure's retail prices, on demand and spot: anybody may ask.

https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3

from fleet.price_book import Kind

from . import web
from .web import AwayError, Hear, Lists

URL = "https://prices.azure.com"
PATH = "/api/retail/prices"
VERSION = "2023-01-01-preview"
# Pages of one type; more of them are a circle.
MOST_PAGES = 50
PLAIN = {"currencyCode": "USD", "type": "Consumption", "unitOfMeasure": "1 Hour", "serviceName": "Virtual Machines"}
# In names of products and SKUs: what is sold otherwise than as a plain machine with Linux.
OTHERWISE = ("Windows", "Low Priority", "Cloud Services", "CloudServices", "Dedicated")
SPOT = "Spot"
Item = Mapping[str, Any]


def listed(url: str, region: str, types: Collection[str], hear: Hear) -> Lists:
    """Raises AwayError."""
    base, found = url.rstrip("/") + PATH, list[Item]()
    for number, name in enumerate(sorted(types)):
        hear(number, len(types))
        found += _items(base, region, name)
    return {kind: (base, usd) for kind, usd in prices(found, region, types).items()}


def _items(base: str, region: str, name: str) -> Iterator[Item]:
    asked = f"armRegionName eq '{region}' and armSkuName eq '{name}' and priceType eq 'Consumption'"
    link = f"{base}?{urlencode({'api-version': VERSION, 'currencyCode': 'USD', '$filter': asked})}"
    for _ in range(MOST_PAGES):
        page = web.read(link, _page)
        yield from page["Items"]
        link = str(page.get("NextPageLink") or "")
        if not link:
            return
        if _place(link) != _place(base):
            raise AwayError(f"{base} says that it goes on at another place, {link[:200]!r}")
    raise AwayError(f"{base} has no end: {name} in {region} has more than {MOST_PAGES} pages")


def _page(answer: urllib3.BaseHTTPResponse) -> dict[str, Any]:
    page = json.loads(answer.read())
    if not isinstance(page["Items"], list):
        raise TypeError("Items is no list")
    if not all(isinstance(one, dict) for one in page["Items"]):
        raise TypeError("an item is none")
    return dict(page)


def _place(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def prices(items: Iterable[Item], region: str, types: Collection[str]) -> dict[Kind, dict[str, float]]:
    """Of several meters of one type, the dearest of the primary ones."""
    best: dict[tuple[Kind, str], tuple[bool, float]] = {}
    for one in items:
        names = f"{one.get('productName')} {one.get('skuName')} {one.get('meterName')}"
        kind: Kind = "spot" if SPOT in names else "on_demand"
        name, usd = str(one.get("armSkuName")), float(one.get("retailPrice") or 0)
        plain = all(one.get(key) == value for key, value in PLAIN.items()) and one.get("armRegionName") == region
        if plain and 0 < usd < web.MOST_USD and name in types and not any(word in names for word in OTHERWISE):
            offered = (bool(one.get("isPrimaryMeterRegion")), usd)
            best[kind, name] = max(offered, best.get((kind, name), offered))
    found: dict[Kind, dict[str, float]] = {"on_demand": {}, "spot": {}}
    for (kind, name), (_, usd) in best.items():
        found[kind][name] = usd
    return found
