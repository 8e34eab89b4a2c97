"""The whole lab: the internet, a region's endpoints, hub and host for each region of the fleet, a site's gateways and host."""

import contextlib
import time
from collections.abc import Collection, Iterator
from ipaddress import IPv4Network
from pathlib import Path

from components.links.gateway.spec import End, GatewaySpec, gateway_specs
from components.links.plan import tunnels
from fleet.address.plan import AddressPlan
from fleet.model import Fleet
from tests.components.links.bed import example_in_aws

from . import frr, traffic
from .azure.routing import Azure
from .charon import Charon
from .gateway import Gateway, ports
from .hub import Endpoint, Hub
from .machines import LabError, Machine, awaited, joined

SITE = "lab"
# The internet's own address on the cables to endpoints and gateways, and its nft set of addresses that are out of reach.
UPLINK = "203.0.113.1"
INTERNET = """
table ip lab {
    set dead { type ipv4_addr; }
    chain forward {
        type filter hook forward priority filter; policy accept;
        ip saddr @dead drop
        ip daddr @dead drop
    }
}
"""
# Addresses of a host, so that flows differ and take all tunnels.
HOSTS = 4
READY_SECONDS = 90.0


def example() -> tuple[Fleet, AddressPlan]:
    """What of it is in AWS: azure/test_tunnels.py has both clouds."""
    world = example_in_aws()
    return world.fleet, world.plan


