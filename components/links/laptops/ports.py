"""Whom a server hears and speaks to. Its security group is compiled from this and nothing else."""

from typing import Literal, NamedTuple

from components.boot import people
from components.pools.firewall import Protocol

from .spec import PORT, LaptopsSpec

# AWS replaces a group when its description changes: never reword it.
DESCRIPTION = "Servers for laptops"
WORLD = "0.0.0.0/0"
HTTP_PORT, HTTPS_PORT = 80, 443
FRAGMENTATION_NEEDED = (3, 4)  # ICMP: type and code of "fragmentation needed", without which large packets vanish


class Rule(NamedTuple):
    """Servers accept (in) or may send (out) on the ports; what laptops ask for goes out of them, too."""

    direction: Literal["in", "out"]
    protocol: Protocol
    first: int | None
    last: int | None
    cidr: str
    what: str
    why: str

    @property
    def name(self) -> str:
        return f"laptops-{self.direction}-{self.what}"


def rules(spec: LaptopsSpec, supernet: str) -> tuple[Rule, ...]:
    """The one port of a fleet that is open to the world by itself; beside it only operators come in."""
    found = [
        Rule("in", "udp", PORT, PORT, WORLD, "world", "laptops, from wherever people are"),
        Rule("in", "icmp", *FRAGMENTATION_NEEDED, supernet, "large-packets", "tunnels say how large a packet may be"),
        Rule("out", "tcp", HTTPS_PORT, HTTPS_PORT, WORLD, "https", "APIs of the cloud, some without an endpoint here"),
    ]
    if spec.cloud == "azure":
        why = "who vouches for the document by which a machine joins"
        found.append(Rule("out", "tcp", HTTP_PORT, HTTP_PORT, WORLD, "http", why))
    found += [Rule("out", "-1", None, None, cidr, name, f"laptops reach {name}") for name, cidr in spec.places]
    found += [
        Rule("in", "tcp", people.PORT, people.PORT, cidr, f"ssh-{name}", "operators, by SSH")
        for name, cidr in spec.logins_from
    ]
    found += [Rule("in", one.protocol, one.first, one.last, one.peer, one.what, one.why) for one in spec.heard]
    return tuple(found)
