"""How a gateway's tunnels are: what strongSwan and FRR say of each, and which files are not as they were written."""

import hashlib
import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import gateway_bgp_causes
import gateway_causes
import gateway_lan

SETTINGS, LIST = "etc/landbridge/gateway.json", "etc/landbridge/gateway-files.json"
DEVICES = Path("/sys/class/net")
PAIR = "landbridge-pair"
SECONDS = 10.0
# A word of swanctl's raw form: a section's or list's begin and end, a value, or a value of a list.
WORD = re.compile(r"([^\s={}\[\]]+)\s*\{|\}|([^\s={}\[\]]+)=\[([^\]]*)\]|([^\s={}\[\]]+)=([^\s{}]*)")
UP, SHUT = "Established", "Idle (Admin)"
# FRR's word for a session of a tunnel that has its keys → why it does not speak.
SILENT = {
    SHUT: "the watchdog has left it, since nothing came out of it",
    "Idle (PfxCt)": "the hub told more prefixes than it may, and is heard again in some minutes",
    "": "FRR has no such neighbour: `vtysh -b` reads its file again",
}


class Tunnel(NamedTuple):
    """`ike` and `esp` are strongSwan's words for both phases, `bgp` FRR's; empty where there is nothing.

    `prefixes` are those that BGP took from the hub, `cause` is what strongSwan's log says of a tunnel without keys, or
    FRR's configuration of one to Azure without BGP.
    """

    name: str
    region: str
    device: bool
    ike: str
    esp: str
    bgp: str
    since_seconds: int
    bytes_in: int
    bytes_out: int
    prefixes: int
    cause: str = ""

    @property
    def up(self) -> bool:
        return (self.ike, self.esp, self.bgp) == ("ESTABLISHED", "INSTALLED", UP)

    @property
    def trouble(self) -> str:
        """The first thing that is wrong on the way up; empty if it is up."""
        if self.up:
            return ""
        if not self.device:
            return "it has no interface: `networkctl reload`"
        says = f"`swanctl --initiate --child {self.name}` says why"
        if self.ike != "ESTABLISHED":
            return self.cause or f"the hub's end does not agree to a key: {says}"
        if self.esp != "INSTALLED":
            return self.cause or f"the hub's end takes no traffic: {says}"
        return self.cause or SILENT.get(
            self.bgp, "the hub's end does not speak BGP: TCP 179 inside the tunnel, and both ends' numbers"
        )


class State(NamedTuple):
    """`differs` are files that are not as they were written; `troubles` are silent daemons, and the clock.

    `next_hop` is where the LAN's hosts send to, here or there; only a pair has one.
    """

    site: str
    gateway: str
    plan: str
    tunnels: tuple[Tunnel, ...]
    differs: tuple[str, ...]
    troubles: tuple[str, ...]
    next_hop: str = ""

    @property
    def healthy(self) -> bool:
        return all(one.up for one in self.tunnels) and not self.differs and not self.troubles


def sections(raw: str) -> dict[str, Any]:
    """Swanctl's raw form as nested dictionaries; texts at their ends."""
    top: dict[str, Any] = {}
    way = [top]
    for match in WORD.finditer(raw):
        section, listed, values, name, value = match.groups()
        if section:
            inner: dict[str, Any] = {}
            way[-1][section] = inner
            way.append(inner)
        elif listed:
            way[-1][listed] = values.split()
        elif name:
            way[-1][name] = value
        elif len(way) > 1:
            way.pop()
    return top


def associations(raw: str) -> dict[str, dict[str, Any]]:
    """The newest of each connection of `swanctl --list-sas --raw`, whose every line is one event."""
    found: dict[str, dict[str, Any]] = {}
    for line in raw.splitlines():
        for name, about in _of_event(sections(line)):
            if name not in found or int(about.get("uniqueid", 0)) > int(found[name].get("uniqueid", 0)):
                found[name] = about
    return found


