"""A site, a region of AWS and one of Azure, each joined with each other one: four tunnels are between the clouds."""

import contextlib
from collections.abc import Iterator
from ipaddress import IPv4Network
from pathlib import Path
from typing import NamedTuple

from components.links.aws.cross_cloud import cross_cloud_connections, tunnel_options
from components.links.azure.connections import OtherEnd, other_ends
from components.links.plan import Crossing
from fleet import hubs
from fleet.address.plan import AddressPlan
from fleet.model import Fleet

from . import frr
from .azure.routing import INSIDE, INSTANCES, About, Azure, Line
from .charon import Charon
from .gateway import ports
from .hub import ESP, IKE, START, endpoint
from .lab import SITE, Lab
from .machines import Machine, moved


class Cross(NamedTuple):
    """AWS's end of a tunnel to Azure, of which `there` is the public address."""

    tunnel: Crossing
    machine: Machine
    charon: Charon
    here: str
    there: str
    device: str


class Clouds(Lab):
    """The hub of AWS knows Azure's network by four tunnels, and the site by its own two alone."""

    def __init__(self, logs: Path, fleet: Fleet, plan: AddressPlan, aws: str, azure: str) -> None:
        super().__init__(logs, fleet, plan, SITE, [aws, azure])
        self.west = aws
        self.about = About(azure, hubs.asn(azure), plan.region(azure).network)
        self.azure_ends = [
            end for end in other_ends(fleet, plan, azure) if end.site or (end.tunnel and end.tunnel.aws == aws)
        ]
        self.startup = {
            str(tunnel_options(one)["tunnel1_startup_action"]) for one in cross_cloud_connections(fleet, plan)
        }
        self.crosses: list[Cross] = []

    def others(self) -> list[Azure]:
        fabric, host = self._machine("fabric"), self._machine("host-azure")
        network = IPv4Network(self.about.network)
        self.cabled(fabric, host, network)
        instances = self._machine("instance-0"), self._machine("instance-1")
        lines = [line for end in self.azure_ends for line in self._lines(end)]
        self.azure = Azure(self.about, fabric, host, instances, lines)
        return [self.azure]

    def _lines(self, end: OtherEnd) -> Iterator[Line]:
        if end.site:
            (spec,) = self.specs
            for mine in (one for one in spec.ends if one.region == self.about.name):
                port, key = ports(spec.ends.index(mine))[1], self.keys[mine.tunnel.name]
                yield self._line(
                    f"{end.name}-{mine.tunnel.instance}",
                    end,
                    mine.tunnel.instance,
                    mine.outside,
                    spec.address,
                    key,
                    port,
                )
        elif end.tunnel:
            number = len(self.crosses) + 1
            here, there = f"198.51.100.{200 + number}", f"198.51.100.{220 + number}"
            key = f"x{number}.{'secret_' * 4}{number}"
            self.crosses.append(self._cross(end.tunnel, here, there, key))
            yield self._line(end.name, end, end.tunnel.instance, there, here, key, 4500)

    def _line(self, name: str, end: OtherEnd, instance: int, here: str, there: str, key: str, port: int) -> Line:
        machine = self.outside(name, here)
        charon = Charon(machine, "endpoint", 0, ["/etc/swanctl/conf.d/endpoint.conf"])
        return Line(name, machine, charon, end, instance, here, there, key, port, f"tun{len(self.machines)}")

    def _cross(self, tunnel: Crossing, here: str, there: str, key: str) -> Cross:
        name = f"aws-{tunnel.number}"
        machine = self.outside(name, here)
        (startup,) = self.startup
        text = endpoint(name, here, there, key=key, port=4500, ike=IKE, esp=ESP, start=START[startup])
        machine.write({"/etc/swanctl/conf.d/endpoint.conf": text})
        charon = Charon(machine, "endpoint", 0, ["/etc/swanctl/conf.d/endpoint.conf"])
        return Cross(tunnel, machine, charon, here, there, f"cross{tunnel.number}")

    def begin_others(self) -> None:
        """AWS's ends begin, as `start` has them do."""
        hub = self.hubs[self.west]
        for cross in self.crosses:
            cross.charon.start(500, 4500, include="/dev/null")
        for cross in self.crosses:
            moved(cross.machine, cross.charon.ready(), hub.machine, cross.device)
            hub.machine.ip(
                f"link set {cross.device} mtu 1400 up", f"addr add {cross.tunnel.aws_address}/30 dev {cross.device}"
            )
            cross.charon.named()
        hub.machine.write({"/run/lab/crossing": self._sessions()})
        hub.machine.run("vtysh", "-f", "/run/lab/crossing")
        for cross in self.crosses:
            cross.charon.load()

    def _sessions(self) -> str:
        """As a transit gateway does: of what its tunnels' table has it tells Azure, its own block, and believes all."""
        block = self.told(self.west)
        lines = [f"ip prefix-list BLOCK seq 10 permit {block}", f"router bgp {hubs.asn(self.west)}"]
        lines += [f"neighbor {one.tunnel.azure_address} remote-as {self.about.asn}" for one in self.crosses]
        lines += [f"neighbor {one.tunnel.azure_address} timers connect 5" for one in self.crosses]
        lines += ["address-family ipv4 unicast", "maximum-paths 8"]
        lines += [f"neighbor {one.tunnel.azure_address} prefix-list BLOCK out" for one in self.crosses]
        return "\n".join([*lines, "exit-address-family", "exit"]) + "\n"

    def told(self, region: str) -> str:
        return self.about.network if region == self.about.name else super().told(region)

    def hubs_settled(self) -> bool:
        hub = self.hubs[self.west]
        wanted = {
            self.spec.block_cidr: {end.tunnel.gateway_address for end in hub.ends},
            self.about.network: {one.tunnel.azure_address for one in self.crosses},
        }
        both = {INSIDE.format(number, 2) for number in INSTANCES}
        known = dict.fromkeys((self.spec.block_cidr, self.told(self.west)), both)
        return frr.routes(hub.machine) == wanted and self.azure.ways() == known

    def hub_ways(self) -> set[str]:
        """By which of Azure's addresses AWS leads to its network."""
        return frr.routes(self.hubs[self.west].machine).get(self.about.network, set())

    def ways_to_site(self) -> set[str]:
        """Every neighbour of whom AWS believes something of the site, whether it is the best or not."""
        told = frr.told(self.hubs[self.west].machine, f"show bgp ipv4 unicast {self.spec.block_cidr} json")
        return {hop["ip"] for path in told.get("paths", ()) for hop in path["nexthops"]}

    @contextlib.contextmanager
    def lost(self, cross: Cross) -> Iterator[None]:
        """The path of one tunnel between the clouds swallows everything."""
        with self.dead(cross.here):
            yield

    def line(self, instance: int) -> Line:
        """The site's at an instance."""
        return next(one for one in self.azure.of(instance) if one.end.site)
