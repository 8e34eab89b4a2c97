"""Whether a packet gets from one address of the fleet to another, hop by hop, by the plan alone. Pure.

Every hop is judged by the very data that is built from: route tables, hubs' tables, gateways' prefix lists and
firewalls, security groups. Nothing is asked, so it says what would be once everything stands and is up.
"""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv4Network
from typing import NamedTuple, TypeVar

from components.network.aws.spec import network_spec
from components.network.hub_tables import INWARD, OUTWARD
from components.network.ports import MATRIX, Group, sources
from components.network.routes import Route, RouteTable
from fleet.address.plan import AddressPlan
from fleet.model import Fleet

from .azure.trace import azure_network
from .gateway.spec import GatewaySpec, gateway_specs
from .hub_routes import NETWORK, HubRoute, hub_routes
from .laptops.spec import Server, laptops_spec
from .plan import tunnels

REGION, SITE = "region", "site"
T = TypeVar("T")


class Place(NamedTuple):
    """Where an address is: `kind` is region or site."""

    kind: str
    name: str
    address: str

    def __str__(self) -> str:
        return f"{self.address} in {self.kind} {self.name}"


class Port(NamedTuple):
    protocol: str
    number: int

    def __str__(self) -> str:
        return f"{self.protocol}/{self.number}"


class Hop(NamedTuple):
    """`at` is who decides, `why` the rule by which the packet goes on, or does not."""

    at: str
    why: str
    passes: bool = True


class Way(NamedTuple):
    """One direction; where it ends too soon the last hop says why."""

    source: Place
    target: Place
    hops: tuple[Hop, ...]

    @property
    def arrives(self) -> bool:
        return all(hop.passes for hop in self.hops)


class NoPlaceError(ValueError):
    """A text that names no place of the fleet."""


