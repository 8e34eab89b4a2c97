"""Containers' images in a node image: which are taken, what is refused, and that a real containerd has them after."""

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from images import containers, recipe, rootfs
from images.errors import ImageError
from landbridge.commands import image as command
from landbridge.errors import UsageError

from . import oci

PAUSE, OTHER = "registry.example.com/pause:3.10.2", "registry.example.com/team/train:1"
BUILT = Path(__file__).parents[2] / ".landbridge/image"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "archives"
    made.mkdir()
    return made


def test_what_was_asked_for_is_laid_with_its_list(folder: Path, tmp_path: Path) -> None:
    digest = oci.archive(folder / "pause.tar", PAUSE)
    found = containers.taken(folder, containers.asked_for([f"{PAUSE}@{digest}"]))
    containers.lay(tmp_path / "root", found)
    there = tmp_path / "root" / containers.FOLDER
    (one,) = json.loads((there / containers.LIST).read_text())
    assert (one["name"], one["digest"]) == (PAUSE, digest)
    assert (there / one["file"]).read_bytes() == (folder / "pause.tar").read_bytes()


def test_all_that_differs_is_told_at_once(folder: Path) -> None:
    oci.archive(folder / "pause.tar", PAUSE)
    oci.archive(folder / "other.tar", OTHER)
    third = "registry.example.com/third:1"
    with pytest.raises(ImageError) as error:
        containers.taken(folder, {PAUSE: "0" * 64, third: "1" * 64})
    told = str(error.value).splitlines()
    assert len(told) == 3
    assert f"nobody asked for {OTHER}" in told[0]
    assert f"and images.prepull asks for {'0' * 64}" in told[1]
    assert f"skopeo copy docker://{third}@sha256:{'1' * 64}" in told[2]


def test_a_damaged_archive_is_refused(folder: Path) -> None:
    oci.archive(folder / "pause.tar", PAUSE, text="some layer")
    file = folder / "pause.tar"
    file.write_bytes(file.read_bytes().replace(b"some layer", b"same layer"))
    with pytest.raises(ImageError, match="it is damaged"):
        containers.read(file)


def test_an_archive_with_a_part_less_is_refused(folder: Path) -> None:
    oci.archive(folder / "pause.tar", PAUSE, digest=f"sha256:{'2' * 64}")
    with pytest.raises(ImageError, match=f"lacks its part {'2' * 64}"):
        containers.read(folder / "pause.tar")


def test_one_without_a_whole_name_is_refused(folder: Path) -> None:
    oci.archive(folder / "pause.tar", "3.10.2")
    with pytest.raises(ImageError, match="does not say what it is called"):
        containers.read(folder / "pause.tar")


def test_what_is_no_archive(folder: Path) -> None:
    (folder / "pause.tar").write_text("nothing")
    with pytest.raises(ImageError, match=r"pause\.tar: .*no OCI archive"):
        containers.taken(folder, {})
    with pytest.raises(ImageError, match="is no folder"):
        containers.taken(folder / "away", {})


@pytest.mark.parametrize("name", ["pause", PAUSE, f"pause@sha256:{'0' * 64}", f"{PAUSE}@sha256:0"])
def test_a_name_without_its_digest_is_refused(name: str) -> None:
    with pytest.raises(ImageError, match="should be NAME:TAG@sha256:DIGEST"):
        containers.asked_for([name])


@pytest.fixture
def importer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The machine's script before a real containerd, of which nobody else knows."""
    socket = tmp_path / "containerd.sock"
    config = tmp_path / "config.toml"
    # Nothing that asks for devices or networks of this machine.
    config.write_text(
        f'version = 3\nroot = "{tmp_path}/state"\nstate = "{tmp_path}/run"\n'
        'disabled_plugins = ["io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime", "io.containerd.grpc.v1.cri"]\n'
        f'[grpc]\naddress = "{socket}"\n'
        '[[plugins."io.containerd.transfer.v1.local".unpack_config]]\nplatform = "linux/amd64"\nsnapshotter = "native"\n'
    )
    started = subprocess.Popen(
        [BUILT / "containerd", "--config", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    monkeypatch.setenv("CONTAINERD_ADDRESS", str(socket))
    # Overlays in overlays are refused by some kernels that tests run on.
    monkeypatch.setenv("CONTAINERD_SNAPSHOTTER", "native")
    script = rootfs.FILES / "node/usr/local/lib/landbridge/containers.py"
    spec = importlib.util.spec_from_file_location("importing", script)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    monkeypatch.setattr(made, "CTR", (str(BUILT / "ctr"), "--namespace", "k8s.io"))
    yield made
    started.terminate()
    started.wait(20)


@pytest.mark.skipif(os.geteuid() != 0, reason="containerd wants root")
def test_containerd_has_them_pinned_and_their_archives_are_gone(
    importer: ModuleType, folder: Path, tmp_path: Path
) -> None:
    digest = oci.archive(folder / "pause.tar", PAUSE)
    containers.lay(tmp_path / "root", containers.taken(folder, containers.asked_for([f"{PAUSE}@{digest}"])))
    there = tmp_path / "root" / containers.FOLDER
    assert importer.main(there) == 0
    listed = subprocess.run([*importer.CTR, "images", "list"], capture_output=True, text=True, check=True).stdout
    assert [word for word in (PAUSE, digest, "io.cri-containerd.pinned=pinned") if word not in listed] == []
    assert [file.name for file in there.iterdir()] == [containers.LIST]
    # At the next start there is nothing to do.
    assert importer.main(there) == 0


def test_a_bake_takes_what_the_fleet_file_names(folder: Path, tmp_path: Path) -> None:
    digest = oci.archive(folder / "pause.tar", PAUSE)
    root = Path(__file__).parents[2]
    for name in ("fleet.yaml", "fleet.lock.yaml"):
        shutil.copy(root / name, tmp_path)
    file = tmp_path / "fleet.yaml"
    example, named = file.read_text(), f"\nimages:\n  prepull:\n    - {PAUSE}@{digest}\n"
    file.write_text(example.replace("\nimages:\n", named))
    node = recipe.select(recipe.load(), "debian-13", "cpu")
    assert [one.name for one in command.prepulled(node, folder, file)] == [PAUSE]
    with pytest.raises(UsageError, match="gateway run no containers"):
        command.prepulled(recipe.select(recipe.load(), "debian-13", "gateway"), folder, file)
    file.write_text(file.read_text().replace(digest, f"sha256:{'3' * 64}"))
    with pytest.raises(ImageError, match=f"images.prepull asks for {'3' * 64}"):
        command.prepulled(node, folder, file)
