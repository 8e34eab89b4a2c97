"""A bake: locked packages → root file system → listing and digest → disks → `image.json`, all of it or nothing."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

from . import baked, bill, containers, digest, disk, driver, inputs, lock, packages, rootfs
from .baked import Baked
from .containers import Container
from .errors import ImageError
from .recipe import ImageSpec
from .running import NEEDED, cache_folder, check, explain_full_disk, image_umask, made, remove_tree, room

ROOT = "root"
NEEDED_GIB = 6.0
# Phase and how far it is, for whoever looks on.
Tell = Callable[[str], None]


class Given(NamedTuple):
    """What a bake takes from this machine: programs by name with their versions, and where to keep things.

    `containers` are those that nodes have before they ask a registry.
    """

    kubernetes: str
    programs: Mapping[str, Path]
    versions: Mapping[str, str]
    home: Path
    packages: Path
    locks: Path = lock.FOLDER
    containers: Sequence[Container] = ()


class Times(NamedTuple):
    phase: str
    seconds: float


class Made(NamedTuple):
    """`before` says that the same image lay there already; without `times` it was not even baked again."""

    folder: Path
    image: Baked
    before: bool
    times: list[Times]


def home() -> Path:
    """The folder of images: LANDBRIDGE_IMAGES, else in the user's cache."""
    named = os.environ.get("LANDBRIDGE_IMAGES")
    return Path(named) if named else cache_folder("images")


def bake(spec: ImageSpec, given: Given, tell: Tell, *, again: bool = False) -> Made:
    """An image of the same inputs that lies there is taken, unless `again`.

    Raises ImageError; then nothing of it is left but fetched packages.
    """
    check(NEEDED, root=True)
    locked = lock.current(spec, given.locks)
    driver.check(spec, locked)
    if missing := sorted(set(spec.programs) - given.programs.keys()):
        raise ImageError(f"recipe.yaml asks for programs that nobody builds: {', '.join(missing)}. Take them out")
    made_of = inputs.key(
        spec,
        locked,
        {
            "kubernetes": given.kubernetes,
            "versions": {name: given.versions[name] for name in spec.programs},
            "containers": [(one.entry, baked.sha256(one.file)) for one in given.containers],
        },
        {name: given.programs[name] for name in spec.programs},
    )
    if not again and (there := inputs.lying(given.home, made_of)):
        return Made(*there, before=True, times=[])
    room(made(given.home, "Name another folder by LANDBRIDGE_IMAGES"), NEEDED_GIB)
    times: list[Times] = []
    with explain_full_disk(given.home), _workshop(given.home) as workshop:
        phase = _phases(tell, times)
        with phase("packages fetched"):
            files = packages.fetch(
                locked,
                spec.base,
                given.packages,
                lambda done, of: tell(f"packages: {done} of {of}") if done % 50 == 0 else None,
            )
        with phase("packages installed"):
            source = packages.repository(locked, files, workshop / "repository")
            rootfs.make(workshop / ROOT, locked, source)
            shutil.rmtree(workshop / "repository")
        with phase("our files and programs"):
            image = _contents(workshop, spec, locked, given)
        with phase("disks"):
            disks = disk.make(
                workshop / ROOT, image.kernel, image.digest, locked.epoch_seconds, image.root_mib, workshop
            )
        image = image.model_copy(update={"disks": disks})
        (workshop / inputs.FILE).write_text(made_of)
        folder, before = _put(workshop, given.home, image)
    return Made(folder, image, before, times)


def _contents(workshop: Path, spec: ImageSpec, locked: lock.Lock, given: Given) -> Baked:
    """Finishes the root file system; an image without disks yet."""
    root = workshop / ROOT
    kernel = rootfs.kernel(root)
    programs = {name: given.programs[name] for name in spec.programs}
    digests = {name: (given.versions[name], baked.sha256(program)) for name, program in programs.items()}
    documents = {
        bill.BILL: bill.written(bill.bill(spec, locked, digests, given.containers)),
        bill.PROVENANCE: bill.written(bill.provenance(spec, locked, given.kubernetes, kernel, given.containers)),
    }
    rootfs.finish(root, spec, programs, {f"{bill.FOLDER}/{name}": text for name, text in documents.items()})
    containers.lay(root, given.containers)
    rootfs.clean(root, locked.epoch_seconds)
    size_mib = rootfs.size_mib(root)
    # How large containers are is up to who asks for them.
    if size_mib - containers.size_mib(root) > spec.variant.most_mib:
        raise ImageError(
            f"The root file system has {size_mib} MiB, and recipe.yaml allows {spec.variant_name} "
            f"{spec.variant.most_mib} MiB: take packages out, or raise most_mib"
        )
    listing = digest.written(digest.listing(root))
    for name, text in {**documents, digest.LISTING: listing}.items():
        (workshop / name).write_text(text)
    found = digest.digest(listing)
    return Baked(
        name=baked.name_of(spec.variant_name, given.kubernetes, found),
        variant=spec.variant_name,
        base=spec.base_name,
        kubernetes=given.kubernetes,
        digest=found,
        driver=spec.driver.version if spec.driver else None,
        kernel=kernel,
        root_mib=size_mib,
        packages=len(locked.packages),
        disks={},
    )


@contextmanager
def _workshop(place: Path) -> Iterator[Path]:
    """A folder that is gone in the end, whatever happens; on the disk where the image is to lie."""
    folder = Path(tempfile.mkdtemp(prefix=".baking-", dir=place))
    try:
        # mmdebstrap's programs of other users pass through it.
        folder.chmod(0o755)
        with image_umask():
            yield folder
    finally:
        remove_tree(folder)


def _phases(tell: Tell, times: list[Times]) -> Callable[[str], AbstractContextManager[None]]:
    @contextmanager
    def phase(name: str) -> Iterator[None]:
        tell(f"{name} …")
        began = time.monotonic()
        yield
        times.append(Times(name, time.monotonic() - began))
        tell(f"{name}: {times[-1].seconds:.0f} s")

    return phase


def _put(workshop: Path, home: Path, image: Baked) -> tuple[Path, bool]:
    """Into its place in one step, its document last: a folder without one is no image."""
    folder = home / image.name
    document = image.model_dump_json(indent=1) + "\n"
    before = (folder / baked.DOCUMENT).exists() and (folder / baked.DOCUMENT).read_text() == document
    if folder.exists():
        baked.remove(folder)
    (workshop / baked.DOCUMENT).write_text(document)
    workshop.rename(folder)
    return folder, before
