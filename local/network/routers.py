"""What routers are made of, and how it is written for `ip` and `nft`. Pure."""

import hashlib
from typing import NamedTuple

from local.machines import network

# The one next hop of every wire: nobody has the address, and all routers' interfaces have the same hardware address.
NEXT_HOP, HARDWARE = network.GATEWAY, network.GATEWAY_HARDWARE
MAIN = 254
# Before and after the table that every packet is looked up in.
FIRST, LAST = 1_000, 33_000
# Instance metadata with AWS's APIs, and Azure's APIs, which the local cloud itself answers.
METADATA, PLATFORM = "169.254.169.254", "168.63.129.16"
# A router's interface to the local cloud itself, and the local cloud's own name among routers.
CLOUD_INTERFACE, CLOUD = "cloud", ""


class Route(NamedTuple):
    """`interfaces` are the ways, all as good as each other; without one the packet is refused.

    `onward`: the tables that are asked later say where it goes.
    """

    cidr: str
    interfaces: tuple[str, ...] = ()
    table: int = MAIN
    onward: bool = False

    @property
    def place(self) -> str:
        kind = "throw " if self.onward else "unreachable " * (not self.interfaces)
        return f"{kind}{self.cidr} table {self.table}"

    def __str__(self) -> str:
        hops = [f"via {NEXT_HOP} dev {interface} onlink" for interface in self.interfaces]
        return " ".join([self.place, *(hops if len(hops) < 2 else [f"nexthop {hop}" for hop in hops])])


class Rule(NamedTuple):
    """Which packets a table is for: `of` is `from CIDR` or `iif INTERFACE`."""

    of: str
    table: int
    preference: int = LAST

    def __str__(self) -> str:
        return f"pref {self.preference} {self.of} lookup {self.table}"


class Wire(NamedTuple):
    """A cable between two routers, with its interface's name at each."""

    here: str
    here_interface: str
    there: str
    there_interface: str


class Router(NamedTuple):
    """`ruleset` is for `nft -f`: it replaces itself."""

    routes: frozenset[Route] = frozenset()
    rules: frozenset[Rule] = frozenset()
    ruleset: str = ""


def short_name(kind: str, name: str) -> str:
    """An interface's name for something whose own is longer than the kernel's 15 letters."""
    return kind + hashlib.sha256(name.encode()).hexdigest()[:10]


def filtering(*lines: str, definitions: str = "") -> str:
    """A table that forwards what `lines` accept, and nothing else."""
    body = "\n".join(f"        {line}" for line in lines)
    return (
        f"table ip cloud\ndelete table ip cloud\ntable ip cloud {{\n{definitions}    chain forward {{\n"
        f"        type filter hook forward priority filter; policy drop;\n{body}\n    }}\n}}\n"
    )
