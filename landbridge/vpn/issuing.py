"""Gives people certificates for their laptops, and takes them back."""

import os
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from components.links.laptops import profile
from components.links.laptops.authority import MOST_DAYS, Certificate, issue
from components.links.laptops.wrapping import client_key
from fleet import laptops
from fleet.world import World
from landbridge.certificates import people
from landbridge.certificates.ledger import Issued
from landbridge.certificates.people import Given
from landbridge.errors import UsageError
from landbridge.places import Place

from .store import Store

PROFILE_MODE = 0o600


def regions(world: World, named: str | None) -> list[str]:
    """Those that laptops come in by; the named one. Raises UsageError."""
    found = [name for name in world.fleet.regions if laptops.served(world.fleet, name)]
    if named and named not in found:
        known = f"Those that have: {', '.join(found)}." if found else "No region has: set `laptops: true` in one."
        raise UsageError(f"{world.path.name}: region {named} has no servers for laptops. {known}")
    if not found:
        raise UsageError(f"{world.path.name} has no region with laptops. Set `laptops: true` in one, and bring it up.")
    return [named] if named else found


def stores(world: World, place: Place, named: str | None) -> list[Store]:
    """All there before any is changed. Raises UsageError, LandbridgeError."""
    return [Store(world, place, region) for region in regions(world, named)]


def files(person: str, found: list[Store], out: Path | None) -> list[Path]:
    """A profile for each region. Raises UsageError where one is there already, or can't be written."""
    made = people.files(person, found, out, ".ovpn")
    for file in made:
        if file.exists() or file.is_symlink():
            raise UsageError(
                f"{file} is there already, and may be in use. Move it away, or name another with --output."
            )
    return made


def add(world: World, found: list[Store], person: str, days: float, out: Path | None, *, renew: bool) -> list[Given]:
    """One for each region. Raises UsageError and LandbridgeError, and then nobody has got one more."""
    people.check(world, person, days, MOST_DAYS, "--days")
    now = datetime.now(UTC).replace(microsecond=0)
    for store in found:
        live = [one for one in store.ledger().of(person) if one.holds(now)]
        if live and not renew:
            last = max(live, key=lambda one: one.until)
            raise UsageError(
                f"{person} has certificate {last.serial} for {store.region}, until {last.until:%Y-%m-%d}. Another one "
                "beside it: --renew. One that is lost: `landbridge vpn revoke` first."
            )
        store.authority  # noqa: B018  (it can be read)
    targets = files(person, found, out)
    return [_give(store, person, days, file, now) for store, file in zip(found, targets, strict=True)]


def _give(store: Store, person: str, days: float, file: Path, now: datetime) -> Given:
    """The file is there before the certificate counts, and gone again when that can't be noted."""
    one = issue(store.authority, person, days, now)
    _write(file, _text(store, person, one))
    try:
        noted = store.note(lambda ledger: ledger.with_one(Issued(one.serial, person, one.since, one.until)))
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    store.lay(noted, now)
    return Given(person, store.region, one.serial, one.until, file.absolute())


def _text(store: Store, person: str, one: Certificate) -> str:
    wrapping = client_key(store.authority.wrapping, int(time.time()))
    shared = (person, store.world.fleet.fleet, store.region, store.addresses, store.vouching)
    return profile.text(profile.Profile(*shared, one, wrapping))


def _write(file: Path, text: str) -> None:
    """For its owner's eyes alone, and never in place of another. Raises UsageError."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PROFILE_MODE)
        with os.fdopen(descriptor, "w") as writing:
            writing.write(text)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}. Name another place with --output.") from None


def sign(found: Iterable[Store]) -> dict[str, datetime]:
    """Signs the lists of revoked certificates anew; when each ends then."""
    ends = {}
    for store in found:
        store.lay(store.note(lambda ledger: ledger), datetime.now(UTC).replace(microsecond=0))
        if listed := store.listed():
            ends[store.region] = listed.until
    return ends
