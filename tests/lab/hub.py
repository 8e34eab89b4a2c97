"""A region's side: an endpoint a tunnel as AWS has them, the hub that speaks BGP on all of them, a host behind it."""

from ipaddress import IPv4Network
from typing import NamedTuple

from components.links.aws.connections import OPTIONS
from components.links.gateway.spec import End
from components.links.tunnel_settings import HELLO_SECONDS, HOLD_SECONDS

from . import frr, swan
from .charon import Charon
from .machines import Machine
from .swan import Keys

# AWS's words in strongSwan's.
SWAN: dict[object, str] = {
    "AES128": "aes128",
    "AES256": "aes256",
    "AES128-GCM-16": "aes128gcm16",
    "AES256-GCM-16": "aes256gcm16",
    "SHA2-256": "sha256",
    "SHA2-384": "sha384",
    14: "modp2048",
    19: "ecp256",
    20: "ecp384",
}
START = {"add": "none", "start": "start"}
# What a hub is made to tell of these goes out by its first tunnel alone.
FLOOD_CIDR = "100.64.0.0/10"
DAEMONS = ("zebra", "bgpd")
DPD_SECONDS = 10


def _only(option: str) -> str:
    (value,) = OPTIONS[option]  # type: ignore[misc]
    return SWAN[value]


IKE = "-".join(
    _only(f"phase1_{part}") for part in ("encryption_algorithms", "integrity_algorithms", "dh_group_numbers")
)
# Of GCM's integrity strongSwan's proposals say nothing.
ESP = "-".join(_only(f"phase2_{part}") for part in ("encryption_algorithms", "dh_group_numbers"))


def endpoint(name: str, here: str, there: str, *, key: str, port: int, ike: str, esp: str, start: str) -> str:
    """What swanctl loads at AWS's end. `here` and `there` are public addresses, `port` is where the other end's process
    listens behind NAT.
    """
    margin, life = int(str(OPTIONS["rekey_margin_time_seconds"])), int(str(OPTIONS["phase2_lifetime_seconds"]))
    child = {
        "rekey_time": f"{life - margin}s",
        "life_time": f"{life}s",
        "start_action": start,
        "close_action": "none",
        "dpd_action": OPTIONS["dpd_timeout_action"],
    }
    ike_seconds = int(str(OPTIONS["phase1_lifetime_seconds"])) - margin
    return swan.text(name, here, there, key=key, port=port, keys=Keys(ike, esp, ike_seconds, DPD_SECONDS, child))


class Endpoint(NamedTuple):
    """One tunnel's end: charon here, its device in the hub."""

    machine: Machine
    end: End
    charon: Charon
    key: str
    site: str
    port: int

    @property
    def device(self) -> str:
        return f"tun{self.end.tunnel.number}"

    @property
    def file(self) -> str:
        return "/etc/swanctl/conf.d/endpoint.conf"

    def configure(self, **other: str) -> None:
        """As AWS would, but for what is said otherwise: key, ike, esp."""
        told = {"key": self.key, "ike": IKE, "esp": ESP, "start": START[str(OPTIONS["startup_action"])], **other}
        text = endpoint(self.end.name, self.end.outside, self.site, port=self.port, **told)
        self.machine.write({self.file: text})

    def load(self) -> None:
        self.charon.load()


def config(ends: list[End], site_asn: int, site_cidr: str) -> str:
    """The hub as a transit gateway behaves: tells its region's block, takes the site's and its halves, uses all ways."""
    first, block = ends[0], IPv4Network(site_cidr)
    sessions = "\n".join(
        f" neighbor {end.tunnel.gateway_address} remote-as {site_asn}\n"
        # FRR's own 120 s would make a tunnel's return a matter of luck.
        f" neighbor {end.tunnel.gateway_address} timers connect 5"
        for end in ends
    )
    families = "\n".join(
        f"  neighbor {end.tunnel.gateway_address} prefix-list SITE in\n"
        f"  neighbor {end.tunnel.gateway_address} prefix-list {'TOLD1' if end == first else 'TOLD2'} out"
        for end in ends
    )
    return f"""\
frr defaults traditional
hostname hub-{first.region}
ip prefix-list SITE seq 10 permit {block} le {block.prefixlen + 1}
ip prefix-list TOLD1 seq 10 permit 0.0.0.0/0 le 32
ip prefix-list TOLD2 seq 5 deny {FLOOD_CIDR} le 32
ip prefix-list TOLD2 seq 10 permit 0.0.0.0/0 le 32
router bgp {first.asn}
 bgp router-id {first.outside}
 no bgp network import-check
 no bgp ebgp-requires-policy
 bgp graceful-restart-disable
 timers bgp {HELLO_SECONDS} {HOLD_SECONDS}
{sessions}
 address-family ipv4 unicast
  network {first.region_cidr}
  maximum-paths {len(ends)}
{families}
 exit-address-family
"""


class Hub:
    """A region's: `machine` has the endpoints' devices and a cable `vpc` to `host`."""

    def __init__(self, machine: Machine, host: Machine, endpoints: list[Endpoint], site_asn: int, site: str) -> None:
        self.machine, self.host, self.endpoints = machine, host, endpoints
        self.asn, self.region, self.site_asn, self.site_cidr = (
            endpoints[0].end.asn,
            endpoints[0].end.region,
            site_asn,
            site,
        )
        self.ends = [one.end for one in endpoints]

    def start(self) -> None:
        self.machine.sysctl(*swan.ROUTER)
        for one in self.endpoints:
            one.configure()
            one.charon.start(500, 4500, include="/dev/null")
        for one in self.endpoints:
            self.adopt(one)
        self.machine.write({"/etc/frr/frr.conf": config(self.ends, self.site_asn, self.site_cidr)})
        frr.start(self.machine, *DAEMONS)

    def adopt(self, one: Endpoint) -> None:
        """Takes the endpoint's device into the hub, where BGP and routes are: charon holds its other side all the same."""
        tunnel = one.end.tunnel
        swan.take(one.charon, one.machine, self.machine, one.device)
        self.machine.ip(f"addr add {tunnel.hub_address}/{IPv4Network(tunnel.inside_cidr).prefixlen} dev {one.device}")
        one.charon.named()
        one.load()

    def tell(self, *prefixes: str, also: bool = True) -> None:
        """Tells these besides, or no more; those of FLOOD_CIDR on the first tunnel alone."""
        word = "" if also else "no "
        lines = [f"router bgp {self.asn}", "address-family ipv4 unicast", *(f"{word}network {one}" for one in prefixes)]
        self.machine.write({"/run/lab/told": "\n".join(lines) + "\n"})
        self.machine.run("vtysh", "-f", "/run/lab/told")
