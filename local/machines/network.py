"""A machine's network: pairs of virtual interfaces between it and the router of its network."""

import hashlib
import ipaddress
import os
import secrets
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

# Longer names than the kernel lets a card have: the router's name and the machine's.
CARD_PREFIX = "m"
# Whatever leaves a machine goes to its router. Nobody there has the address: the neighbour is laid in by hand.
GATEWAY, GATEWAY_HARDWARE = "169.254.255.1", "0a:ff:00:00:00:01"
# Cards beside the main one answer by themselves: each has a table, from this number on.
FIRST_TABLE = 100


class NetworkError(Exception):
    """The kernel, `ip` or `nft` refused; the text has its words."""


class Interface(NamedTuple):
    """A card of a machine: its name inside, and its addresses with their prefix lengths, the main one first."""

    addresses: tuple[str, ...]
    name: str = "eth0"


def hold(address: str, scope: str = "global") -> None:
    """Has the local cloud itself answer at an address. Nothing if it does already.

    One of scope `host` answers, and is nobody's sender.
    """
    batch([f"addr replace {address}/32 dev lo scope {scope}"])


def let_go(address: str) -> None:
    subprocess.run(["ip", "addr", "delete", f"{address}/32", "dev", "lo"], capture_output=True, check=False)


def plug(pid: int, interface: Interface, router: Path | None = None, *, number: int = 0) -> str:
    """Gives the machine whose first process is `pid` a card; gives the name of the card's other end.

    That is at the router, a network namespace's file; None: here. Interface number 0 leads to everything.
    """
    end = f"{CARD_PREFIX}{secrets.token_hex(6)}"
    mac = hardware_address(interface)
    name = interface.name
    try:
        outside = [
            f"link add name {end} address {GATEWAY_HARDWARE} type veth peer name {name} address {mac} netns {pid}",
            f"link set {end} addrgenmode none up",
        ]
        for address in addresses(interface):
            outside += [f"neigh replace {address} lladdr {mac} dev {end} nud permanent"]
            outside += [f"route replace {address}/32 dev {end} scope link"]
        batch(outside, at(router))
        # A machine sends with its own addresses alone, as EC2 has it ("source/destination check").
        write("1", f"/proc/sys/net/ipv4/conf/{end}/rp_filter", at(router))
        batch(inside(interface, number), ["nsenter", f"--target={pid}", "--net"])
    except NetworkError:
        unplug(end, router)
        raise
    return end


def inside(interface: Interface, number: int) -> list[str]:
    """What is done in the machine."""
    name, default_route = interface.name, f"default via {GATEWAY} dev {interface.name} onlink"
    lines = ["link set lo up", f"link set {name} addrgenmode none"]
    lines += [f"addr add {address} dev {name} noprefixroute" for address in interface.addresses]
    lines += [f"link set {name} up", f"neigh replace {GATEWAY} lladdr {GATEWAY_HARDWARE} dev {name} nud permanent"]
    if number == 0:
        return [*lines, f"route replace {default_route} src {addresses(interface)[0]}"]
    table = FIRST_TABLE + number
    return [
        *lines,
        f"route replace {default_route} table {table}",
        *(f"rule add from {one} lookup {table}" for one in addresses(interface)),
    ]


def addresses(interface: Interface) -> list[str]:
    return [address.partition("/")[0] for address in interface.addresses]


def shown(interface: str) -> bool:
    return subprocess.run(["ip", "link", "show", interface], capture_output=True, check=False).returncode == 0


def unplug(end: str, router: Path | None = None) -> None:
    """Takes a card away, both ends; nothing if it is gone already."""
    subprocess.run([*at(router), "ip", "link", "delete", end], capture_output=True, check=False)


def at(router: Path | None) -> list[str]:
    """What runs a command at a router."""
    return ["nsenter", f"--net={router}"] if router else []


def hardware_address(interface: Interface) -> str:
    """The same for the same address: what others remember of a machine stays right when it is replaced."""
    address = ipaddress.ip_interface(interface.addresses[0]).ip
    digest = address.packed if address.version == 4 else hashlib.sha256(address.packed).digest()[:4]
    return ":".join(f"{byte:02x}" for byte in b"\x0a\x00" + digest)


def batch(commands: Sequence[str], through: Sequence[str] = ()) -> None:
    """Runs `ip` commands in one process; the first that fails ends it. Raises NetworkError."""
    run([*through, "ip", "-batch", "-"], "\n".join(commands) + "\n", "; ".join(commands))


def write(value: str, file: str, through: Sequence[str] = ()) -> None:
    """Sets what the kernel has for each network namespace below /proc/sys/net. Raises NetworkError."""
    run([*through, "sh", "-c", 'cat > "$0"', file], value, f"{file} = {value}")


# Debian keeps `nft` where an ordinary user's PATH does not lead.
SYSTEM = "/usr/sbin:/sbin"
PACKAGES = {"ip": "iproute2", "nft": "nftables", "nsenter": "util-linux", "unshare": "util-linux"}


def run(command: Sequence[str], text: str = "", what: str = "") -> None:
    """Raises NetworkError, with the package to install where the command is missing."""
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, env=environment())
    except FileNotFoundError as error:
        raise NetworkError(missing(str(error.filename))) from None
    if done.returncode == 0:
        return
    if lacking := next((one for one in PACKAGES if f"failed to execute {one}:" in done.stderr), None):
        raise NetworkError(missing(lacking))
    raise NetworkError(f"{done.stderr.strip()} (of: {what or ' '.join(command)})")


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{os.environ.get('PATH', os.defpath)}:{SYSTEM}"}


def missing(program: str) -> str:
    return f"The command {program} is missing. Install the package {PACKAGES.get(program, program)}."
