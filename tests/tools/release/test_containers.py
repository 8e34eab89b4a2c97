"""The lock of add-ons' images, written from what a real registry says."""

import datetime
from collections.abc import Callable
from pathlib import Path

import pytest
from release import containers
from release.errors import ReleaseError

from fleet import container_lock
from fleet.container_lock import DOCUMENTS, NOBODY, REGISTRY, Pin
from landbridge.experiments import registry
from tests.landbridge.experiments.test_registry import pushed, real, serve
from tests.support.apiserver import free_port

__all__ = ["serve"]
FIRST, LATER = datetime.date(2026, 1, 2), datetime.date(2026, 3, 4)
OTHER = f"sha256:{64 * 'b'}"


def test_every_image_of_an_add_on_stands_in_the_lock_and_nothing_else() -> None:
    """Another version in components/addons/images.py is another line there: `make lock` writes it."""
    assert sorted(container_lock.read()) == containers.names()


@real
def test_what_the_registry_says_is_locked_with_the_day_on_which_it_was_first_said(
    serve: Callable[..., str], tmp_path: Path
) -> None:
    file = tmp_path / "containers.lock"
    name = f"{serve()}/lab/train:1"
    digest = pushed(name.partition("/")[0])
    assert containers.lock(file, [name], FIRST) == ["1 of 1 images of add-ons have a digest"]
    assert container_lock.read(file) == {name: Pin(name, digest, FIRST, REGISTRY)}
    before = file.read_bytes()
    containers.lock(file, [name], LATER)
    assert file.read_bytes() == before, "an answer that is the same changes nothing"


@real
def test_a_tag_that_was_moved_is_taken_by_nobody_but_who_says_so(serve: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "containers.lock"
    name = f"{serve()}/lab/train:1"
    digest = pushed(name.partition("/")[0])
    file.write_text(container_lock.written([Pin(name, OTHER, FIRST, REGISTRY)]))
    before = file.read_bytes()
    with pytest.raises(ReleaseError, match=f"lab/train:1: {OTHER} before, {digest} now"):
        containers.lock(file, [name], LATER)
    assert file.read_bytes() == before
    containers.lock(file, [name], LATER, take_moved=True)
    assert container_lock.read(file)[name] == Pin(name, digest, LATER, REGISTRY)


@real
def test_what_documents_said_is_put_right_by_the_registry(serve: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "containers.lock"
    name = f"{serve()}/lab/train:1"
    digest = pushed(name.partition("/")[0])
    file.write_text(container_lock.written([Pin(name, OTHER, FIRST, DOCUMENTS)]))
    containers.lock(file, [name], LATER)
    assert container_lock.read(file)[name] == Pin(name, digest, LATER, REGISTRY)


@real
def test_an_image_that_is_not_there_stops_the_lock(serve: Callable[..., str], tmp_path: Path) -> None:
    name = serve()
    pushed(name)
    with pytest.raises(ReleaseError, match=r"has no lab/train with the tag 2. Name one that is there in"):
        containers.lock(tmp_path / "containers.lock", [f"{name}/lab/train:1", f"{name}/lab/train:2"], FIRST)
    assert not (tmp_path / "containers.lock").exists()


def test_a_registry_that_is_silent_is_asked_once_and_the_lock_says_what_it_did_not(tmp_path: Path) -> None:
    file, host, asked = tmp_path / "containers.lock", f"127.0.0.1:{free_port()}", []
    known, new = Pin(f"{host}/a:1", OTHER, FIRST, REGISTRY), f"{host}/b:1"
    file.write_text(container_lock.written([known]))

    def ask(name: str) -> str:
        asked.append(name)
        return registry.digest(name)

    told = containers.lock(file, [known.name, new], LATER, ask=ask)
    assert asked == [known.name]
    assert container_lock.read(file) == {known.name: known, new: Pin(new, None, LATER, NOBODY)}
    assert told[0] == "1 of 2 images of add-ons have a digest"
    assert told[1].startswith(f"  not asked: {host} does not answer (")
    assert told[2:] == [f"  held by its tag alone: {new}"]
