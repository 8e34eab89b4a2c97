"""Small disks in the form that bakes have, and what tests of every cloud's store need of one in three of its regions."""

import contextlib
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

from images import baked, channels
from images.baked import Baked, Disk, Format
from images.stores.aws.blocks import BLOCK_BYTES
from images.stores.store import PointerKey, Store
from tests.local.azure.vhds import footer

KUBERNETES = "1.36.2"
# Of a disk of 4 MiB: with holes, and a last block that is not whole.
SIZE_BYTES, USED = 8 * BLOCK_BYTES - 4096, (0, 3, 4, 7)
# Azure takes no smaller one.
VHD_BYTES = 20 << 20


def told(_: str) -> None:
    """Nobody listens."""


def bake(home: Path, mark: str, variant: str = "cpu", driver: str | None = None) -> tuple[Path, Baked]:
    """A folder as a bake leaves it; another mark is another disk and digest."""
    digest = baked.hashlib.sha256(mark.encode()).hexdigest()
    folder = home / baked.name_of(variant, KUBERNETES, digest)
    folder.mkdir(parents=True)
    with (folder / "disk.raw").open("wb") as disk:
        disk.truncate(SIZE_BYTES)
        for index in USED:
            disk.seek(index * BLOCK_BYTES)
            disk.write(f"{mark} {index}".encode())
    shutil.copy(folder / "disk.raw", folder / "disk.qcow2")
    with (folder / "disk.vhd").open("wb") as disk:
        disk.write((folder / "disk.raw").read_bytes())
        disk.truncate(VHD_BYTES)
        disk.seek(VHD_BYTES)
        disk.write(footer(VHD_BYTES))
    disks = {}
    for kind in get_args(Format):
        file = folder / f"disk.{kind}"
        disks[kind] = Disk(file=file.name, size_bytes=file.stat().st_size, sha256=baked.sha256(file))
    image = Baked(
        name=folder.name, variant=variant, base="debian-13", kubernetes=KUBERNETES, digest=digest, driver=driver,
        kernel="6.12", root_mib=1, packages=1, disks=disks,
    )  # fmt: skip
    (folder / baked.DOCUMENT).write_text(image.model_dump_json())
    return folder, image


class Killed(BaseException):
    """What a kill is to the code that it hits."""


class Mortal:
    """A client that dies once, before or after a call of its own or of one of its groups of operations."""

    def __init__(self, client: Any, due: Callable[[str], bool]) -> None:
        self.client, self.due = client, due

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.client, name)
        if not callable(found):
            return Mortal(found, self.due)

        def call(*args: Any, **given: Any) -> Any:
            if self.due(f"before {name}"):
                raise Killed
            answer = found(*args, **given)
            if self.due(f"after {name}"):
                raise Killed
            return answer

        return call


class StoreBed(ABC):
    """One cloud's stores.

    `steps` are those of which each can be the last of a run, in their order: those with `pointing` set channels. A block
    is there after `put`, all of them are before `closing`, and there are `blocks`. `refusal` and `taken` are what
    `refuse` and a name that another image has make it say.
    """

    regions: Sequence[str]
    disk: str
    steps: Sequence[str]
    pointing: str
    put: str
    closing: str
    blocks: int
    refusal: str
    taken: str

    @abstractmethod
    def store(self, folder: Path, fleet: str, regions: int = 3) -> Store:
        """One with its journals in a folder."""

    @abstractmethod
    def interrupted(self, store: Store, due: Callable[[str], bool]) -> contextlib.AbstractContextManager[None]:
        """Runs end at the steps that are due."""

    @abstractmethod
    def refuse(self) -> None:
        """The cloud takes no more copies of images."""

    @abstractmethod
    def calm(self) -> None:
        """It takes them again."""

    @abstractmethod
    def sent(self, store: Store) -> list[Any]:
        """What a publication leaves first."""

    @abstractmethod
    def assert_whole(self, store: Store, folder: Path, image: Baked) -> None:
        """What the cloud has of the store's only image is as it was baked, with its tags, and nothing is beside it."""

    @abstractmethod
    def images(self, store: Store, folder: Path, *marks: str) -> list[str]:
        """Names of images that the store has from now on, in all its regions."""


def promoted(store: Store, *names: str, who: str = "alice") -> None:
    for name in names:
        channels.do(store, channels.promotion(channels.look(store), name, "stable", force=True), who, "promote")


def said(store: Store, channel: str = "stable") -> list[str]:
    """The names that a channel says, by region; none is empty."""
    slot = PointerKey("cpu", KUBERNETES, channel)
    looked = channels.look(store).values()
    return [there.name(there.pointers[slot].image) if slot in there.pointers else "" for there in looked]
