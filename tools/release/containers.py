"""Asks registries which content the add-ons' images are, and writes fleet/containers.lock.

One that does not answer is asked once a run, and says nothing against what the lock has. A tag that means another
content than before is taken by nobody but who says so: it is how an image is changed under its name.
"""

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import go_tools

from components.addons import images
from fleet import container_lock
from fleet.container_lock import NOBODY, REGISTRY, Pin
from landbridge.experiments import registry
from landbridge.experiments.registry import AbsentError, SilentError

from .errors import ReleaseError

# Gives a name's digest. Raises AbsentError and SilentError.
Ask = Callable[[str], str]


class Answer(NamedTuple):
    """`why` is empty where the registry gave a digest; `moved` is the digest that the lock had for the same tag."""

    pin: Pin
    why: str = ""
    moved: str = ""


def names() -> list[str]:
    """All images of add-ons with their tags, kube-proxy of each Kubernetes that is built here."""
    return images.asked_for([go_tools.KUBERNETES, *go_tools.OLDER])


def answers(wanted: Iterable[str], old: Mapping[str, Pin], today: datetime.date, ask: Ask) -> Iterator[Answer]:
    """Raises ReleaseError for an image that its registry has not."""
    silent: dict[str, str] = {}
    for name in wanted:
        host = registry.named(name).registry
        before = old.get(name) or Pin(name, None, today, NOBODY)
        if host in silent:
            yield Answer(before, silent[host])
            continue
        try:
            digest = ask(name)
        except SilentError as error:
            silent[host] = str(error)
            yield Answer(before, str(error))
        except AbsentError as error:
            raise ReleaseError(f"{name}: {error}. Name one that is there in components/addons/images.py") from None
        else:
            # The day stays that of the first answer: an unchanged lock is an unchanged file.
            same = before.digest == digest and before.source == REGISTRY
            # What documents said is put right by the registry itself.
            moved = before.digest if before.source == REGISTRY and before.digest != digest else None
            yield Answer(before if same else Pin(name, digest, today, REGISTRY), moved=moved or "")


def lock(
    file: Path, wanted: Iterable[str], today: datetime.date, *, ask: Ask = registry.digest, take_moved: bool = False
) -> list[str]:
    """Writes the file; what to tell of it. Raises ReleaseError, and then writes nothing."""
    try:
        old = container_lock.read(file) if file.exists() else {}
    except container_lock.LockError as error:
        raise ReleaseError(str(error)) from None
    found = list(answers(wanted, old, today, ask))
    moved = [f"{one.pin.name}: {one.moved} before, {one.pin.digest} now" for one in found if one.moved]
    if moved and not take_moved:
        raise ReleaseError(
            "tags mean another content than they did:\n  " + "\n  ".join(moved) + "\n"
            "Find out why. If it is right, take them: make lock-containers MOVED=--moved"
        )
    file.write_text(container_lock.written(one.pin for one in found))
    return list(_told(found))


def _told(found: list[Answer]) -> Iterator[str]:
    yield f"{sum(one.pin.digest is not None for one in found)} of {len(found)} images of add-ons have a digest"
    for why in dict.fromkeys(one.why for one in found if one.why):
        yield f"  not asked: {why}"
    for one in found:
        if one.pin.digest is None:
            yield f"  held by its tag alone: {one.pin.name}"
