"""Real bakes of images: reproducible, whole or nothing, and what its checks find when it is spoilt."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from images import bake as baking
from images import baked, lock, recipe, running
from images.errors import ImageError
from tests.support import images as bed
from tests.support.images import asked, document, landbridge

pytestmark = [pytest.mark.timeout(1800), pytest.mark.skipif(os.geteuid() != 0, reason="a bake wants root")]


@pytest.fixture(scope="module")
def locks() -> Path:
    return bed.locks()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("images")
    yield folder
    shutil.rmtree(folder)  # gigabytes


@pytest.fixture(scope="module")
def made(home: Path, locks: Path) -> dict[str, Any]:
    """An image of this module's own, to spoil; under somebody's umask, which decides nothing."""
    before = os.umask(0o077)
    try:
        return document(home, "bake", "--locks", str(locks))
    finally:
        os.umask(before)


def test_it_is_as_small_as_promised(made: dict[str, Any]) -> None:
    assert made["root_mib"] < 1024
    assert made["disks"]["qcow2"]["size_bytes"] < 512 << 20
    assert made["disks"]["vhd"]["size_bytes"] == made["disks"]["raw"]["size_bytes"] + 512


def test_a_second_bake_is_the_same_bit_for_bit(made: dict[str, Any]) -> None:
    """The other one is what other modules share."""
    other = baked.read(bed.baked()).model_dump(mode="json")
    assert (other["name"], other["disks"]) == (made["name"], made["disks"])


def test_what_lies_there_is_not_baked_again(home: Path, made: dict[str, Any], locks: Path) -> None:
    assert (made["seconds"]["disks"] > 0, made["name"]) == (True, document(home, "list")["images"][0]["name"])
    there = document(home, "bake", "--locks", str(locks))
    assert (there["seconds"], there["disks"]) == ({}, made["disks"])


def test_it_is_listed_and_like_itself(home: Path, made: dict[str, Any]) -> None:
    assert [one["name"] for one in document(home, "list")["images"]] == [made["name"]]
    assert document(home, "diff", made["name"], made["name"]) == {"differences": []}
    assert made["name"] in landbridge(home, "list").stdout


def test_all_is_found_as_it_should_be(home: Path, made: dict[str, Any]) -> None:
    found = document(home, "test")
    assert found["image"] == made["name"]
    assert {one["name"]: one["why"] for one in found["checks"] if one["outcome"] == "failed"} == {}
    assert sum(one["outcome"] == "passed" for one in found["checks"]) >= 14


def test_it_starts_and_is_as_it_should_be(home: Path, made: dict[str, Any]) -> None:
    """By UEFI under software emulation, with no network but the cloud's metadata."""
    found = document(home, "test", made["name"], "--boot")
    assert {one["name"]: one["why"] for one in found["checks"] if one["outcome"] == "failed"} == {}
    assert sum(one["outcome"] == "passed" for one in found["checks"]) >= 22
    # Some 35 s where nothing else runs; a busy machine takes many times that, and no kernel is up in five.
    assert 5 < found["started_seconds"] < 300


def test_a_gateway_is_as_it_should_be() -> None:
    """The one that the links' own tests start."""
    folder = bed.baked("gateway")
    found = document(bed.HOME, "test", folder.name)
    assert {one["name"]: one["why"] for one in found["checks"] if one["outcome"] == "failed"} == {}
    passed = {one["name"] for one in found["checks"] if one["outcome"] == "passed"}
    assert {"strongswan has what the policy asks for", "modules of its purpose are there"} <= passed


# Check → a file that spoils it, and its rights.
SPOILT = {
    "no key lies there": ("var/lib/some-key", 0o600),
    "no log and no cache lies there": ("var/log/some.log", 0o644),
    "nothing names a machine": ("etc/hostname", 0o644),
    "nobody more becomes root": ("usr/bin/another", 0o4755),
    "no file can be written by all": ("etc/another", 0o666),
    "programs are those of the bill": ("usr/local/bin/another", 0o755),
}


