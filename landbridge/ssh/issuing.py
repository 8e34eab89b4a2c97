"""Gives people certificates for SSH, and takes them back."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from components.boot.certificates import MOST_HOURS, SUFFIX, issue
from components.boot.clients import called
from fleet import logins
from fleet.people import key_problem
from fleet.world import World
from landbridge.certificates import people
from landbridge.certificates.ledger import Issued, Ledger
from landbridge.certificates.people import Given
from landbridge.cluster.info import published
from landbridge.errors import UsageError
from landbridge.places import Place
from stacks.catalogue import catalogue

from .store import Store, of_region

BRING_UP = "Bring the fleet up, and give machines their new bundles."
# So long an ended certificate stays in the ledger, for who asks who it was.
REMEMBERED = timedelta(days=90)


def regions(world: World, named: str | None) -> list[str]:
    """Those with an authority; the named one. Raises UsageError."""
    found = [name for name in world.fleet.regions if logins.served(world.fleet, name)]
    if not found:
        raise UsageError(
            f"{world.path.name}: keys let people in by SSH, as they stand under people. Set `ssh: certificates`. "
            + BRING_UP
        )
    if named and named not in found:
        raise UsageError(f"{world.path.name} has no region {named}. Its regions: {', '.join(found)}.")
    return [named] if named else found


def stores(world: World, place: Place, named: str | None) -> list[Store]:
    """All there before any is changed. Raises UsageError, LandbridgeError."""
    return [Store(world, place, region) for region in regions(world, named)]


def everywhere(world: World, place: Place) -> list[Store]:
    """Of every region that has an authority, if any: what revoking a person is about. Raises LandbridgeError."""
    served = [name for name in world.fleet.regions if logins.served(world.fleet, name)]
    return [Store(world, place, region) for region in served if of_region(place, region)]


def known_hosts(world: World, place: Place) -> dict[str, str]:
    """Stack → its line for clients, of stacks whose machines have certificates."""
    lines = {stack.name: published(place, stack.name).get("known_hosts") for stack in catalogue(world.fleet)}
    return {name: line for name, line in lines.items() if line}


def config(world: World) -> str:
    """What clients need besides, by the plan: machines of pools come and go and have no names.

    Control planes' machines have planned addresses in the same subnets, and are known by those.
    """
    found = ""
    for region in regions(world, None):
        pools = [one for one in world.fleet.pools.values() if one.kind == "ssh" and one.region == region]
        letters = sorted({zone for one in pools for zone in one.zones or world.fleet.regions[region].zones})
        zones = [world.plan.region(region).zones[letter] for letter in letters]
        if zones:
            planned = [address for zone in zones for address in zone.addresses.values()]
            found += called([zone.private for zone in zones], planned, logins.pools_host(world.fleet, region))
    return found or "# The fleet has no pools of kind ssh in a cloud: nothing is needed here.\n"


def public_key(world: World, person: str, hours: float, file: Path | None) -> str:
    """The line that is signed: the file's, else the person's only one in the fleet file. Raises UsageError."""
    people.check(world, person, hours, MOST_HOURS, "--hours")
    if file:
        return _read(file)
    keys = world.fleet.people[person].keys
    if len(keys) == 1:
        return keys[0]
    many = f"{len(keys)} keys" if keys else "no key"
    raise UsageError(f"{person} has {many} in {world.path.name}. Name the .pub file that is meant with --key.")


def _read(file: Path) -> str:
    try:
        line = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--key {file} can't be read: {error}.") from None
    if problem := key_problem(line):
        raise UsageError(f"--key {file} {problem.what}. {problem.remedy}.")
    return line


def files(person: str, found: list[Store], out: Path | None) -> list[Path]:
    """A file for each region. An older certificate may be written over, and nothing else. Raises UsageError."""
    made = people.files(person, found, out, "-cert.pub")
    for file in made:
        if file.is_symlink() or (file.exists() and SUFFIX not in file.read_bytes()[:100].decode(errors="replace")):
            raise UsageError(
                f"{file} is there already, and no certificate. Move it away, or name another with --output."
            )
    return made


def add(found: list[Store], person: str, public: str, hours: float, out: Path | None) -> list[Given]:
    """One for each region. Raises UsageError and LandbridgeError, and then nobody has got one more."""
    now = datetime.now(UTC).replace(microsecond=0)
    for store in found:
        store.authority  # noqa: B018  (it can be read)
    targets = files(person, found, out)
    return [_give(store, person, public, hours, file, now) for store, file in zip(found, targets, strict=True)]


def _give(store: Store, person: str, public: str, hours: float, file: Path, now: datetime) -> Given:
    """It is in the ledger before anybody has it: what is not there can't be taken back."""
    one = issue(store.authority, person, public, hours, now)

    def change(ledger: Ledger) -> Ledger:
        remembered = tuple(old for old in ledger.issued if old.until > now - REMEMBERED)
        return ledger._replace(issued=remembered).with_one(Issued(one.serial, person, one.since, one.until))

    store.note(change)
    try:
        file.write_text(one.text)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}. Name another place with --output.") from None
    return Given(person, store.region, one.serial, one.until, file.absolute())
