"""One instance's machine: comes up as the instance does, boots its user-data once, and ends with it.

Each has a thread of its own, which sleeps until something is told or the machine dies.
"""

import base64
import contextlib
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from local.machines.machine import Machine, MachineError
from local.machines.network import Interface
from local.machines.waiting import readable
from local.workers import hardware, shares

from . import programs, volumes
from .aws.agent import Agent
from .units import start_enabled

# A machine that is terminated gets a moment to stop its units; one that is stopped as long as they may take.
TERMINATE_SECONDS, STOP_SECONDS = 2.0, 60.0
KILL_SECONDS = 2.0
BUSY_SECONDS = 0.2
CLOUD = "var/lib/cloud/instance"
# The first power-on runs user-data; one that was cut off in the middle of it runs it again.
USER_DATA, FINISHED = f"{CLOUD}/user-data", f"{CLOUD}/boot-finished"
UP, DOWN, GONE = "running", "stopped", "gone"


@dataclass
class Site:
    """What all machines share: where they lie, what they are given, and whom to tell."""

    home: Path
    trusted: Callable[[], dict[str, str]]
    volumes: volumes.Volumes
    tell: Callable[[str, Any], None]
    noted: Callable[[], None]
    log: Callable[[str], None]
    router: Callable[[str], Path]


