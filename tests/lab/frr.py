"""FRR inside a machine, from the files of its /etc/frr."""

import json
from typing import Any

from .machines import Machine, awaited

FOLDER = "/usr/lib/frr"
UP_SECONDS = 15.0


def start(machine: Machine, *daemons: str) -> None:
    """As FRR's own start does: the daemons, then vtysh loads the one file."""
    machine.run("install", "-d", "-o", "frr", "-g", "frr", "/run/frr")
    machine.write({"/etc/frr/vtysh.conf": "service integrated-vtysh-config\n"})
    machine.run("chown", "-R", "frr:frr", "/etc/frr")
    for daemon in daemons:
        machine.run(f"{FOLDER}/{daemon}", "-d", "-A", "127.0.0.1")
    for daemon in daemons:
        socket = machine.root / f"run/frr/{daemon}.vty"
        awaited(f"{machine.name}: {daemon}'s socket", socket.exists, UP_SECONDS, 0.05)
    machine.run("vtysh", "-b")


def stop(machine: Machine) -> None:
    machine.kill(machine.processes(f"{FOLDER}/"))
    awaited(f"{machine.name}: end of FRR", lambda: not machine.processes(f"{FOLDER}/"), UP_SECONDS)
    machine.run("rm", "-rf", "/run/frr")


def vtysh(machine: Machine, *lines: str) -> str:
    return machine.run("vtysh", *(word for line in lines for word in ("-c", line)))


def told(machine: Machine, line: str) -> Any:
    return json.loads(vtysh(machine, line) or "{}")


def sessions(machine: Machine) -> dict[str, str]:
    """Neighbour → state."""
    peers = told(machine, "show bgp ipv4 unicast summary json").get("peers", {})
    return {peer: about["state"] for peer, about in peers.items()}


def established(machine: Machine) -> set[str]:
    return {peer for peer, state in sessions(machine).items() if state == "Established"}


def routes(machine: Machine) -> dict[str, set[str]]:
    """Prefixes of BGP that the kernel has → their next hops."""
    found: dict[str, set[str]] = {}
    for prefix, entries in told(machine, "show ip route bgp json").items():
        for entry in entries:
            if entry.get("installed"):
                found[prefix] = {hop["ip"] for hop in entry["nexthops"] if hop.get("fib") and "ip" in hop}
    return found