class Paths:
    """The whole fleet, looked through once."""

    def __init__(self, fleet: Fleet, plan: AddressPlan) -> None:
        self.fleet, self.plan = fleet, plan
        # Where a hub's address outside is does not matter to what passes inside.
        outside = {one.name: "" for one in tunnels(fleet, plan)}
        self.gateways = {site: gateway_specs(fleet, plan, site, outside) for site in fleet.sites}
        here = [name for name, region in fleet.regions.items() if region.cloud == "aws"]
        self.networks = {name: network_spec(fleet, plan, name) for name in here}
        self.hubs = {name: hub_routes(fleet, plan, name) for name in here}
        clouds = fleet.regions.items()
        self.azure = {name: azure_network(fleet, plan, name) for name, about in clouds if about.cloud == "azure"}
        self.laptops = {name: found for name in fleet.regions if (found := laptops_spec(fleet, plan, name))}

    def place(self, text: str) -> Place:
        """A region's or a site's name, or an address of one. Raises NoPlaceError."""
        if text in self.networks:
            first = next(one for one in self.networks[text].subnets if not one.public)
            return Place(REGION, text, str(IPv4Network(first.cidr)[-2]))
        if text in self.azure:
            of_machines = next(one for one in self.azure[text].subnets if one.group == "private")
            return Place(REGION, text, str(IPv4Network(of_machines.cidr)[-2]))
        if text in self.fleet.sites:
            return Place(SITE, text, str(IPv4Network(self.plan.site(text).lan)[-2]))
        try:
            owner = self.plan.owner(text)
        except ValueError:
            known = ", ".join([*self.networks, *self.azure, *self.fleet.sites])
            raise NoPlaceError(f"{text} is neither an address nor one of {known}") from None
        kind, _, rest = (owner or "").partition("/")
        if kind not in (REGION, SITE):
            raise NoPlaceError(
                f"{text} is {f'of {owner}' if owner else 'nobody'}: no machine of a region or site has it"
            )
        return Place(kind, rest.partition("/")[0], text)

    def way(self, source: Place, target: Place, port: Port | None = None) -> Way:
        """From one to the other. `port` is judged at a target in a region, where security groups are the plan's."""
        hops: list[Hop] = []
        for hop in self._hops(source, target, port):
            hops.append(hop)
            if not hop.passes:
                break
        return Way(source, target, tuple(hops))

    def _hops(self, source: Place, target: Place, port: Port | None) -> Iterator[Hop]:
        if source.kind == SITE:
            yield from self._out_of_site(source, target, port)
        elif server := self._server(source):
            yield from self._out_of_laptop(server, source, target, port)
        elif source.name in self.azure:
            yield from self._out_of_azure(source, target, port)
        else:
            yield from self._out_of_region(source, target, port)

    def _server(self, place: Place) -> Server | None:
        """Which gives laptops the address, if it is a laptop's."""
        spec = self.laptops.get(place.name) if place.kind == REGION else None
        return next((one for one in spec.servers if _in(place.address, one.pool_cidr)), None) if spec else None

    def _out_of_laptop(self, server: Server, source: Place, target: Place, port: Port | None) -> Iterator[Hop]:
        spec, at = self.laptops[source.name], f"server {server.name} of {source.name}"
        if any(_in(target.address, pool) for pool in spec.pools):
            yield Hop(at, f"{target.address} is a laptop: none reaches another one", passes=False)
            return
        found = _longest(target.address, [(cidr, cidr) for _, cidr in spec.reached])
        yield Hop(at, _pushed(found, target), passes=found is not None)
        if spec.own_name:
            here = IPv4Network(self.plan.region(source.name).zones[server.zone].public)
            yield Hop(at, f"sends it in its own name, from {here}")
            yield from self._out_of_azure(source._replace(address=str(here[-2])), target, port)
        elif _in(target.address, self.networks[source.name].cidr):
            yield from self._into_network(source, target, port)
        else:
            zones = [(one.cidr, one) for one in self._table(source.name, server.zone).routes]
            yield from self._by_hub(source, target, port, _longest(target.address, zones), "public")

    def _table(self, region: str, zone: str) -> RouteTable:
        """Of the zone's public subnet, where servers for laptops stand."""
        return next(one for one in self.networks[region].route_tables if one.public and zone in one.zones)

    def _out_of_region(self, source: Place, target: Place, port: Port | None) -> Iterator[Hop]:
        network = self.networks[source.name]
        subnet = next((one for one in network.subnets if _in(source.address, one.cidr)), None)
        if subnet is None:
            yield Hop(f"network {source.name}", f"no subnet has {source.address}", passes=False)
            return
        if _in(target.address, network.cidr):
            yield from self._into_network(source, target, port)
            return
        table = next(one for one in network.route_tables if subnet.zone in one.zones and one.public == subnet.public)
        if server := self._server(target) if target.name == source.name else None:
            at = f"network {source.name}, route table {table.name}"
            yield from self._to_laptop(at, server, target)
            return
        route = _longest(target.address, [(one.cidr, one) for one in table.routes])
        yield from self._by_hub(source, target, port, route, table.name)

    def _by_hub(
        self, source: Place, target: Place, port: Port | None, route: Route | None, table: str
    ) -> Iterator[Hop]:
        leads = route is not None and route.target == "hub"
        why = f"{route.cidr} leads to the {route.target}" if route else f"no route to {target.address}"
        yield Hop(f"network {source.name}, route table {table}", why, passes=leads)
        yield from self._through_hub(source.name, OUTWARD, source, target, port)

    def _to_laptop(self, at: str, server: Server, target: Place) -> Iterator[Hop]:
        yield Hop(at, f"{server.pool_cidr} leads to server {server.name}")
        yield Hop(f"server {server.name} of {target.name}", "lets answers through, and nobody begins")

    def _through_hub(self, region: str, table: str, source: Place, target: Place, port: Port | None) -> Iterator[Hop]:
        at = f"hub {region}, table {table}"
        found = [one for one in self.hubs[region] if one.table == table]
        route = _longest(target.address, [(one.cidr, one) for one in found])
        if route is None:
            yield Hop(at, f"no route to {target.address}", passes=False)
        elif route.via == NETWORK:
            yield Hop(at, f"{route.cidr} leads to the network")
            yield from self._into_network(source, target, port)
        elif route.via in self.azure:
            yield Hop(at, f"BGP tells {route.cidr} on the tunnels with {route.via}")
            yield from self._into_azure(source, target, port)
        elif route.learned:
            yield from self._into_site(at, [one for one in found if one.cidr == route.cidr], source, target)
        else:
            yield Hop(at, f"{route.cidr} leads to the peering with {route.via}")
            yield from self._through_hub(route.via, INWARD, source, target, port)

    def _out_of_azure(self, source: Place, target: Place, port: Port | None) -> Iterator[Hop]:
        network, at = self.azure[source.name], f"network {source.name}"
        if not any(_in(source.address, one.cidr) for one in network.subnets):
            yield Hop(at, f"no subnet has {source.address}", passes=False)
            return
        if _in(target.address, network.cidr):
            yield from self._into_azure(source, target, port)
            return
        route = _longest(target.address, [(one.cidr, one) for one in network.routes])
        if route is None:
            yield Hop(at, f"no route to {target.address}", passes=False)
        elif route.via in self.azure:
            yield Hop(at, f"{route.cidr} leads to the peering with {route.via}")
            yield from self._into_azure(source, target, port)
        elif route.via in self.networks:
            yield Hop(f"hub {source.name}", f"BGP tells {route.cidr} on the tunnels with {route.via}")
            yield from self._through_hub(route.via, INWARD, source, target, port)
        else:
            mine = [one for one in network.routes if one.cidr == route.cidr]
            yield from self._into_site(f"hub {source.name}", mine, source, target)

    def _into_azure(self, source: Place, target: Place, port: Port | None) -> Iterator[Hop]:
        network, at = self.azure[target.name], f"network {target.name}"
        if server := self._server(target):
            yield Hop(f"server {server.name} of {target.name}", "lets nobody begin", passes=False)
            return
        subnet = next((one for one in network.subnets if _in(target.address, one.cidr)), None)
        yield Hop(at, _arrived(subnet.name if subnet else "", target), passes=subnet is not None)
        if port is not None:
            yield _let_in(at, network.groups, source, port)

    def _into_network(self, source: Place, target: Place, port: Port | None) -> Iterator[Hop]:
        network = self.networks[target.name]
        if server := self._server(target):
            yield from self._to_laptop(f"network {target.name}", server, target)
            return
        subnet = next((one for one in network.subnets if _in(target.address, one.cidr)), None)
        at = f"network {target.name}"
        yield Hop(at, _arrived(subnet.name if subnet else "", target), passes=subnet is not None)
        if port is not None:
            yield _let_in(at, network.groups, source, port)

    def _into_site(self, at: str, routes: Iterable[HubRoute], source: Place, target: Place) -> Iterator[Hop]:
        names = [one.via for one in routes]
        yield Hop(at, f"BGP tells {self.plan.site(target.name).block} on {' and '.join(names)}")
        for gateway in self.gateways[target.name]:
            devices = [end.device for end in gateway.ends if _in(source.address, end.region_cidr)]
            passes = bool(devices) and _in(target.address, gateway.block_cidr)
            rule = f"{' and '.join(devices) or 'no tunnel'} may bring {source.address} to {gateway.block_cidr}"
            yield Hop(f"gateway {gateway.address}", rule, passes=passes)
        lan = self.plan.site(target.name).lan
        inside = _in(target.address, lan)
        yield Hop(f"site {target.name}", f"{target.address} is {'' if inside else 'not '}in {lan}", passes=inside)

    def _out_of_site(self, source: Place, target: Place, port: Port | None) -> Iterator[Hop]:
        if (target.kind, target.name) == (SITE, source.name):
            yield Hop(f"site {source.name}", "both are in the site")
            return
        for gateway in self.gateways[source.name]:
            yield _leaves(gateway, source, target)
        if target.name in self.azure:
            yield from self._into_azure(source, target, port)
        elif target.kind == REGION:
            yield from self._through_hub(target.name, INWARD, source, target, port)


