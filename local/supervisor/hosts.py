"""Hosts of sites: machines that no cloud started, with the programs of an image and nothing else on them.

They stand until somebody takes them down, as machines in a rack do; what makes nodes of them is run there by people.
"""

import contextlib
import json
import shutil
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from local.machines.machine import Machine, MachineError
from local.machines.network import NetworkError
from local.machines.waiting import readable
from local.network import ends
from local.workers import hardware, shares

from . import programs
from .instance import KILL_SECONDS, STOP_SECONDS, Site, write
from .units import start_enabled

FIELDS = {
    "name": str,
    "site": str,
    "address": str,
    "lan": str,
    "block": str,
    "gateways": list,
    "kubernetes": str,
    "hardware": dict,
}


def room(spec: dict[str, Any]) -> ends.Site:
    return ends.Site(spec["site"], spec["block"], spec["lan"], tuple(spec["gateways"]))


@dataclass
class Host:
    """One host. `spec` has `FIELDS`: the address is in the prefix `lan`, and that in `block`, which the site's gateways
    tell at the tunnels to their public addresses; `hardware` is for workers/hardware.py.
    """

    site: Site
    spec: dict[str, Any]
    hosts: str
    state: str = "starting"
    why: str = ""
    since: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        self.name: str = self.spec["name"]
        self.folder = self.site.home / "machines" / self.spec["site"] / self.name
        self.laid = ""
        length = self.spec["lan"].rpartition("/")[2]
        version = self.spec["kubernetes"]
        self.machine = Machine(
            self.name,
            self.folder,
            (f"{self.spec['address']}/{length}",),
            router=self.site.router(room(self.spec).router),
            programs=programs.of(version),
            volumes=shares.laid(self.site.home),
            files={**self.site.trusted(), str(hardware.FILE): hardware.text(self.spec["hardware"], version)},
        )

    def start(self) -> None:
        """Returns when its init answers. Raises MachineError, NetworkError, OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.machine.hosts = self.hosts_text()
        self.machine.start()
        start_enabled(self.machine.pid)
        self.laid = self.hosts
        self.note("running")
        threading.Thread(target=self.watch, name=self.name, daemon=True).start()

    def watch(self) -> None:
        """Tells when it dies by itself; nobody starts it again."""
        if live := self.machine.live:
            with contextlib.suppress(OSError, ValueError):
                readable(live.handle)
        if self.state == "running":
            self.note("dead", "its first process died")

    def tell(self, hosts: str) -> None:
        """The names that it can resolve now."""
        self.hosts = hosts
        if self.laid != hosts and self.machine.running:
            self.machine.write_hosts(self.hosts_text())
            self.laid = hosts

    def hosts_text(self) -> str:
        return f"{self.spec['address']} {self.name}\n{self.hosts}"

    def end(self) -> None:
        """Stops its units in order and drops its disk."""
        self.note("stopping")
        with contextlib.suppress(MachineError):
            self.machine.stop(STOP_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self) -> None:
        """With the local cloud, at once."""
        self.state = "stopping"
        if live := self.machine.live:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(live.handle, signal.SIGKILL)
                readable(live.handle, seconds=KILL_SECONDS)

    def note(self, state: str, why: str = "") -> None:
        self.state, self.why, self.since = state, why, datetime.now(UTC)
        self.site.log(f"{self.name} ({self.spec['address']}): {state}{f': {why}' if why else ''}")
        self.site.noted()

    def described(self) -> dict[str, Any]:
        """As `landbridge local machines` shows it: an instance it is not."""
        live = self.machine.live
        return {
            "machine": self.name,
            "instance": "",
            "kubernetes": self.spec["kubernetes"],
            "region": self.spec["site"],
            "zone": self.spec["site"],
            "address": self.spec["address"],
            "state": self.state,
            "why": self.why,
            "since": self.since.isoformat(timespec="seconds"),
            "pid": live.pid if live and self.state != "dead" else None,
            "folder": str(self.folder),
        }


class Hosts:
    """All of them by name. Several may be asked for at once; two of a name are one.

    `record` tells the next machines service which stood: they stand again, on their disks.
    """

    def __init__(self, site: Site, names: Callable[[], str], routed: Callable[[], None], record: Path) -> None:
        self.site, self.names, self.routed, self.record = site, names, routed, record
        self.rooms: dict[str, ends.Site] = {}
        self.standing: dict[str, Host] = {}
        self.locks: dict[str, threading.Lock] = {}
        self.lock = threading.Lock()
        self.left: list[dict[str, Any]] = json.loads(record.read_text()) if record.exists() else []

    def stand_up(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Has it running, and tells how it is. Raises ValueError for words of another form, and what `start` does."""
        if spec.keys() != FIELDS.keys() or not all(isinstance(spec[name], kind) for name, kind in FIELDS.items()):
            raise ValueError(f"a host is told by {', '.join(FIELDS)}")
        with self.own(spec["name"]):
            known = self.standing.get(spec["name"])
            if known and known.machine.running:
                return known.described()
            if known:
                known.machine.let_go()
            self.enter(room(spec))
            made = Host(self.site, spec, self.names())
            made.start()
            with self.lock:
                self.standing[made.name] = made
                self.left = [one for one in self.left if one["name"] != made.name]
                self.remember()
            self.site.noted()
            return made.described()

    def enter(self, room: ends.Site) -> None:
        """The site's router is there before its first host, and stays after the last one."""
        if self.rooms.get(room.name) != room:
            with self.lock:
                self.rooms = {**self.rooms, room.name: room}
            self.routed()

    def take_down(self, name: str) -> None:
        """Raises LookupError."""
        with self.own(name):
            with self.lock:
                if name not in self.standing:
                    raise LookupError(f"there is no host {name}")
                gone = self.standing.pop(name)
                self.remember()
            gone.end()
            self.site.noted()

    def remember(self) -> None:
        """Under the lock. Those that do not stand again yet stay written down."""
        write(self.record, [*self.left, *(one.spec for one in self.standing.values())])

    def known(self) -> set[str]:
        """Names of those that stand, and of those that stood before."""
        with self.lock:
            return {one["name"] for one in self.left} | set(self.standing)

    def restore(self) -> None:
        """Has those stand again that stood before; returns at once."""
        for spec in list(self.left):
            threading.Thread(target=self.stand_again, args=(spec,), name=spec["name"], daemon=True).start()

    def stand_again(self, spec: dict[str, Any]) -> None:
        try:
            self.stand_up(spec)
        except (MachineError, NetworkError, OSError, ValueError) as error:
            self.site.log(f"{spec['name']} does not stand again: {error}")

    def own(self, name: str) -> threading.Lock:
        with self.lock:
            return self.locks.setdefault(name, threading.Lock())

    def tell(self, hosts: str) -> None:
        for host in self.all():
            host.tell(hosts)

    def all(self) -> list[Host]:
        with self.lock:
            return list(self.standing.values())
