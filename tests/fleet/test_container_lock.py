"""The lock of containers' images: what it says, and what is wrong with one, by its line."""

import datetime
from pathlib import Path

import pytest

from fleet import container_lock
from fleet.container_lock import LockError, Pin

DIGEST = f"sha256:{64 * 'a'}"
DAY = datetime.date(2026, 1, 2)
PINS = [
    Pin("registry.example.com:5000/a/b:1", DIGEST, DAY, "registry"),
    Pin("registry.example.com/c:v2", None, DAY, "nobody"),
]


def test_what_is_written_is_read_again_in_the_order_of_names(tmp_path: Path) -> None:
    file = tmp_path / "containers.lock"
    file.write_text(container_lock.written(PINS))
    found = container_lock.read(file)
    assert list(found.values()) == PINS[::-1]
    assert container_lock.written(found.values()) == file.read_text()
    assert [pin.reference for pin in found.values()] == [PINS[1].name, f"{PINS[0].name}@{DIGEST}"]


@pytest.mark.parametrize(
    "line",
    [
        "registry.example.com/a:1 sha256:aa 2026-01-02 registry",
        f"registry.example.com/a {DIGEST} 2026-01-02 registry",
        f"registry.example.com/a:1 {DIGEST} yesterday registry",
        # That there is no digest is said by nobody.
        "registry.example.com/a:1 unknown 2026-01-02 registry",
        f"registry.example.com/a:1 {DIGEST}",
    ],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "containers.lock"
    file.write_text(f"# Head\n{line}\n")
    with pytest.raises(LockError, match=r"^containers.lock:2: this is no image .* `make lock` writes the file anew$"):
        container_lock.read(file)


def test_an_image_stands_there_once(tmp_path: Path) -> None:
    file = tmp_path / "containers.lock"
    file.write_text(container_lock.written([PINS[0], PINS[0]._replace(digest=f"sha256:{64 * 'b'}")]))
    with pytest.raises(LockError, match=r"containers.lock:3: registry.example.com:5000/a/b:1 stands here twice"):
        container_lock.read(file)


def test_no_lock_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(LockError, match="No such file"):
        container_lock.read(tmp_path / "containers.lock")
