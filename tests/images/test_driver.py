"""NVIDIA's driver from a repository of its own: which version is taken, and what is refused before anything is baked.

The repository is this test's, signed by its own key and served on loopback; names and layout are those of NVIDIA's.
"""

import json
import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from images import bake as baking
from images import bill, driver, lock, packages, recipe, resolve
from images.errors import ImageError

from . import repository
from .repository import Deb
from .test_packages import Quiet

VERSION, NEWER, OLDER = "580.178.04", "595.91.07", "580.105.08"
PARTS = ("nvidia-driver-cuda", "nvidia-kernel-open-dkms", "nvidia-fabricmanager", "nvidia-persistenced")
BASE = (Deb("base-files", "13", {"Essential": "yes"}), Deb("linux-image-tiny", "6.12-1"), Deb("zstd", "1.5-1"))


def of(version: str, names: tuple[str, ...] = PARTS) -> list[Deb]:
    # Packages of the driver name each other with no version, as some of NVIDIA's do.
    needs = {"Depends": "nvidia-persistenced"}
    return [Deb(name, f"{version}-1", needs if name == PARTS[0] else {}) for name in names]


def served(mirror: str, suite: str = "/") -> dict[str, object]:
    return {"mirror": mirror, "suite": suite, "components": []}


class Site(NamedTuple):
    """Repositories by name below `folder`, at `address`."""

    folder: Path
    address: str
    keyring: Path
    other_keyring: Path

    def asked(self, place: Path, name: str = "nvidia", *, keyring: Path | None = None) -> recipe.ImageSpec:
        """What a recipe of a tiny base asks for, with the driver of the repository `name`."""
        told = {
            "bases": {
                "tiny": {
                    "keyring": str(self.keyring), "mirrors": {"main": f"{self.address}/base"},
                    "suites": [served("main")], "kernels": {"any": "linux-image-tiny"},
                }
            },
            "common": {"packages": ["zstd"], "enabled": [], "masked": []},
            "node": {"packages": [], "programs": []},
            "drivers": {
                "lts": {
                    "base": "tiny", "version": VERSION, "mirrors": {"nvidia": f"{self.address}/{name}"},
                    "suites": [{**served("nvidia"), "keyring": str(keyring or self.keyring)}],
                    "packages": [*PARTS[:3], "nvidia-container-toolkit"],
                    "exact": ["nvidia-driver*", "nvidia-kernel-*", "nvidia-fabricmanager", "nvidia-persistenced"],
                    "enabled": ["nvidia-persistenced.service", "nvidia-fabricmanager.service"],
                }
            },
            "variants": {
                "gpu": {"kernel": "any", "node": True, "gpus": True, "packages": [], "programs": [], "most_mib": 9},
                "cpu": {"kernel": "any", "node": True, "packages": [], "programs": [], "most_mib": 9},
            },
        }  # fmt: skip
        file = place / "recipe.yaml"
        file.write_text(yaml.safe_dump(told))
        return recipe.select(recipe.load(file), "tiny", "gpu", "lts")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    toolkit = [Deb("nvidia-container-toolkit", "1.20.1-1")]
    with repository.signer(folder / "key") as key, repository.signer(folder / "other") as other:
        repository.make(folder / "base", list(BASE), key)
        repository.make(folder / "nvidia", [*of(VERSION), *of(NEWER), *toolkit], key)
        repository.make(folder / "mixed", [*of(VERSION, PARTS[:2]), *of(OLDER, PARTS[2:]), *toolkit], key)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Site(folder, f"http://127.0.0.1:{server.server_port}", key.keyring, other.keyring)
    server.shutdown()


def test_all_of_the_driver_is_of_the_version_that_was_named(site: Site, tmp_path: Path) -> None:
    """Though its repository has a newer one, which apt would take."""
    asked = site.asked(tmp_path)
    found = resolve.resolve(asked, tmp_path)
    versions = {one.name: one.version for one in found.packages}
    assert {name: versions[name] for name in PARTS} == dict.fromkeys(PARTS, f"{VERSION}-1")
    assert (found.file.name, versions["nvidia-container-toolkit"]) == ("tiny-gpu-lts.lock", "1.20.1-1")
    files = packages.fetch(found, asked.base, tmp_path / "cache", lambda *_: None)
    packages.repository(found, files, tmp_path / "repository")
    assert f"Version: {VERSION}-1" in (tmp_path / "repository/Packages").read_text()