@pytest.mark.parametrize("check", SPOILT)
def test_a_spoilt_image_is_found_out(home: Path, made: dict[str, Any], check: str) -> None:
    path, mode = SPOILT[check]
    file = home / made["name"] / "root" / path
    # Split, so that no scan for keys finds this file.
    file.write_text("-----BEGIN " + "PRIVATE KEY-----")
    file.chmod(mode)
    try:
        done = landbridge(home, "test", made["name"], "--json")
    finally:
        file.unlink()
    failed = {one["name"] for one in json.loads(done.stdout)["checks"] if one["outcome"] == "failed"}
    assert (done.returncode, check in failed) == (1, True), failed


def nothing_left(folder: Path) -> bool:
    return [path.name for path in folder.iterdir() if path.name != "lost+found"] == []


def test_a_package_of_another_digest_ends_it(locks: Path, tmp_path: Path) -> None:
    other, home = tmp_path / "locks", tmp_path / "images"
    shutil.copytree(locks, other)
    home.mkdir()
    file = lock.place(asked(), other)
    package = next(one for one in lock.read(file).packages if one.name == "zstd")
    file.write_text(file.read_text().replace(package.sha256, "0" * 64))
    done = landbridge(home, "bake", "--locks", str(other))
    assert done.returncode == 1
    assert f"zstd {package.version} should have the digest {'0' * 64}" in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr
    assert nothing_left(home)


def test_mistakes_are_told(home: Path, made: dict[str, Any], tmp_path: Path) -> None:
    broken = tmp_path / "locks"
    broken.mkdir()
    lock.place(asked(), broken).write_text("nothing")
    listing = home / made["name"] / "files.txt"
    listing.rename(listing.with_suffix(".away"))
    try:
        for words, told in {
            ("bake", "--locks", str(broken)): "this is no package's line",
            ("bake", "--variant", "gpus"): "recipe.yaml has no variant 'gpus'",
            ("test", "cpu-0"): "No such file or directory. Name a folder",
            ("test", made["name"], "--node", "alice@192.0.2.10"): "name one of them",
            ("diff", made["name"], made["name"]): "files.txt: No such file or directory",
        }.items():
            done = landbridge(home, *words)
            assert done.returncode in (1, 2), words
            assert told in done.stderr, done.stderr
            assert "A mistake in landbridge" not in done.stderr
    finally:
        listing.with_suffix(".away").rename(listing)


def test_a_broken_lock_is_made_anew(tmp_path: Path) -> None:
    file = lock.place(asked(), tmp_path)
    file.write_text("nothing")
    done = landbridge(tmp_path, "lock", "--locks", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert lock.current(asked(), tmp_path).packages


def test_an_unknown_package_has_its_line(tmp_path: Path) -> None:
    file = tmp_path / "recipe.yaml"
    file.write_text(recipe.RECIPE.read_text().replace("- chrony", "- chronyx", 1))
    line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if "chronyx" in text)
    done = landbridge(tmp_path, "lock", "--recipe", str(file), "--locks", str(tmp_path / "locks"))
    assert done.returncode == 1
    assert f"recipe.yaml:{line}: debian-13 has no package chronyx" in done.stderr
    assert not (tmp_path / "locks").exists()


@pytest.mark.parametrize(("size", "needed_gib", "told"), [("64m", None, "GiB left"), ("200m", 0.0, "is full")])
def test_a_full_disk_ends_it(
    size: str, needed_gib: float | None, told: str, locks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    """Both before it begins and, where it fills up meanwhile, with nothing left of the bake."""
    if needed_gib is not None:
        monkeypatch.setattr(baking, "NEEDED_GIB", needed_gib)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "images", tmp_path], check=True)
    request.addfinalizer(lambda: subprocess.run(["umount", tmp_path], check=True))
    names = dict.fromkeys(asked().programs, Path("/bin/true"))
    given = baking.Given("1.36.2", names, dict.fromkeys(names, "1"), tmp_path, running.cache_folder("packages"), locks)
    with pytest.raises(ImageError, match=told):
        baking.bake(asked(), given, lambda _: None)
    assert nothing_left(tmp_path)
