"""What a host of a run finds where: code, keys, checkpoints, and folders of its own. Pure."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from . import heartbeat, keys, notice, tensorboard
from .spec import Run
from .templates import Part

CODE, SHARE = "/code", "/checkpoints"
# A restart, and a run that is repeated, then ask no cloud for their code.
CACHE = f"{SHARE}/.code"


class Mounted(NamedTuple):
    """A volume at its path. `source` is what Kubernetes makes it of."""

    name: str
    path: str
    source: dict[str, Any]
    read_only: bool = False

    @property
    def volume(self) -> dict[str, Any]:
        return {"name": self.name, **self.source}

    @property
    def mount(self) -> dict[str, Any]:
        return {"name": self.name, "mountPath": self.path, **({"readOnly": True} if self.read_only else {})}

    def has(self, folder: str) -> bool:
        return folder == self.path or folder.startswith(f"{self.path}/")


def checkpoints(name: str) -> str:
    """Restarts find it again; other runs have theirs."""
    return f"{SHARE}/runs/{name}"


def pictures(run: Run, name: str) -> str:
    """What TensorBoard shows: beside the checkpoints, else in a folder that ends with each host."""
    return f"{checkpoints(name)}/{tensorboard.NAME}" if run.checkpoints else tensorboard.FOLDER


def mounted(run: Run, name: str, part: Part, *, ssh: bool) -> list[Mounted]:
    return [*_mounted(run, name, part, ssh=ssh)]


def _mounted(run: Run, name: str, part: Part, *, ssh: bool) -> Iterator[Mounted]:
    yield Mounted("code", CODE, {"emptyDir": {}}, read_only=True)
    if ssh:
        yield Mounted("ssh", keys.FOLDER, keys.source(name), read_only=True)
    for number, folder in enumerate(part.folders):
        yield Mounted(f"folder-{number}", folder, {"emptyDir": {"medium": "Memory"}})
    if run.checkpoints:
        yield Mounted("checkpoints", SHARE, {"persistentVolumeClaim": {"claimName": run.checkpoints}})
    if part.gpus == "none":
        return
    yield Mounted("notice", notice.FOLDER, notice.source(), read_only=True)
    if run.hang_minutes:
        yield Mounted("heartbeat", heartbeat.FOLDER, {"emptyDir": {}})
    if run.tensorboard and not run.checkpoints:
        yield Mounted("tensorboard", tensorboard.FOLDER, {"emptyDir": {}})
