"""Volumes: folders that outlive machines. HOME/volumes/VOLUME_ID holds what is on it and what file system it has."""

import json
import shutil
import threading
from pathlib import Path

from local.machines.disk import RECORD


class Volumes:
    """The folders of all volumes, and which machine has which."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "volumes"
        self.holders: dict[str, str] = {}
        self.lock = threading.Lock()
        self.folder.mkdir(parents=True, exist_ok=True)

    def of(self, volume: str, gib: int) -> Path:
        """A volume's folder, blank when it is new."""
        folder = self.folder / volume
        if not (folder / RECORD).exists():
            (folder / "data").mkdir(parents=True, exist_ok=True)
            (folder / RECORD).write_text(json.dumps({"id": volume, "gib": gib, "type": None}))
        return folder

    def take(self, volume: str, machine: str) -> bool:
        """False while another machine has it still."""
        with self.lock:
            return self.holders.setdefault(volume, machine) == machine

    def give(self, volume: str, machine: str) -> None:
        with self.lock:
            if self.holders.get(volume) == machine:
                del self.holders[volume]

    def drop_others(self, volumes: set[str]) -> list[str]:
        """Removes what is of no volume any more."""
        gone = [folder for folder in self.folder.iterdir() if folder.name not in volumes]
        for folder in gone:
            shutil.rmtree(folder, ignore_errors=True)
        return [folder.name for folder in gone]


def mounted(pid: int, volume: str) -> bool:
    """Whether the machine with first process `pid` has a mount of the volume besides the device itself."""
    path = f"/volumes/{volume}/data"
    lines = Path(f"/proc/{pid}/mountinfo").read_text().splitlines()
    # The fourth field is the mounted folder in its file system, see proc(5).
    return any(line.split()[3].endswith(path) or f"{path}/" in line.split()[3] for line in lines)
