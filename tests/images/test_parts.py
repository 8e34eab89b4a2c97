"""What needs no bake: recipe, lock, listings, baked folders. Each mistake is one clear error."""

import json
import os
import runpy
import subprocess
from pathlib import Path

import pytest

from images import baked, checking, digest, inputs, lock, metadata, recipe, rootfs, running, vhd
from images.baked import Baked, Disk
from images.digest import Entry
from images.errors import ImageError
from images.lock import Lock, Package

DIGEST = "a" * 64
BASH = Package("bash", "5.2-1", 1000, DIGEST, "main", "pool/main/b/bash/bash_5.2-1_amd64.deb")


def changed(tmp_path: Path, old: str, new: str) -> Path:
    text = recipe.RECIPE.read_text()
    assert old in text
    file = tmp_path / "recipe.yaml"
    file.write_text(text.replace(old, new, 1))
    return file


def test_every_part_of_the_recipe_says_where_it_is_asked_for() -> None:
    asked = recipe.select(recipe.load(), "debian-13", "cpu")
    lines = recipe.RECIPE.read_text().splitlines()
    assert {"chrony", "runc", asked.kernel} <= set(asked.packages)
    for name, origin in asked.origins.items():
        assert name in lines[int(origin.partition(":")[2]) - 1], origin


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("kernel: cloud", "kernel: clowd", "debian-13 has no kernel 'clowd'. Name one of: cloud, any"),
        ("mirror: security", "mirror: safety", "there is no mirror 'safety'"),
        ("most_mib:", "most_mb:", "variants.cpu.most_m"),
        ("  laptop:", "  Laptop/1:", "variants.Laptop/1.[key]: String should match pattern"),
        ("- chrony", "- Chrony", "should match pattern"),
    ],
)
def test_a_mistake_in_the_recipe_has_its_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    file = changed(tmp_path, old, new)
    line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if new in text)
    with pytest.raises(ImageError) as error:
        recipe.load(file)
    assert told in str(error.value)
    assert f"recipe.yaml:{line}:" in str(error.value)


@pytest.mark.parametrize(("base", "variant"), [("debian-13", "gpus"), ("debian-99", "cpu")])
def test_a_name_that_the_recipe_lacks(base: str, variant: str) -> None:
    with pytest.raises(ImageError, match=r"It has: (cpu|debian-13)"):
        recipe.select(recipe.load(), base, variant)


@pytest.mark.parametrize("variant", recipe.load().recipe.variants)
def test_the_lock_is_that_of_the_recipe(variant: str) -> None:
    asked = recipe.select(recipe.load(), "debian-13", variant)
    locked = lock.current(asked)
    assert set(asked.packages) <= {package.name for package in locked.packages}
    assert "apt" not in {package.name for package in locked.packages}


def test_a_lock_of_another_recipe_is_refused(tmp_path: Path) -> None:
    loaded = recipe.load(changed(tmp_path, "- chrony", "- openntpd"))
    with pytest.raises(
        ImageError, match=r"made of another recipe .*`landbridge image lock --base debian-13 --variant cpu`"
    ):
        lock.current(recipe.select(loaded, "debian-13", "cpu"))


def test_a_lock_reads_as_it_was_written(tmp_path: Path) -> None:
    made = Lock(tmp_path / "some.lock", DIGEST, 1_700_000_000, (BASH,))
    made.file.write_text(lock.written(made))
    assert lock.read(made.file) == made


@pytest.mark.parametrize("text", ["", "bash 5.2\n", f"# asked {DIGEST}\n# epoch now\n{BASH}\n"])
def test_what_is_no_lock(tmp_path: Path, text: str) -> None:
    (tmp_path / "some.lock").write_text(text)
    with pytest.raises(ImageError, match="`landbridge image lock`"):
        lock.read(tmp_path / "some.lock")


def test_changes_between_locks() -> None:
    newer, other = BASH._replace(version="5.2-2"), BASH._replace(name="zsh")
    assert list(lock.changes([BASH], [newer, other])) == [("bash", "5.2-1", "5.2-2"), ("zsh", "", "5.2-1")]


def test_a_listing_tells_all_but_times(tmp_path: Path) -> None:
    def tree(name: str) -> Path:
        root = tmp_path / name
        root.mkdir()
        (root / "file").write_text("some")
        (root / "link").symlink_to("file")
        return root

    first, second = tree("first"), tree("second")
    text = digest.written(digest.listing(first))
    assert text == digest.written(digest.listing(second))
    assert digest.read(text) == digest.listing(first)
    (second / "file").chmod(0o600)
    (second / "link").unlink()
    (second / "more").mkdir()
    found = digest.differences(digest.listing(first), digest.listing(second))
    assert list(found) == [("file", "mode"), ("link", "only in the first"), ("more", "only in the second")]


