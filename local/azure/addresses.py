"""Private addresses of subnets: who has which. Azure keeps five of every subnet: the first four and the last.

Whatever has addresses keeps them in its `state["addresses"]`, a list of `Held`; nothing else counts as taken.
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from typing import NamedTuple

from .errors import ArmError, bad_request
from .ids import Id
from .kinds import World
from .store import Resource

FIRST = 4  # the network, its router and two for DNS stand before


class Held(NamedTuple):
    """`subnet` is its id in small letters; `by` the id of the configuration that has the address."""

    subnet: str
    address: str
    by: str


def prefix(subnet: Resource) -> IPv4Network:
    properties = subnet.properties
    return IPv4Network(properties.get("addressPrefix") or properties["addressPrefixes"][0])


def allocated(world: World, subnet: Resource, but: Id | None = None) -> Iterator[Held]:
    """All of a subnet, without those of one resource."""
    for one in world.store.all():
        if but is None or one.id.key != but.key:
            yield from (entry for entry in one.state.get("addresses", ()) if entry.subnet == subnet.id.key)


def free(world: World, subnet: Resource, count: int = 1, but: Id | None = None) -> list[str]:
    """The first that nobody has. Raises ArmError when there are not so many."""
    taken = {entry.address for entry in allocated(world, subnet, but)}
    return _free(subnet, taken, count)


def _free(subnet: Resource, taken: set[str], count: int) -> list[str]:
    space = prefix(subnet)
    order = range(FIRST, space.num_addresses - 1)
    found: list[str] = []
    for n in order:
        if len(found) == count:
            break
        if (address := str(space[n])) not in taken:
            found.append(address)
    if len(found) < count:
        message = (
            f"Subnet {subnet.id.name} with address prefix {space} does not have enough capacity for {count} IP "
            "addresses."
        )
        raise bad_request("SubnetIsFull", message)
    return found


def check(world: World, subnet: Resource, wanted: str, by: str, but: Id | None = None) -> str:
    """A static address, as it is kept. Raises ArmError for one that cannot be had."""
    space = prefix(subnet)
    try:
        address = IPv4Address(wanted)
    except ValueError:
        raise bad_request("InvalidRequestFormat", f"Value '{wanted}' of {by} is no IPv4 address.") from None
    if address not in space:
        message = f"Private static IP address {address} does not belong to the range of subnet prefix {space}."
        raise bad_request("PrivateIPAddressNotInSubnet", message)
    if not FIRST <= int(address) - int(space[0]) < space.num_addresses - 1:
        message = (
            f"Private static IP address {address} falls within reserved IP range of subnet prefix {space} of subnet "
            f"{subnet.id.text}."
        )
        raise bad_request("PrivateIPAddressInReservedRange", message)
    for entry in allocated(world, subnet, but):
        if entry.address == str(address):
            raise taken_error(str(address), by, entry.by)
    return str(address)


def taken_error(address: str, by: str, other: str) -> ArmError:
    message = (
        f"IP configuration {by} is using the private IP address {address} which is already allocated to resource "
        f"{other}."
    )
    return bad_request("PrivateIPAddressIsAllocated", message)


def allot(world: World, resource: Resource, wishes: list[tuple[Resource, str | None, str]]) -> list[Held]:
    """Addresses for a resource's configurations: (subnet, static address or None, configuration's id), in this order.

    One that has an address in the same subnet keeps it. All are kept in the resource's state.
    """
    before = {(entry.subnet, entry.by.lower()): entry.address for entry in resource.state.get("addresses", ())}
    found: dict[int, Held] = {}
    taken: dict[tuple[str, str], str] = {}
    for n, (subnet, static, by) in sorted(enumerate(wishes), key=lambda one: one[1][1] is None):
        key = subnet.id.key
        if static is not None:
            address = check(world, subnet, static, by, resource.id)
            if other := taken.get((key, address)):
                raise taken_error(address, by, other)
        else:
            gone = {entry.address for entry in allocated(world, subnet, resource.id)}
            gone |= {used for of, used in taken if of == key}
            old = before.get((key, by.lower()))
            address = old if old and old not in gone else _free(subnet, gone, 1)[0]
        taken[key, address] = by
        found[n] = Held(key, address, by)
    allotted = [found[n] for n in range(len(wishes))]
    resource.state = {**resource.state, "addresses": allotted}
    return allotted
