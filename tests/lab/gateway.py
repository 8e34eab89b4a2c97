"""The site's gateway: runs the rendered files unchanged, and stands in for systemd and systemd-networkd alone."""

import configparser
import re
import shlex
import subprocess

from components.control_plane.units import UNITS
from components.links.gateway import firewall, interfaces, ipsec, pair
from components.links.gateway.files import whole
from components.links.gateway.spec import End, GatewaySpec

from . import frr
from .charon import Charon
from .machines import LabError, Machine

DAEMONS = ("zebra", "bgpd", "staticd")
WATCHDOG_SECONDS = PAIR_SECONDS = 900.0


class Gateway:
    """`machine` is already cabled: `wan` towards the internet, `lan` towards the site's hosts."""

    def __init__(self, machine: Machine, spec: GatewaySpec, keys: dict[str, str]) -> None:
        self.machine, self.spec = machine, spec
        self.rendered = whole(spec, keys)
        machine.write(self.rendered)
        self.charons: dict[str, Charon] = {}
        for number, end in enumerate(spec.ends):
            parts = [f"{ipsec.FOLDER}/{end.name}.conf", ipsec.SECRETS]
            self.charons[end.name] = Charon(machine, end.name, number, parts)

    def start(self) -> None:
        self.machine.run("sysctl", "-qp", interfaces.SYSCTL)
        self.machine.run("nft", "-f", firewall.CONFIG)
        for charon in self.charons.values():
            charon.start(*ports(charon.number))
        # All devices are there before the first gets its name: one that still came would take the old one.
        for charon in self.charons.values():
            charon.ready()
        for end in self.spec.ends:
            self._interface(end)
        frr.start(self.machine, *DAEMONS)

    def connect(self) -> None:
        for charon in self.charons.values():
            charon.load()

    def restart(self, end: End) -> None:
        """As systemd does when charon has ended: the process, and what its unit loads after it."""
        charon = self.charons[end.name]
        self.machine.run("rm", "-f", f"{charon.folder}/vici")
        charon.start(*ports(charon.number))
        charon.ready()
        self._interface(end)
        charon.load()

    def _interface(self, end: End) -> None:
        """What systemd-networkd would do of the two rendered files, with the TUN device that charon has made."""
        made = self.unit(f"{interfaces.FOLDER}/50-{end.device}.netdev")
        about = self.unit(f"{interfaces.FOLDER}/50-{end.device}.network")
        name = made["NetDev"]["Name"]
        self.machine.ip(
            f"link set {self.charons[end.name].device} name {name}",
            f"link set {name} mtu {made['NetDev']['MTUBytes']} up",
            f"addr add {about['Network']['Address']} dev {about['Match']['Name']}",
        )
        self.charons[end.name].named()

    def unit(self, path: str) -> configparser.ConfigParser:
        """A unit file as it was rendered."""
        parser = configparser.ConfigParser(strict=False)
        parser.optionxform = str  # type: ignore[assignment,method-assign]
        parser.read_string(self.machine.read(path))
        return parser

    def watchdog(self) -> "Watchdog":
        """By the command line of its unit."""
        unit = self.unit(f"{UNITS}/landbridge-watchdog.service")
        return Watchdog(self.machine, shlex.split(unit["Service"]["ExecStart"]))

    def keepalived(self) -> None:
        """By its unit, until the machine ends."""
        unit = self.unit(f"{UNITS}/{pair.UNIT}")["Service"]
        self.machine.run(*shlex.split(unit["ExecStartPre"]))
        self.machine.start(*shlex.split(unit["ExecStart"]), seconds=PAIR_SECONDS)

    def leads(self) -> bool:
        """Whether the LAN's hosts send to it."""
        assert self.spec.pair is not None
        return f" {self.spec.pair.shared}/32 " in self.machine.run("ip", "-4", "-oneline", "address")

    def established(self) -> set[str]:
        """Names of the tunnels whose session is up."""
        peers = frr.established(self.machine)
        return {end.name for end in self.spec.ends if end.there in peers}

    def prefixes(self, end: End) -> int:
        """How many routes BGP believes of this tunnel."""
        told = frr.told(self.machine, f"show bgp ipv4 unicast neighbors {end.there} routes json")
        return len(told.get("routes", {}))

    def change(self, path: str, pattern: str, by: str) -> str:
        """The rendered text with one thing changed, for proofs that it is what does the work. Raises LabError."""
        text, count = re.subn(pattern, by, self.rendered[path], flags=re.MULTILINE)
        if not count:
            raise LabError(f"{path} has nothing like {pattern}: the proof does not fit what is rendered any more")
        return text


class Watchdog:
    """One run of the rendered script."""

    def __init__(self, machine: Machine, words: list[str]) -> None:
        self.machine, self._words = machine, words
        self.log = machine.log.with_name(f"{machine.name}-watchdog.log")
        self._out = self.log.open("wb")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = self.machine.start(*self._words, seconds=WATCHDOG_SECONDS, out=self._out)

    def __enter__(self) -> "Watchdog":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.machine.kill(self.machine.processes(self._words[-1]), "TERM")
        assert self._process is not None
        self._process.wait(10)
        self._out.close()

    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None


def ports(number: int) -> tuple[int, int]:
    """The first has those of the standard; all share one address, and each wants its own."""
    return (500, 4500) if number == 0 else (15000 + number, 25000 + number)
