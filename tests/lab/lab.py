"""The whole lab: the internet, a region's endpoints, hub and host for each region of the fleet, a site's gateway and host."""

import contextlib
import time
from collections.abc import Iterator
from ipaddress import IPv4Network
from pathlib import Path

from components.links.gateway.spec import End, gateway_specs
from components.links.plan import tunnels
from fleet.world import current

from . import frr, traffic
from .charon import Charon
from .gateway import Gateway, ports
from .hub import Endpoint, Hub
from .machines import LabError, Machine, awaited, joined

ROOT = Path(__file__).parents[2]
SITE = "lab"
# The internet's own address on the cables to endpoints, and its nft set of addresses that are out of reach.
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


class Lab:
    """`begin` brings all up; `close` ends it. Times since the first packet are in `took_seconds`."""

    def __init__(self, logs: Path) -> None:
        world = current(ROOT / "fleet.yaml")
        planned = tunnels(world.fleet, world.plan)
        outside = {one.name: f"198.51.100.{number}" for number, one in enumerate(planned, 1)}
        (self.spec,) = gateway_specs(world.fleet, world.plan, SITE, outside)
        self.lan = IPv4Network(world.plan.site(SITE).lan)
        self.networks = {region: IPv4Network(world.plan.region(region).network) for region in world.fleet.regions}
        # From AWS's alphabet; one differs from the next.
        self.keys = {one.name: f"k{number}.{'secret_' * 4}{number}" for number, one in enumerate(planned, 1)}
        self.logs = logs
        self.machines: list[Machine] = []
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
        self._site()
        self.hubs = {region: self._hub(region) for region in self.networks}
        self.internet.sysctl("net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0")
        self.internet.nft(INTERNET)
        self.gateway.start()
        for hub in self.hubs.values():
            hub.start()
            traffic.serve(hub.host, self.addresses(self.networks[hub.region]))
        traffic.serve(self.host, self.addresses(self.lan))
        begun = time.monotonic()
        self.gateway.connect()
        awaited("all sessions", self.settled, READY_SECONDS, 0.5)
        self.took_seconds = time.monotonic() - begun

    def _machine(self, name: str) -> Machine:
        self.machines.append(Machine(name, self.logs))
        return self.machines[-1]

    def _site(self) -> None:
        machine = self._machine("gateway")
        joined(machine, "wan", self.internet, "site")
        joined(machine, "lan", self.host, "lan")
        self.internet.ip("addr add 192.0.2.1/24 dev site")
        machine.ip(
            f"addr add {self.spec.address}/24 dev wan",
            f"addr add {self.lan[1]}/{self.lan.prefixlen} dev lan",
            "route add default via 192.0.2.1",
        )
        self.host.ip(
            *(f"addr add {address}/{self.lan.prefixlen} dev lan" for address in self.addresses(self.lan)),
            f"route add default via {self.lan[1]}",
        )
        self.gateway = Gateway(machine, self.spec, self.keys)

    def _hub(self, region: str) -> Hub:
        hub, host, network = self._machine(f"hub-{region}"), self._machine(f"host-{region}"), self.networks[region]
        joined(hub, "vpc", host, "vpc")
        hub.ip(f"addr add {network[1]}/{network.prefixlen} dev vpc")
        host.ip(
            *(f"addr add {address}/{network.prefixlen} dev vpc" for address in self.addresses(network)),
            f"route add default via {network[1]}",
        )
        endpoints = [self._endpoint(end) for end in self.spec.ends if end.region == region]
        return Hub(hub, host, endpoints, self.spec.asn, self.spec.block_cidr)

    def _endpoint(self, end: End) -> Endpoint:
        machine, number = self._machine(f"endpoint-{end.name}"), self.spec.ends.index(end)
        joined(machine, "wan", self.internet, f"e{number}")
        self.internet.ip(f"addr add {UPLINK} peer {end.outside} dev e{number}")
        machine.ip(f"addr add {end.outside} peer {UPLINK} dev wan", f"route add default via {UPLINK}")
        charon = Charon(machine, "endpoint", 0, ["/etc/swanctl/conf.d/endpoint.conf"])
        key = self.keys[end.tunnel.name]
        return Endpoint(machine, end, charon, key, self.spec.address, ports(number)[1])

    def addresses(self, network: IPv4Network) -> list[str]:
        return [str(network[10 + number]) for number in range(HOSTS)]

    def asking(self, region: str) -> contextlib.AbstractContextManager[traffic.Result]:
        """Flows from the site's host to a region's, by all of its tunnels."""
        return traffic.asking(self.host, self.addresses(self.lan), self.addresses(self.networks[region]))

    def endpoint(self, end: End) -> Endpoint:
        return next(one for one in self.hubs[end.region].endpoints if one.end == end)

    def ends(self, region: str) -> list[End]:
        return [end for end in self.spec.ends if end.region == region]

    def settled(self) -> bool:
        """All sessions are up and all ways usual, at both ends."""
        if self.gateway.established() != {end.name for end in self.spec.ends}:
            return False
        here = frr.routes(self.gateway.machine)
        if any(here.get(end.region_cidr) != {one.there for one in self.ends(end.region)} for end in self.spec.ends):
            return False
        both = {hub: {end.tunnel.gateway_address for end in hub.ends} for hub in self.hubs.values()}
        return all(frr.routes(hub.machine) == {self.spec.block_cidr: ways} for hub, ways in both.items())

    def settle(self) -> None:
        """Before a test: what an earlier one left must be over. Raises LabError."""
        with contextlib.suppress(LabError):
            awaited("quick", self.settled, 3.0, 0.5)
            return
        frr.vtysh(self.gateway.machine, "clear bgp ipv4 unicast *")
        awaited("all sessions again", self.settled, READY_SECONDS, 0.5)

    @contextlib.contextmanager
    def silent(self, *ends: End) -> Iterator[None]:
        """The path of these tunnels swallows everything."""
        names = ", ".join(end.outside for end in ends)
        self.internet.nft(f"add element ip lab dead {{ {names} }}")
        try:
            yield
        finally:
            self.internet.nft(f"delete element ip lab dead {{ {names} }}")

    def close(self) -> None:
        for machine in reversed(self.machines):
            machine.close()
        self.machines.clear()