def test_differences_have_names() -> None:
    one = Entry("etc/passwd", "f", "644", "0:0", "", DIGEST)
    other = one._replace(mode="600", content="b" * 64)
    assert list(digest.differences([one], [other])) == [("etc/passwd", "mode, content")]


def image(folder: Path) -> Baked:
    folder.mkdir()
    (folder / "disk.raw").write_bytes(b"a disk")
    disk = Disk(file="disk.raw", size_bytes=6, sha256=baked.sha256(folder / "disk.raw"))
    made = Baked(
        name=baked.name_of("cpu", "1.36.2", DIGEST), variant="cpu", base="debian-13", kubernetes="1.36.2",
        digest=DIGEST, driver=None, kernel="6.12", root_mib=1, packages=1, disks={"raw": disk},
    )  # fmt: skip
    (folder / "image.json").write_text(made.model_dump_json())
    return made


def test_a_disk_that_was_changed_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "cpu-1"
    made = image(folder)
    assert baked.verified(folder, baked.read(folder), "raw") == folder / "disk.raw"
    (folder / "disk.raw").write_bytes(b"a disc")
    with pytest.raises(ImageError, match="changed or damaged since"):
        baked.verified(folder, made, "raw")
    with pytest.raises(ImageError, match="no vhd disk, only raw"):
        baked.verified(folder, made, "vhd")


def test_only_a_whole_image_of_the_same_inputs_is_taken(tmp_path: Path) -> None:
    image(tmp_path / "cpu-1")
    (tmp_path / "cpu-1" / inputs.FILE).write_text(DIGEST)
    found = inputs.lying(tmp_path, DIGEST)
    assert found is not None
    assert found[0].name == "cpu-1"
    assert inputs.lying(tmp_path, "b" * 64) is None
    (tmp_path / "cpu-1/disk.raw").write_bytes(b"a disc")
    assert inputs.lying(tmp_path, DIGEST) is None


def test_whatever_an_image_is_made_of_changes_its_key(tmp_path: Path) -> None:
    asked = recipe.select(recipe.load(), "debian-13", "cpu")
    locked, program = Lock(tmp_path / "some.lock", DIGEST, 1, (BASH,)), tmp_path / "kubelet"
    program.write_text("one")
    keys = [inputs.key(asked, locked, {"kubernetes": "1.36.2"}, {"kubelet": program})]
    assert inputs.key(asked, locked, {"kubernetes": "1.36.2"}, {"kubelet": program}) == keys[0]
    keys.append(inputs.key(asked, locked, {"kubernetes": "1.36.3"}, {"kubelet": program}))
    keys.append(inputs.key(asked._replace(masked=()), locked, {"kubernetes": "1.36.2"}, {"kubelet": program}))
    newer = locked._replace(packages=(BASH._replace(version="5.2-2"),))
    keys.append(inputs.key(asked, newer, {"kubernetes": "1.36.2"}, {"kubelet": program}))
    program.write_text("two")
    keys.append(inputs.key(asked, locked, {"kubernetes": "1.36.2"}, {"kubelet": program}))
    assert len(set(keys)) == len(keys)
    program.unlink()
    with pytest.raises(ImageError, match=r"kubelet is missing: it is built by"):
        inputs.key(asked, locked, {}, {"kubelet": program})


def test_machines_without_gpus_have_no_unit_that_fails(tmp_path: Path) -> None:
    """What units ask on a machine, with devices as Linux lists them."""
    script = rootfs.FILES / "gpu/usr/local/lib/landbridge/has_gpu.py"
    found = runpy.run_path(str(script))["found"]
    assert (found("gpus", tmp_path), found("switches", tmp_path)) == (0, 0)
    # Two H100s, one NVSwitch, a network card, and a display of another maker (pciids).
    devices = [("0x10de", "0x030200")] * 2 + [("0x10de", "0x068000"), ("0x15b3", "0x020000"), ("0x1234", "0x030000")]
    for number, (vendor, kind) in enumerate(devices):
        device = tmp_path / "sys/bus/pci/devices" / f"0000:{number:02x}:00.0"
        device.mkdir(parents=True)
        (device / "vendor").write_text(f"{vendor}\n")
        (device / "class").write_text(f"{kind}\n")
    assert (found("gpus", tmp_path), found("switches", tmp_path)) == (2, 1)


