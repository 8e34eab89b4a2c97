"""A machine's network: pairs of virtual cards between it and the bridge of the local cloud."""

import hashlib
import ipaddress
import secrets
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

BRIDGE = "machines"
# By itself a bridge has the lowest address among its cards: another with each machine that comes or goes, and for ten
# seconds machines answer the one before. Not like a machine's, see hardware_address.
BRIDGE_ADDRESS = "0a:ff:00:00:00:01"
# Instance metadata, which the local cloud itself answers.
METADATA = "169.254.169.254/32"
# The bridge, the card and the machine's name are longer than what the kernel lets a card be called.
CARD_PREFIX = "m"


class NetworkError(Exception):
    """The kernel or `ip` refused; the text has its words."""


class Interface(NamedTuple):
    """A card of a machine: its name inside, and its addresses with their prefix lengths, the main one first."""

    addresses: tuple[str, ...]
    name: str = "eth0"


def ensure_bridge() -> None:
    """The bridge in this network namespace, without an address. Several may ask at once."""
    if Path(f"/sys/class/net/{BRIDGE}").exists() or shown(BRIDGE):
        return
    try:
        made = f"link add name {BRIDGE} address {BRIDGE_ADDRESS} type bridge stp_state 0"
        batch([made, f"link set {BRIDGE} addrgenmode none up"])
    except NetworkError:
        if not shown(BRIDGE):
            raise


def hold(address: str) -> None:
    """Has the local cloud itself answer at an address, on the bridge. Nothing if it does already."""
    ensure_bridge()
    batch([f"addr replace {address}/32 dev {BRIDGE}"])


def let_go(address: str) -> None:
    subprocess.run(["ip", "addr", "delete", f"{address}/32", "dev", BRIDGE], capture_output=True, check=False)


def lead(network: str) -> None:
    """Has the local cloud itself reach the machines of a network. Nothing if it does already."""
    ensure_bridge()
    batch([f"route replace {network} dev {BRIDGE} scope link"])


def shown(card: str) -> bool:
    return subprocess.run(["ip", "link", "show", card], capture_output=True, check=False).returncode == 0


def plug(pid: int, interface: Interface, networks: Sequence[str], *, first: bool = True) -> str:
    """Gives the machine whose first process is `pid` a card; gives the name of the card's other end.

    The main card leads to `networks` and to the instance metadata.
    """
    end = f"{CARD_PREFIX}{secrets.token_hex(6)}"
    mac = hardware_address(interface)
    name = interface.name
    try:
        batch(
            [
                f"link add name {end} type veth peer name {name} address {mac} netns {pid}",
                f"link set {end} master {BRIDGE} addrgenmode none up",
            ]
        )
        inside = ["link set lo up", f"link set {name} addrgenmode none"]
        inside += [f"addr add {address} dev {name}" for address in interface.addresses]
        inside += [f"link set {name} up"]
        if first:
            source = interface.addresses[0].partition("/")[0]
            routes = [METADATA, *networks]
            inside += [f"route replace {route} dev {name} scope link src {source}" for route in routes]
        batch(inside, ["nsenter", f"--target={pid}", "--net"])
    except NetworkError:
        unplug(end)
        raise
    return end


def unplug(end: str) -> None:
    """Takes a card away, both ends; nothing if it is gone already."""
    subprocess.run(["ip", "link", "delete", end], capture_output=True, check=False)


def hardware_address(interface: Interface) -> str:
    """The same for the same address: what others remember of a machine stays right when it is replaced."""
    address = ipaddress.ip_interface(interface.addresses[0]).ip
    digest = address.packed if address.version == 4 else hashlib.sha256(address.packed).digest()[:4]
    return ":".join(f"{byte:02x}" for byte in b"\x0a\x00" + digest)


def batch(commands: Sequence[str], through: Sequence[str] = ()) -> None:
    """Runs `ip` commands in one process; the first that fails ends it."""
    try:
        done = subprocess.run(
            [*through, "ip", "-batch", "-"],
            input="\n".join(commands) + "\n",
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        package = {"ip": "iproute2", "nsenter": "util-linux"}.get(str(error.filename), str(error.filename))
        raise NetworkError(f"The command {error.filename} is missing. Install the package {package}.") from None
    if done.returncode != 0:
        raise NetworkError(f"{done.stderr.strip()} (of: {'; '.join(commands)})")
