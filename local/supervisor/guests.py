"""Machines that are whole ones: which stacks' are, and how such a machine lives."""

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.machines.guest import Guest, lacking

from .instance import Instance, Site, machine_folder, write

FIELDS = {"stack", "disk"}
# In a machine's folder: that it is a guest, and from which disk.
MARK = "guest"


class Guests:
    """Stack → the disk that its next machines start from. What runs already stays what it is, for its whole life."""

    def __init__(self, record: Path) -> None:
        self.record = record
        self.disks: dict[str, str] = json.loads(record.read_text()) if record.exists() else {}

    def choose(self, choice: dict[str, Any]) -> dict[str, str]:
        """`stack` is fleet/stack, `disk` a qcow2's path, None: machines of the usual kind. Gives all that is chosen.

        Raises ValueError for words of another form, and OSError where this computer can run no guest.
        """
        if choice.keys() != FIELDS or not isinstance(choice["stack"], str):
            raise ValueError(f"guests are told by {', '.join(sorted(FIELDS))}")
        if choice["disk"] is None:
            self.disks.pop(choice["stack"], None)
        elif why := lacking():
            raise OSError(why)
        else:
            self.disks[choice["stack"]] = str(choice["disk"])
        write(self.record, self.disks)
        return dict(self.disks)

    def create(self, site: Site, spec: dict[str, Any], hosts: str) -> Instance:
        folder = machine_folder(site.home, spec)
        marker = folder / MARK
        disk = (
            marker.read_text()
            if marker.exists()
            else None
            if (folder / "disk").exists()
            else self.disks.get(spec["stack"])
        )
        return GuestInstance(site, spec, hosts, disk=disk) if disk else Instance(site, spec, hosts)


@dataclass(kw_only=True)
class GuestInstance(Instance):
    """An instance whose machine starts by itself from the disk `disk`, a qcow2, and runs its user-data itself.

    Nobody enters it from here: it has no agent of Systems Manager's, and its volumes are its own.
    """

    disk: str

    def start(self) -> None:
        self.note("starting")
        self.begun = self.starts
        spec, self.laid = self.spec, self.hosts
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / MARK).write_text(self.disk)
        hardware = spec["hardware"]
        self.machine = Guest(
            self.name,
            self.folder,
            (f"{spec['address']}/{spec['prefix']}",),
            router=self.site.router(spec["vpc"]),
            hosts=self.hosts_text(),
            files=self.site.trusted(),
            image=Path(self.disk),
            domain=f"{spec['region']}.compute.internal",
            kind=spec["type"],
            cpus=hardware["cpus"],
            memory_mib=hardware["memory_mib"],
            disk_gib=hardware["disk_gib"],
        )
        self.console(f"{self.id} starts as a guest from {self.disk} on {spec['address']} in {spec['zone']}")
        self.machine.start()
        self.note("running")

    def care(self) -> bool:
        return False

    @property
    def pid(self) -> int | None:
        """None in which a command could be run."""
        return None

    def end(self) -> None:
        super().end()
        with contextlib.suppress(OSError):
            (self.folder / "disk.qcow2").unlink()
            (self.folder / MARK).unlink()