class Lab:
    """`begin` brings all up; `close` ends it. Times since the first packet are in `took_seconds`.

    Of one site and some of the fleet's regions. `gateway` and `spec` are the site's first gateway.
    """

    ready_seconds = READY_SECONDS

    def __init__(
        self, logs: Path, fleet: Fleet, plan: AddressPlan, site: str = SITE, regions: Collection[str] | None = None
    ) -> None:
        chosen = fleet.regions.keys() if regions is None else regions
        planned = [one for one in tunnels(fleet, plan) if one.site == site]
        outside = {one.name: f"198.51.100.{number}" for number, one in enumerate(planned, 1)}
        self.specs = [
            one._replace(ends=tuple(end for end in one.ends if end.region in chosen))
            for one in gateway_specs(fleet, plan, site, outside)
        ]
        self.spec = self.specs[0]
        self.lan = IPv4Network(plan.site(site).lan)
        self.aws = [region for region in chosen if fleet.regions[region].cloud == "aws"]
        self.networks = {region: IPv4Network(plan.region(region).network) for region in chosen}
        # From AWS's alphabet; one differs from the next.
        self.keys = {one.name: f"k{number}.{'secret_' * 4}{number}" for number, one in enumerate(planned, 1)}
        self.logs = logs
        self.machines: list[Machine] = []
        self.gateways: list[Gateway] = []
        self.took_seconds = 0.0

    def begin(self) -> None:
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        self.internet = self._machine("internet")
        self.host = self._machine("host")
        self._lan()
        for number in range(len(self.specs)):
            self.gateways.append(self.site_end(number))
        self.hubs = {region: self._hub(region) for region in self.aws}
        others = self.others()
        self.internet.sysctl("net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0")
        self.internet.nft(INTERNET)
        for gateway in self.gateways:
            gateway.start()
        for one in (*self.hubs.values(), *others):
            one.start()
            traffic.serve(one.host, self.addresses(self.networks[one.region]))
        traffic.serve(self.host, self.addresses(self.lan))
        begun = time.monotonic()
        for gateway in self.gateways:
            gateway.connect()
        self.begin_others()
        awaited("all sessions", self.settled, self.ready_seconds, 0.5)
        self.took_seconds = time.monotonic() - begun

    def others(self) -> list[Azure]:
        """Regions of another cloud, cabled and not started yet."""
        return []

    def begin_others(self) -> None:
        """What joins them with the hubs."""

    def _machine(self, name: str) -> Machine:
        self.machines.append(Machine(name, self.logs))
        return self.machines[-1]

    @property
    def gateway(self) -> Gateway:
        return self.gateways[0]

    def _lan(self) -> None:
        """The site's switch, which its host is on."""
        next_hop = self.spec.pair.shared if self.spec.pair else self.lan[1]
        # Or its address would be a port's, and change with it.
        self.host.ip("link add lan address 02:00:00:00:00:01 type bridge", "link set lan up")
        self.host.ip(
            *(f"addr add {address}/{self.lan.prefixlen} dev lan" for address in self.addresses(self.lan)),
            f"route add default via {next_hop}",
        )

    def site_end(self, number: int) -> Gateway:
        """A gateway of the site, cabled and not started yet."""
        spec = self.specs[number]
        machine = self._machine(f"gateway-{number + 1}")
        joined(machine, "wan", self.internet, f"site{number}")
        joined(machine, "lan", self.host, f"port{number}")
        self.internet.ip(f"addr add {UPLINK} peer {spec.address} dev site{number}")
        self.host.ip(f"link set port{number} master lan")
        machine.ip(
            f"addr add {spec.address} peer {UPLINK} dev wan",
            f"addr add {spec.pair.own if spec.pair else self.lan[1]}/{self.lan.prefixlen} dev lan",
            f"route add default via {UPLINK}",
        )
        return Gateway(machine, spec, self.keys)

    def _hub(self, region: str) -> Hub:
        hub, host, network = self._machine(f"hub-{region}"), self._machine(f"host-{region}"), self.networks[region]
        self.cabled(hub, host, network)
        endpoints = [self._endpoint(spec, end) for spec in self.specs for end in spec.ends if end.region == region]
        return Hub(hub, host, endpoints, self.spec.asn, self.spec.block_cidr)

    def cabled(self, router: Machine, host: Machine, network: IPv4Network) -> None:
        joined(router, "vpc", host, "vpc")
        router.ip(f"addr add {network[1]}/{network.prefixlen} dev vpc")
        host.ip(
            *(f"addr add {address}/{network.prefixlen} dev vpc" for address in self.addresses(network)),
            f"route add default via {network[1]}",
        )

    def outside(self, name: str, address: str) -> Machine:
        """A machine with a public address."""
        machine, device = self._machine(f"endpoint-{name}"), f"e{address.replace('.', '-')}"
        joined(machine, "wan", self.internet, device)
        self.internet.ip(f"addr add {UPLINK} peer {address} dev {device}")
        machine.ip(f"addr add {address} peer {UPLINK} dev wan", f"route add default via {UPLINK}")
        return machine

    def _endpoint(self, spec: GatewaySpec, end: End) -> Endpoint:
        machine, number = self.outside(end.name, end.outside), spec.ends.index(end)
        charon = Charon(machine, "endpoint", 0, ["/etc/swanctl/conf.d/endpoint.conf"])
        key = self.keys[end.tunnel.name]
        return Endpoint(machine, end, charon, key, spec.address, ports(number)[1])

    def addresses(self, network: IPv4Network) -> list[str]:
        return [str(network[10 + number]) for number in range(HOSTS)]

    def asking(self, region: str) -> contextlib.AbstractContextManager[traffic.Result]:
        """Flows from the site's host to a region's, by all of its tunnels."""
        return traffic.asking(self.host, self.addresses(self.lan), self.addresses(self.networks[region]))

    def endpoint(self, end: End) -> Endpoint:
        return next(one for one in self.hubs[end.region].endpoints if one.end == end)

    def ends(self, region: str, number: int = 0) -> list[End]:
        """Of one of the site's gateways."""
        return [end for end in self.specs[number].ends if end.region == region]

    def settled(self) -> bool:
        """All sessions are up and all ways usual, at both ends."""
        for gateway in self.gateways:
            if gateway.established() != {end.name for end in gateway.spec.ends}:
                return False
            here, all_ends = frr.routes(gateway.machine), gateway.spec.ends
            for region in {end.region for end in all_ends}:
                if here.get(self.told(region)) != {end.there for end in all_ends if end.region == region}:
                    return False
        return self.hubs_settled()

    def told(self, region: str) -> str:
        """What its cloud tells a site of it."""
        return next(end.region_cidr for spec in self.specs for end in spec.ends if end.region == region)

    def hubs_settled(self) -> bool:
        both = {hub: {end.tunnel.gateway_address for end in hub.ends} for hub in self.hubs.values()}
        return all(frr.routes(hub.machine) == {self.spec.block_cidr: ways} for hub, ways in both.items())

    def settle(self) -> None:
        """Before a test: what an earlier one left must be over. Raises LabError."""
        with contextlib.suppress(LabError):
            awaited("quick", self.settled, 3.0, 0.5)
            return
        for gateway in self.gateways:
            frr.vtysh(gateway.machine, "clear bgp ipv4 unicast *")
        awaited("all sessions again", self.settled, self.ready_seconds, 0.5)

    @contextlib.contextmanager
    def silent(self, *ends: End) -> Iterator[None]:
        """The path of these tunnels swallows everything."""
        with self.dead(*(end.outside for end in ends)):
            yield

    @contextlib.contextmanager
    def dead(self, *addresses: str) -> Iterator[None]:
        """Nothing comes to these public addresses, nor from them."""
        names = ", ".join(addresses)
        self.internet.nft(f"add element ip lab dead {{ {names} }}")
        try:
            yield
        finally:
            self.internet.nft(f"delete element ip lab dead {{ {names} }}")

    def power_off(self, number: int) -> None:
        """One of the site's gateways ends without a word."""
        machine = self.gateways[number].machine
        machine.close()
        self.machines.remove(machine)
        # The kernel takes a dead machine's cables away in its own time.
        self.internet.attempt("ip", "link", "delete", f"site{number}")
        self.host.attempt("ip", "link", "delete", f"port{number}")

    def power_on(self, number: int) -> Gateway:
        """It boots, with an empty memory."""
        self.gateways[number] = self.site_end(number)
        self.gateways[number].start()
        self.gateways[number].connect()
        return self.gateways[number]

    def close(self) -> None:
        for machine in reversed(self.machines):
            machine.close()
        self.machines.clear()
