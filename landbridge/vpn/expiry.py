"""What ends soon, or is wrong already: people's and servers' certificates, the list of revoked ones, the authority."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from components.links.laptops import server
from components.links.laptops.authority import ends
from fleet.laptops import PLACE
from landbridge.clouds.cloud import CloudError

from .store import Store


class Expiry(NamedTuple):
    """`what` ends at `until`; `remedy` is what to do. Without a time it is wrong already."""

    region: str
    what: str
    until: datetime | None
    remedy: str

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


def expiring_soon(store: Store, within_days: float, now: datetime) -> list[Expiry]:
    """Soonest first."""
    border = now + timedelta(days=within_days)
    found = [one for one in _all(store, now) if one.until is None or one.until < border]
    return sorted(found, key=lambda one: (one.until or now, one.what))


def _all(store: Store, now: datetime) -> Iterator[Expiry]:
    region, ledger, listed = store.region, store.ledger(), store.listed()
    for person in sorted({one.person for one in ledger.issued}):
        live = [one for one in ledger.of(person) if one.holds(now)]
        if live:  # who has a newer one needs no word about the older
            last = max(live, key=lambda one: one.until)
            remedy = f"`landbridge vpn add {person} --renew`, or let it end"
            yield Expiry(region, f"certificate {last.serial} of {person}", last.until, remedy)
    sign = "`landbridge vpn sign`"
    if listed:
        yield Expiry(region, "the list of revoked certificates", listed.until, f"{sign}: when it ends, nobody gets in")
        lacking = [one for one in ledger.revoked if one.until > now and one.serial not in listed.serials]
        if lacking:
            yield Expiry(
                region, f"{len(lacking)} revoked certificates are not on the list", None, f"{sign} puts them there"
            )
    elif ledger.issued:
        yield Expiry(region, "there is no list of revoked certificates", None, f"{sign}: without it nobody gets in")
    remedy = "all profiles end with it: plan a day on which the region gets another, and everybody a new profile"
    yield Expiry(region, "the authority", ends(store.vouching), remedy)
    for name in sorted(store.outputs["servers"]):
        yield _server(store, name)


def _server(store: Store, name: str) -> Expiry:
    """By the bundle that was published for it."""
    comes = "its group starts another" if store.cloud.heals else f"`{store.up} --refresh` starts another"
    remedy = f"`{store.up} --refresh` makes it anew, then end the machine: {comes}"
    prefix, objects = f"{store.world.fleet.fleet}/{PLACE}/{name}", store.objects
    try:
        signed = json.loads(objects.read(f"{prefix}/manifest.json") or b"")
        version = json.loads(signed["manifest"])["version"]
        files = json.loads(objects.read(f"{prefix}/{version}.json") or b"")
        until = ends(files[server.CERTIFICATE])
    except (CloudError, ValueError, KeyError) as error:
        return Expiry(store.region, f"the bundle of {name} can't be read: {error}", None, f"run `{store.up}`")
    return Expiry(store.region, f"the certificate of server {name}", until, remedy)