def test_folders_that_are_no_images(tmp_path: Path) -> None:
    image(tmp_path / "cpu-1")
    (tmp_path / "other").mkdir()
    assert [folder.name for folder, _ in baked.listed(tmp_path)] == ["cpu-1"]
    with pytest.raises(ImageError, match="landbridge image list"):
        baked.read(tmp_path / "other")
    (tmp_path / "other/image.json").write_text('{"name": 1}')
    with pytest.raises(ImageError, match=r"image\.json: name: .*bake it again"):
        baked.read(tmp_path / "other")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"name": "../../etc"}, r"image\.json: name: .*pattern"),
        (
            {"name": "cpu-1.36.2-000000000000"},
            r"name: it is cpu-1\.36\.2-0{12}, and .* makes cpu-1\.36\.2-a{12}: it was",
        ),
        ({"variant": "../cpu"}, r"name: it is cpu-1\.36\.2-a{12}, and"),
        ({"digest": "../" + "a" * 61}, r"image\.json: digest: .*pattern"),
        ({"file": "../disk.raw"}, r"image\.json: disks\.raw\.file: .*pattern"),
        ({"file": "/etc/shadow"}, r"image\.json: disks\.raw\.file: .*pattern"),
        ({"sha256": "A" * 64}, r"image\.json: disks\.raw\.sha256: .*pattern"),
    ],
)
def test_documents_that_lead_elsewhere_are_refused(changed: dict[str, str], why: str, tmp_path: Path) -> None:
    image(tmp_path / "cpu-1")
    document = json.loads((tmp_path / "cpu-1/image.json").read_text())
    where = document if changed.keys() <= document.keys() else document["disks"]["raw"]
    where.update(changed)
    (tmp_path / "cpu-1/image.json").write_text(json.dumps(document))
    with pytest.raises(ImageError, match=why):
        baked.read(tmp_path / "cpu-1")


def test_a_vhd_is_the_same_twice_and_one_that_is_read(tmp_path: Path) -> None:
    raw = tmp_path / "disk.raw"
    raw.write_bytes(b"some" * (1 << 18))
    names = ("first", "second")
    for name in names:
        vhd.convert(raw, tmp_path / name, "6ba7b810-9dad-11d1-80b4-00c04fd430c8", 1_700_000_000)
    first, second = ((tmp_path / name).read_bytes() for name in names)
    assert first == second
    assert first[:-512] == raw.read_bytes()
    told = vhd.run(["qemu-img", "info", "-f", "vpc", str(tmp_path / "first")])
    assert "virtual size: 1 MiB" in told


def test_metadata_wants_a_token(tmp_path: Path) -> None:
    (tmp_path / "instance-id").write_text("i-1")
    path = "/latest/meta-data/instance-id"
    assert metadata.answer(f"GET {path} HTTP/1.1\r\n", tmp_path) == (401, "")
    status, token = metadata.answer("PUT /latest/api/token HTTP/1.1\r\n", tmp_path)
    head = f"HTTP/1.1\r\nX-aws-ec2-metadata-token: {token}\r\n"
    assert (status, metadata.answer(f"GET {path} {head}", tmp_path)) == (200, (200, "i-1"))
    assert metadata.answer(f"GET /latest/user-data {head}", tmp_path) == (404, "")


def test_a_host_that_is_not_there_is_told_once() -> None:
    with pytest.raises(ImageError, match=r"alice@127.0.0.1:1 can't be checked: (.|\n)*Connection refused"):
        checking.of_machine("alice@127.0.0.1:1")


def test_what_python_leaves_among_our_files_comes_into_no_image(tmp_path: Path) -> None:
    (tmp_path / "usr/__pycache__").mkdir(parents=True)
    for name in ("usr/boot.py", "usr/__pycache__/boot.cpython-311.pyc"):
        (tmp_path / name).write_text("")
    assert rootfs.files(tmp_path) == [tmp_path / "usr/boot.py"]


def test_services_that_are_made_of_nothing_are_told(tmp_path: Path) -> None:
    own = tmp_path / "recipe.yaml"
    text = recipe.RECIPE.read_text()
    start, end = text.index("\nservices:"), text.index("\nvariants:")
    own.write_text(text[:start] + text[end:])
    with pytest.raises(ImageError, match=r"recipe\.yaml:\d+: variants\.cpu\.services: the recipe does not say"):
        recipe.load(own)


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone mounts")
def test_what_is_still_mounted_in_a_bake_s_folder_is_not_removed_with_it(tmp_path: Path) -> None:
    ours, folder = tmp_path / "ours", tmp_path / "baking"
    (folder / "root/proc").mkdir(parents=True)
    ours.mkdir()
    (ours / "file").write_text("of this machine")
    subprocess.run(["mount", "--bind", ours, folder / "root/proc"], check=True)
    running.remove_tree(folder)
    assert (ours / "file").read_text() == "of this machine"
    assert not folder.exists()