def _of_event(event: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for about in event.values():
        if isinstance(about, dict):
            yield from ((name, one) for name, one in about.items() if isinstance(one, dict))


def neighbours(told: str) -> dict[str, tuple[str, int]]:
    """State and number of prefixes by address, of `show bgp ipv4 unicast summary json`."""
    peers: dict[str, Any] = json.loads(told or "{}").get("peers", {})
    return {peer: (str(about.get("state", "")), int(about.get("pfxRcd", 0))) for peer, about in peers.items()}


def differing(root: Path) -> list[str]:
    """Files of the list that are missing or another; all of them where there is no list."""
    try:
        listed: dict[str, str] = json.loads((root / LIST).read_text())["files"]
    except (OSError, ValueError, KeyError):
        return [f"/{LIST}"]
    return [path for path, digest in listed.items() if _digest(root / path.lstrip("/")) != digest]


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


def asked(*command: str) -> tuple[str, str]:
    """What a command says, and why it said nothing."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", f"{command[0]}: {error}"
    why = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return (done.stdout, "") if done.returncode == 0 else ("", f"{command[0]}: {why[-1] if why else done.returncode}")


def look(root: Path = Path("/")) -> State:
    """Raises OSError, ValueError and KeyError where no gateway is installed."""
    told, listed = json.loads((root / SETTINGS).read_text()), json.loads((root / LIST).read_text())
    swan, no_swan = asked("swanctl", "--list-sas", "--raw")
    bgp, no_bgp = asked("vtysh", "-c", "show bgp ipv4 unicast summary json")
    log, _ = asked(*gateway_causes.LOG)
    # Not every machine has systemd's own clock.
    synchronized, _ = asked(*gateway_causes.CLOCK)
    found, peers = associations(swan), neighbours(bgp)
    causes = gateway_causes.causes(gateway_causes.of_journal(log))
    tunnels = tuple(
        tunnel(one, found.get(one["name"], {}), peers.get(one["peer"], ("", 0)), causes.get(one["name"], ""))
        for one in told["tunnels"]
    )
    tunnels = tuple(map(explained, tunnels, told["tunnels"]))
    clock = gateway_causes.WRONG_CLOCK if synchronized.strip() == "no" else ""
    pair = told.get("pair")
    next_hop, no_pair = paired(pair) if pair else ("", "")
    troubles = tuple(why for why in (no_swan, no_bgp, no_pair, clock) if why)
    return State(listed["site"], listed["gateway"], listed["plan"], tunnels, tuple(differing(root)), troubles, next_hop)


def explained(one: Tunnel, told: Mapping[str, str]) -> Tunnel:
    """FRR is asked how it is set up where there are keys and Azure does not speak."""
    if told.get("cloud") != gateway_bgp_causes.AZURE or one.bgp in (UP, SHUT) or one.esp != "INSTALLED":
        return one
    config, _ = asked(*gateway_bgp_causes.CONFIG)
    return one._replace(cause=gateway_bgp_causes.cause(told, config))


def paired(pair: Mapping[str, str]) -> tuple[str, str]:
    """Who has the address that the LAN's hosts send to, and why nobody keeps it."""
    said, why = asked(*gateway_lan.ADDRESSES)
    here = pair["shared"] in gateway_lan.devices(said)
    state, _ = asked("systemctl", "is-active", PAIR)
    wrong = "" if state.strip() == "active" else f"keepalived does not run: `systemctl status {PAIR}` says why"
    return f"{pair['shared']} is {'here' if here else 'not here'}", why or wrong


def tunnel(told: Mapping[str, str], about: Mapping[str, Any], peer: tuple[str, int], cause: str = "") -> Tunnel:
    children = [one for one in about.get("child-sas", {}).values() if isinstance(one, dict)]
    child = max(children, key=lambda one: (one.get("state") == "INSTALLED", int(one.get("uniqueid", 0))), default={})
    return Tunnel(
        told["name"],
        told["region"],
        (DEVICES / told["device"]).exists(),
        str(about.get("state", "")),
        str(child.get("state", "")),
        peer[0],
        int(about.get("established", 0)),
        int(child.get("bytes-in", 0)),
        int(child.get("bytes-out", 0)),
        peer[1],
        cause,
    )