def test_bill_and_provenance_name_the_driver(site: Site, tmp_path: Path) -> None:
    asked = site.asked(tmp_path)
    found = resolve.resolve(asked, tmp_path)
    made = json.loads(bill.written(bill.provenance(asked, found, "1.36.2", "6.12")))
    assert made["driver"] == VERSION
    assert "nvidia-fabricmanager.service" in made["units"]["enabled"]
    listed = {one["name"]: one["version"] for one in bill.bill(asked, found, {})["components"]}
    assert listed["nvidia-fabricmanager"] == f"{VERSION}-1"
    driverless = recipe.select(recipe.load(tmp_path / "recipe.yaml"), "tiny", "gpu")
    found = resolve.resolve(driverless, tmp_path)
    assert bill.provenance(driverless, found, "1.36.2", "6.12")["driver"] is None
    assert {one.name for one in found.packages} == {one.name for one in BASE}


def test_a_fabric_manager_of_another_version_is_refused(site: Site, tmp_path: Path) -> None:
    with pytest.raises(ImageError) as error:
        resolve.resolve(site.asked(tmp_path, "mixed"), tmp_path)
    told = str(error.value)
    assert f"is to be {VERSION}" in told
    assert f"nvidia-fabricmanager {OLDER}-1" in told
    assert "nvidia-driver-cuda" not in told


@pytest.mark.skipif(os.geteuid() != 0, reason="a bake wants root")
def test_a_lock_with_another_fabric_manager_bakes_nothing(site: Site, tmp_path: Path) -> None:
    """Somebody's hand in the lock: refused before a package is fetched or a folder made."""
    asked = site.asked(tmp_path)
    found = resolve.resolve(asked, tmp_path)
    found.file.write_text(
        lock.written(found).replace(f"nvidia-fabricmanager {VERSION}", f"nvidia-fabricmanager {NEWER}")
    )
    given = baking.Given("1.36.2", {}, {}, tmp_path / "images", tmp_path / "cache", tmp_path)
    with pytest.raises(ImageError, match=rf"nvidia-fabricmanager {NEWER}-1\. .*Nothing was baked"):
        baking.bake(asked, given, lambda _: None)
    assert not given.home.exists()
    assert not given.packages.exists()


def test_a_driver_of_another_checksum_is_refused(site: Site, tmp_path: Path) -> None:
    asked = site.asked(tmp_path)
    found = resolve.resolve(asked, tmp_path)
    file = site.folder / f"nvidia/nvidia-driver-cuda_{VERSION}-1_amd64.deb"
    before = file.read_bytes()
    file.write_bytes(before.replace(b"a test's", b"a thief's"))
    try:
        with pytest.raises(ImageError, match=rf"nvidia-driver-cuda {VERSION}-1 should have the digest"):
            packages.fetch(found, asked.base, tmp_path / "cache", lambda *_: None)
    finally:
        file.write_bytes(before)


def test_a_repository_of_another_signature_is_refused(site: Site, tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"is not signed|NO_PUBKEY"):
        resolve.resolve(site.asked(tmp_path, keyring=site.other_keyring), tmp_path)


def test_a_driver_that_fits_nothing_is_told(site: Site, tmp_path: Path) -> None:
    site.asked(tmp_path)
    own = recipe.load(tmp_path / "recipe.yaml")
    for base, variant, name, told in (
        ("tiny", "gpu", "newest", r"has no driver 'newest'\. It has: lts"),
        ("tiny", "cpu", "lts", "no GPU and take no driver. Those that do: gpu"),
    ):
        with pytest.raises(ImageError, match=told):
            recipe.select(own, base, variant, name)
    with pytest.raises(ImageError, match=r"is for ubuntu-26\.04, and not for debian-13: --base ubuntu-26\.04"):
        recipe.select(recipe.load(), "debian-13", "gpu", "ubuntu-580")


@pytest.mark.parametrize("name", recipe.load().recipe.drivers)
def test_our_own_locks_have_their_driver_whole(name: str) -> None:
    asked = recipe.select(recipe.load(), recipe.load().recipe.drivers[name].base, "gpu", name)
    locked = lock.current(asked)
    driver.check(asked, locked)
    assert set(asked.packages) <= {package.name for package in locked.packages}


def test_the_guide_s_own_driver_fits_the_recipe(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs/guide/images.md").read_text()
    told = guide.partition("```text\ndrivers:\n")[2].partition("```")[0]
    file = tmp_path / "recipe.yaml"
    file.write_text(recipe.RECIPE.read_text().replace("\ndrivers:\n", f"\ndrivers:\n{told}", 1))
    asked = recipe.select(recipe.load(file), "debian-13", "gpu", "nvidia-580")
    assert asked.driver is not None
    assert f"Pin: version /^([0-9]+:)?{VERSION.replace('.', '[.]')}(-|$)/" in driver.preferences(asked)
    assert any("/cuda/debian13/x86_64 /" in line for line in resolve.sources(asked.base))


def test_versions_without_their_packager() -> None:
    told = {"580.178.04-1": "580.178.04", "1:580.178.04-0ubuntu0.26.04.1": "580.178.04", "580.178.04": "580.178.04"}
    assert {version: driver.upstream(version) for version in told} == told
