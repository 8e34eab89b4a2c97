"""A region of Azure: two instances of its gateway, each a machine that speaks BGP for itself, and its network's fabric.

They keep Azure's rules: one policy for keys and no other, whoever is at the other end begins, keys and BGP alike, a
neighbour is one address with a /32 of its own by whatever tunnel, the network's own prefix is taken from nobody, and
who tells more than 4,000 is heard no more ("About BGP and VPN Gateway", "Configure custom IPsec/IKE connection
policies"). What an instance hears it tells all others. An instance has one public address for all its tunnels; here
each has one of its own, since user space's ESP takes a charon a tunnel.
"""

import contextlib
from typing import NamedTuple

from components.links import tunnel_settings
from components.links.azure.connections import DPD_SECONDS, OtherEnd

from .. import frr, swan
from ..charon import Charon
from ..machines import LabError, Machine, joined
from ..swan import Keys

INSTANCES = (0, 1)
MOST_PREFIXES = 4000
HELLO_SECONDS, HOLD_SECONDS = (
    tunnel_settings.CLOUDS["azure"].hello_seconds,
    tunnel_settings.CLOUDS["azure"].hold_seconds,
)
DAEMONS = ("zebra", "bgpd", "staticd")
# Azure's words in strongSwan's.
SWAN = {"AES256": "aes256", "SHA256": "sha256", "ECP384": "ecp384", "GCMAES256": "aes256gcm16"}
IKE = "-".join(SWAN[str(tunnel_settings.AZURE[part])] for part in ("ike_encryption", "ike_integrity", "dh_group"))
ESP = "-".join(SWAN[str(tunnel_settings.AZURE[part])] for part in ("ipsec_encryption", "pfs_group"))
# Between the fabric and instance n: 100.64.n.1 and .2.
INSIDE = "100.64.{}.{}"


def connection(name: str, here: str, there: str, *, key: str, port: int, ike: str = IKE, esp: str = ESP) -> str:
    """What swanctl loads at an instance; `here` and `there` are public addresses. It takes these proposals alone."""
    child = {
        "rekey_time": f"{tunnel_settings.AZURE['sa_life_time_seconds']}s",
        "start_action": "none",
        "close_action": "none",
        "dpd_action": "clear",
    }
    return swan.text(
        name, here, there, key=key, port=port, keys=Keys(ike, esp, tunnel_settings.IKE_SECONDS, DPD_SECONDS, child)
    )


class Line(NamedTuple):
    """One tunnel at an instance: charon in a machine of its own, its device in the instance's."""

    name: str
    machine: Machine
    charon: Charon
    end: OtherEnd
    instance: int
    here: str
    there: str
    key: str
    port: int
    device: str

    def configure(self, **other: str) -> None:
        told = {"key": self.key, **other}
        text = connection(self.name, self.here, self.there, port=self.port, **told)  # type: ignore[arg-type]
        self.machine.write({"/etc/swanctl/conf.d/endpoint.conf": text})

    def load(self) -> None:
        self.charon.load()


class About(NamedTuple):
    """A region: `network` is what its instances tell of it."""

    name: str
    asn: int
    network: str


def config(about: About, number: int, lines: list[Line]) -> str:
    sessions, families = [], []
    for line in lines:
        peer = line.end.bgp_address
        sessions += [
            f" neighbor {peer} remote-as {line.end.asn}",
            f" neighbor {peer} passive",
            f" neighbor {peer} update-source {line.end.instances[number]}",
            # Its address is in no network of the instance's: Azure lays a route to it.
            f" neighbor {peer} disable-connected-check",
        ]
        families += [
            f"  neighbor {peer} prefix-list NOT-MINE in",
            f"  neighbor {peer} maximum-prefix {MOST_PREFIXES}",
        ]
    fabric = INSIDE.format(number, 1)
    routes = "\n".join(f"ip route {line.end.bgp_address}/32 {line.device}" for line in lines)
    return f"""\
frr defaults traditional
hostname {about.name}-{number}
{routes}
ip prefix-list NOT-MINE seq 5 deny {about.network}
ip prefix-list NOT-MINE seq 10 permit 0.0.0.0/0 le 32
router bgp {about.asn}
 bgp router-id {INSIDE.format(number, 2)}
 no bgp network import-check
 no bgp ebgp-requires-policy
 bgp graceful-restart-disable
 timers bgp {HELLO_SECONDS} {HOLD_SECONDS}
 neighbor {fabric} remote-as {about.asn}
 neighbor {fabric} timers 1 3
{chr(10).join(sessions)}
 address-family ipv4 unicast
  network {about.network}
  maximum-paths 8
  neighbor {fabric} next-hop-self
{chr(10).join(families)}
 exit-address-family
"""