def unreachable(fleet: Fleet, plan: AddressPlan, region: str) -> list[str]:
    """Rows of the port matrix that no packet could use: from each of their sources to the region, and back."""
    paths, found = Paths(fleet, plan), []
    target = paths.place(region)
    prefixes = sources(fleet, plan, region)
    for row in MATRIX:
        for name in prefixes[row.source]:
            place = name.partition("-")[2]
            if place not in fleet.regions and place not in fleet.sites:
                continue  # clusters and laptops have no machine of their own there
            source = paths.place(place)
            both_paths = paths.way(source, target, Port(row.protocol, row.port)), paths.way(target, source)
            for way in both_paths:
                if not way.arrives:
                    last = way.hops[-1]
                    found.append(
                        f"{row.to} {row.protocol}/{row.port}: {way.source} to {way.target}: {last.at}: {last.why}"
                    )
    return found


def _leaves(gateway: GatewaySpec, source: Place, target: Place) -> Hop:
    """By its list BGP believes a region's block on the region's own tunnels, and by the same the firewall lets out."""
    at, ends = f"gateway {gateway.address}", [end for end in gateway.ends if _in(target.address, end.region_cidr)]
    if not _in(source.address, gateway.block_cidr):
        return Hop(at, f"{source.address} is not of {gateway.block_cidr}, and nothing else may leave", passes=False)
    if not ends:
        return Hop(at, f"no tunnel leads to {target.address}: each leads to its own region alone", passes=False)
    return Hop(at, f"{ends[0].region_cidr} is believed on {' and '.join(end.name for end in ends)}")


def _open(groups: Iterable[Group], source: Place, port: Port) -> Iterator[str]:
    for group in groups:
        rules = (one for one in group.rules if (one.protocol, one.port) == port and _in(source.address, one.cidr))
        if next(rules, None) is not None:
            yield group.name


def _pushed(cidr: str | None, target: Place) -> str:
    return f"pushes {cidr}, and lets it through" if cidr else f"nothing is pushed for {target.address}"


def _arrived(subnet: str, target: Place) -> str:
    return f"{target.address} is in subnet {subnet}" if subnet else f"no subnet has {target.address}"


def _let_in(at: str, of: Iterable[Group], source: Place, port: Port) -> Hop:
    groups = list(_open(of, source, port))
    groups_text = f"security group {' and '.join(groups)}" if groups else "no security group"
    return Hop(at, f"{groups_text} lets {port} of {source.address} in", passes=bool(groups))


def _in(address: str, cidr: str) -> bool:
    return IPv4Address(address) in IPv4Network(cidr)


def _longest(address: str, routes: Iterable[tuple[str, T]]) -> T | None:
    fitting = [(IPv4Network(cidr).prefixlen, one) for cidr, one in routes if _in(address, cidr)]
    return max(fitting, key=lambda found: found[0])[1] if fitting else None
