"""Packages from a mirror, its archive and the cache: only what has the lock's digest, wherever it comes from."""

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from images import packages
from images.errors import ImageError
from images.lock import Lock, Package
from images.recipe import Base

CONTENT = b"a package"
EPOCH_SECONDS = 1_700_000_000


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class Place(NamedTuple):
    base: Base
    mirror: Path
    archive: Path
    cache: Path

    def fetch(self) -> list[Path]:
        digest = hashlib.sha256(CONTENT).hexdigest()
        package = Package("some", "1-1", len(CONTENT), digest, "main", "pool/some.deb")
        return packages.fetch(
            Lock(Path("x.lock"), "", EPOCH_SECONDS, (package,)), self.base, self.cache, lambda *_: None
        )


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    at = f"http://127.0.0.1:{server.server_port}"
    base = Base(keyring="", mirrors={"main": f"{at}/mirror"}, archives={"main": f"{at}/archive"}, suites=[], kernels={})
    yield Place(base, tmp_path / "mirror/pool", tmp_path / "archive/20231114T221320Z/pool", tmp_path / "cache")
    server.shutdown()


def put(folder: Path, content: bytes = CONTENT) -> None:
    folder.mkdir(parents=True)
    (folder / "some.deb").write_bytes(content)


def test_one_comes_from_the_mirror_once(place: Place) -> None:
    put(place.mirror)
    (file,) = place.fetch()
    (place.mirror / "some.deb").unlink()
    assert place.fetch() == [file]
    assert file.read_bytes() == CONTENT


def test_what_a_mirror_has_dropped_comes_from_the_archive(place: Place) -> None:
    put(place.archive)
    assert place.fetch()[0].read_bytes() == CONTENT


def test_a_cached_one_that_was_changed_is_fetched_again(place: Place) -> None:
    put(place.mirror)
    (file,) = place.fetch()
    file.write_bytes(CONTENT.swapcase())
    assert place.fetch()[0].read_bytes() == CONTENT


def test_another_one_is_refused_and_not_kept(place: Place) -> None:
    put(place.mirror, b"another")
    with pytest.raises(ImageError, match=r"x\.lock: some 1-1 should have the digest .*Do not trust that mirror"):
        place.fetch()
    assert list(place.cache.iterdir()) == []


def test_one_that_is_nowhere_is_told_with_what_to_do(place: Place) -> None:
    with pytest.raises(ImageError, match=r"some 1-1 can't be had.*404.*`landbridge image lock`"):
        place.fetch()


def test_a_cache_that_cannot_be_is_told(place: Place) -> None:
    place.cache.write_text("a file")
    with pytest.raises(ImageError, match=r"File exists\. Name another folder by XDG_CACHE_HOME"):
        place.fetch()