def fabric_config(about: About) -> str:
    sessions = "\n".join(
        f" neighbor {INSIDE.format(n, 2)} remote-as {about.asn}\n neighbor {INSIDE.format(n, 2)} timers 1 3"
        for n in INSTANCES
    )
    clients = "\n".join(f"  neighbor {INSIDE.format(n, 2)} route-reflector-client" for n in INSTANCES)
    return f"""\
frr defaults traditional
hostname {about.name}
router bgp {about.asn}
 bgp router-id {INSIDE.format(0, 1)}
 bgp graceful-restart-disable
{sessions}
 address-family ipv4 unicast
  maximum-paths ibgp 8
{clients}
 exit-address-family
"""


class Azure:
    """`fabric` has a cable `vnet` to the region's `host`, and one to each of both `instances`."""

    def __init__(
        self, about: About, fabric: Machine, host: Machine, instances: tuple[Machine, Machine], lines: list[Line]
    ) -> None:
        self.about, self.fabric, self.host, self.instances, self.lines = about, fabric, host, instances, lines

    @property
    def region(self) -> str:
        return self.about.name

    def of(self, number: int) -> list[Line]:
        return [line for line in self.lines if line.instance == number]

    def start(self) -> None:
        for number, machine in enumerate(self.instances):
            joined(machine, "vnet", self.fabric, f"instance{number}")
            self.fabric.ip(f"addr add {INSIDE.format(number, 1)}/24 dev instance{number}")
            machine.ip(
                f"addr add {INSIDE.format(number, 2)}/24 dev vnet",
                f"route add {self.about.network} via {INSIDE.format(number, 1)}",
                f"route add {INSIDE.format(1 - number, 0)}/24 via {INSIDE.format(number, 1)}",
            )
        for machine in (self.fabric, *self.instances):
            machine.sysctl(*swan.ROUTER)
        for line in self.lines:
            line.configure()
            line.charon.start(500, 4500, include="/dev/null")
        for line in self.lines:
            self._adopt(line)
        for number, machine in enumerate(self.instances):
            machine.write({"/etc/frr/frr.conf": config(self.about, number, self.of(number))})
            frr.start(machine, *DAEMONS)
        self.fabric.write({"/etc/frr/frr.conf": fabric_config(self.about)})
        frr.start(self.fabric, *DAEMONS)

    def _adopt(self, line: Line) -> None:
        instance, device = self.instances[line.instance], line.device
        swan.take(line.charon, line.machine, instance, device)
        with contextlib.suppress(LabError):
            # One address may be that of several tunnels.
            instance.ip(f"addr add {line.end.instances[line.instance]}/32 dev lo")
        line.charon.named()
        line.load()

    def sessions(self, number: int) -> dict[str, str]:
        """Of one instance with what is outside of the region."""
        found = frr.sessions(self.instances[number])
        return {peer: state for peer, state in found.items() if peer != INSIDE.format(number, 1)}

    def ways(self) -> dict[str, set[str]]:
        """Prefixes that the network knows → by which instances."""
        return frr.routes(self.fabric)

    def believes(self, peer: str) -> bool:
        """Whether a session with a neighbour is up at either instance."""
        return any(peer in frr.established(machine) for machine in self.instances)

    def taken(self, number: int, peer: str) -> set[str]:
        """Prefixes that an instance has of a neighbour."""
        told = frr.told(self.instances[number], f"show bgp ipv4 unicast neighbors {peer} routes json")
        return set(told.get("routes", {}))