@dataclass
class Instance:
    """An instance, as the local AWS last told of it, and its machine."""

    site: Site
    spec: dict[str, Any]
    hosts: str
    state: str = "pending"
    why: str = ""
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    boot: Machine | None = None

    def __post_init__(self) -> None:
        # How often it was started and its disk made anew, as far as this is done.
        self.begun: tuple[int, int] | None = None
        self.id: str = self.spec["id"]
        self.folder = machine_folder(self.site.home, self.spec)
        self.machine: Machine | None = None
        self.wanted = wanted(self.spec)
        self.report_end = self.cut = False
        self.attached: dict[str, str] = {}
        self.agent = Agent(self.id, self.site.tell)
        self.laid = ""
        self.heard, self.waker = os.pipe()
        os.set_blocking(self.waker, False)
        self.waking = threading.Lock()
        self.thread = threading.Thread(target=self.live, name=self.id, daemon=True)
        self.thread.start()

    @property
    def name(self) -> str:
        return self.spec["name"] or f"ip-{self.spec['address'].replace('.', '-')}"

    @property
    def pid(self) -> int | None:
        live = self.machine.live if self.machine else None
        return live.pid if live else None

    def tell(self, spec: dict[str, Any], hosts: str) -> None:
        """What the local AWS has of it now."""
        self.spec, self.hosts = spec, hosts
        self.report_end = self.report_end or wanted(spec) == GONE
        self.wanted = GONE if self.wanted == GONE else wanted(spec)
        self.wake()

    def leave(self) -> None:
        """Its instance is gone."""
        self.wanted = GONE
        self.wake()

    def wake(self) -> None:
        with self.waking, contextlib.suppress(BlockingIOError):
            if self.waker >= 0:
                os.write(self.waker, b"x")

    def note(self, state: str, why: str = "") -> None:
        if (state, why) != (self.state, self.why):
            self.state, self.why, self.since = state, why, datetime.now(UTC)
            self.site.log(f"{self.name} ({self.id}, {self.spec['address']}): {state}{f': {why}' if why else ''}")
            self.site.noted()

    def live(self) -> None:
        """The thread: until the instance is gone."""
        while self.wanted != GONE:
            busy = False
            try:
                busy = self.step()
            except Exception as error:
                # It stays as it is, to be looked at: a successor would fail as well.
                self.console(f"{type(error).__name__}: {error}")
                self.note("failed", str(error))
            self.sleep(BUSY_SECONDS if busy else None)
        if not self.cut:
            self.end()

    def sleep(self, seconds: float | None) -> None:
        live = self.machine.live if self.machine else None
        watched = [self.heard, *([live.handle] if live and self.state not in ("failed", "dead") else [])]
        if self.heard in readable(*watched, seconds=seconds):
            os.read(self.heard, 4096)

    def step(self) -> bool:
        """Brings the machine one step to what is wanted. True if it must be looked at again soon."""
        up = self.machine is not None and self.machine.running
        if self.wanted == DOWN:
            if self.machine and self.machine.live:
                self.note("stopping")
                self.machine.stop(STOP_SECONDS)
            self.forget()
            self.note("stopped")
            return False
        if self.begun not in (None, self.starts):
            self.again()
            up = False
        if self.state in ("failed", "dead"):
            return False
        if self.machine and self.machine.live and not up:
            self.machine.kill()
            self.console("the machine's first process died")
            self.note("dead", "its first process died")
            self.site.tell("ill", [self.id, "its first process died"])
            return False
        if not up:
            self.start()
        elif self.machine and self.laid != self.hosts:
            self.machine.write_hosts(self.hosts_text())
            self.laid = self.hosts
        return self.care()

    @property
    def starts(self) -> tuple[int, int]:
        """How often somebody had it started, and had its disk made anew; zero where a cloud does not count."""
        return self.spec.get("starts", 0), self.spec.get("renewals", 0)

    def again(self) -> None:
        """Somebody has it start once more, or anew: with an empty disk."""
        renewed = self.begun and self.begun[1] != self.starts[1]
        self.note("stopping")
        if self.machine and self.machine.live:
            self.machine.stop(STOP_SECONDS)
        self.forget()
        if renewed:
            shutil.rmtree(self.folder / "disk", ignore_errors=True)
        self.note("stopped")

    def care(self) -> bool:
        """What a machine that is up is owed: commands and volumes. True if it must be looked at again soon."""
        if self.machine:
            self.agent.sync(self.machine, self.spec["commands"])
        return self.sync_volumes()

    def start(self) -> None:
        self.note("starting")
        self.begun = self.starts
        spec, self.laid = self.spec, self.hosts
        self.folder.mkdir(parents=True, exist_ok=True)
        version = spec["kubernetes"]
        if missing := programs.missing(version):
            self.console(f"Kubernetes {version}: the machine will lack {', '.join(missing)}, which are not built")
        self.machine = Machine(
            self.name,
            self.folder,
            (f"{spec['address']}/{spec['prefix']}",),
            router=self.site.router(spec["vpc"]),
            hosts=self.hosts_text(),
            programs=programs.of(version),
            volumes=shares.laid(self.site.home),
            files={**self.site.trusted(), str(hardware.FILE): hardware.text(spec["hardware"], version)},
        )
        self.console(f"{self.id} starts as {self.name} on {spec['address']} in {spec['zone']}")
        self.machine.start()
        for number, addresses in enumerate(spec.get("cards", ()), 1):
            self.machine.plug(Interface(tuple(addresses), f"eth{number}"))
        boots = not (self.machine.disk / FINISHED).exists()
        if not boots:
            self.note("running")
        self.sync_volumes()
        if boots:
            self.run_user_data()
        else:
            start_enabled(self.machine.pid)

    def hosts_text(self) -> str:
        return f"{self.spec['address']} {self.name}\n{self.hosts}"

    def run_user_data(self) -> None:
        """As cloud-init does: once in an instance's life, its words on the console."""
        assert self.machine is not None
        script = self.machine.disk / USER_DATA
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_bytes(base64.b64decode(self.spec["user_data"]))
        script.chmod(0o700)
        self.note("booting")
        self.boot = self.machine
        threading.Thread(target=self.await_boot, args=(self.machine,), daemon=True).start()

    def await_boot(self, boot: Machine) -> None:
        status = boot.boot(f"/{USER_DATA}")
        if boot is not self.boot or self.state != "booting":
            return
        assert self.machine is not None
        self.console(f"user-data ended with status {status}")
        (self.machine.disk / FINISHED).touch()
        if status == 0:
            self.note("running")
        else:
            self.note("boot failed", self.boot_words() or f"user-data ended with status {status}")

    def boot_words(self) -> str:
        """The last line of the boot's own log, which names the step."""
        assert self.machine is not None
        with contextlib.suppress(OSError):
            lines = (self.machine.disk / "var/log/landbridge-boot.log").read_text(errors="replace").splitlines()
            return lines[-1].partition(" boot: ")[2] if lines else ""
        return ""

    def sync_volumes(self) -> bool:
        """Lays in what was attached, and takes away what was detached. True while one of them is in use."""
        assert self.machine is not None
        wanted = {one["id"]: one for one in self.spec["volumes"]}
        busy = False
        for id_, one in wanted.items():
            if id_ not in self.attached and not one["leaving"]:
                if not self.site.volumes.take(id_, self.id):
                    busy = True
                    continue
                self.attached[id_] = one["path"]
                try:
                    self.machine.attach(one["path"], self.site.volumes.of(id_, one["size"]))
                    self.console(f"{id_} attached as {one['path']}")
                except MachineError as error:
                    self.console(f"{id_} was not attached: {error}")
        for id_ in [id_ for id_ in self.attached if id_ not in wanted or wanted[id_]["leaving"]]:
            forced = id_ not in wanted or wanted[id_]["forced"]
            if not forced and volumes.mounted(self.machine.pid, id_):
                busy = True
                continue
            try:
                self.machine.detach(self.attached[id_])
            except MachineError:  # somebody is in there
                busy = True
                continue
            del self.attached[id_]
            self.site.volumes.give(id_, self.id)
            self.console(f"{id_} detached")
        for id_, one in wanted.items():
            if one["leaving"] and id_ not in self.attached:
                self.site.tell("detached", id_)
        return busy

    def end(self) -> None:
        """Stops its processes and drops its disk; its logs stay for those who ask why."""
        self.note("stopping")
        with contextlib.suppress(MachineError):
            if self.machine:
                self.machine.stop(TERMINATE_SECONDS)
        self.forget()
        log = self.folder / "disk/var/log"
        if log.exists():
            shutil.rmtree(self.folder / "log", ignore_errors=True)
            shutil.move(log, self.folder / "log")
        shutil.rmtree(self.folder / "disk", ignore_errors=True)
        self.console("terminated")
        self.note("terminated")
        with self.waking:
            os.close(self.heard)
            os.close(self.waker)
            self.waker = -1
        if self.report_end:
            self.site.tell("ended", self.id)

    def forget(self) -> None:
        for id_ in self.attached:
            self.site.volumes.give(id_, self.id)
        self.attached.clear()
        self.boot = None

    def kill(self) -> None:
        """With the local cloud, at once, as a power cut does: its disk stays."""
        self.cut, self.wanted = True, GONE
        live = self.machine.live if self.machine else None
        with contextlib.suppress(OSError):
            if live:
                signal.pidfd_send_signal(live.handle, signal.SIGKILL)
        self.wake()
        self.thread.join(KILL_SECONDS)

    def console(self, text: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "console.log").open("a") as console:
            console.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ} machines: {text}\n")

    def described(self) -> dict[str, Any]:
        """As `landbridge local machines` shows it."""
        spec = self.spec
        return {
            "machine": self.name,
            "instance": self.id,
            "kubernetes": spec["kubernetes"],
            "region": spec["region"],
            "zone": spec["zone"],
            "address": spec["address"],
            "state": self.state,
            "why": self.why,
            "since": self.since.isoformat(timespec="seconds"),
            "pid": self.pid,
            "folder": str(self.folder),
        }


def machine_folder(home: Path, spec: dict[str, Any]) -> Path:
    """Where what a machine has lies, of which its cloud tells so."""
    found: Path = home / "machines" / spec["region"] / spec["id"]
    return found


def wanted(spec: dict[str, Any]) -> str:
    return {"shutting-down": GONE, "stopped": DOWN, "stopping": DOWN}.get(spec["state"], UP)


def write(file: Path, content: Any) -> None:
    """JSON, in one step, for those outside and those who come later."""
    draft = file.with_suffix(".new")
    draft.write_text(json.dumps(content, indent=1))
    draft.replace(file)


def complain(text: str) -> None:
    """A line in the local cloud's log."""
    sys.stderr.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} machines: {text}\n")
    sys.stderr.flush()
