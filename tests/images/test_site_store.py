"""A site's folder of images: signed, whole or as it was, and verified by who has the public key alone."""

import datetime
import errno
import json
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from images import channels, collecting
from images.errors import ImageError
from images.stores.site import index as site_index
from images.stores.site import store as sites
from images.stores.site import verify as site_verify
from images.stores.site.store import Site

from . import store_bed as bed
from .store_bed import told

KEY = Ed25519PrivateKey.generate()
PUBLIC = KEY.public_key()


@pytest.fixture
def store(tmp_path: Path) -> Site:
    return Site("lab", tmp_path / "served", KEY)


def names(store: Site) -> list[str]:
    return sorted(file.name for file in (store.folder / "images").iterdir())


def checked(where: str, name: str | None = None, keep: Path | None = None) -> list[site_verify.Checked]:
    return list(site_verify.verify(where, site_verify.read(where, PUBLIC), name, keep))


def test_published_promoted_verified_by_folder_and_by_web(store: Site, tmp_path: Path) -> None:
    folder, image = bed.bake(tmp_path, "a")
    channels.publish(store, folder, image, "alice", told)
    assert names(store) == [image.name]
    moves = channels.promotion(channels.look(store), image.name, "stable", force=False)
    channels.do(store, moves, "alice", "promote")
    (found,) = checked(str(store.folder))
    assert (found.name, found.sha256) == (image.name, image.disks["qcow2"].sha256)
    with served(store.folder) as url:
        kept = tmp_path / "disk"
        (found,) = checked(url, "cpu/1.36.2/stable", kept)
        assert kept.read_bytes() == (folder / "disk.qcow2").read_bytes()
        with pytest.raises(ImageError, match=r"no image or channel gpu. It has: cpu/1.36.2/candidate, "):
            checked(url, "gpu")
        with pytest.raises(ImageError, match=r"missing/index\.json can't be read: File not found"):
            site_verify.read(f"{url}/missing", PUBLIC)
    number = site_verify.read(str(store.folder), PUBLIC).number
    assert channels.publish(store, folder, image, "alice", told) == []
    assert site_verify.read(str(store.folder), PUBLIC).number == number + 1


class served:  # noqa: N801
    """The folder by a web server of this machine."""

    def __init__(self, folder: Path) -> None:
        handler = partial(Quiet, directory=str(folder))
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))

    def __enter__(self) -> str:
        self.thread.start()
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """To nobody."""


def test_what_was_changed_on_the_way_is_refused(store: Site, tmp_path: Path) -> None:
    folder, image = bed.bake(tmp_path, "a")
    channels.publish(store, folder, image, "alice", told)
    disk = store.folder / "images" / image.name / "disk.qcow2"
    whole = disk.read_bytes()
    disk.write_bytes(b"x" + whole[1:])
    kept = tmp_path / "disk"
    with pytest.raises(
        ImageError, match=r"disk\.qcow2 has \d+ bytes with the digest .* Do not start a machine from it"
    ):
        checked(str(store.folder), image.name, kept)
    assert [file.name for file in tmp_path.iterdir() if "disk" in file.name] == []
    channels.publish(store, folder, image, "alice", told)
    assert disk.read_bytes() == whole, "publishing again mends it"
    index = store.folder / "index.json"
    sealed = json.loads(index.read_text())
    index.write_text(json.dumps({**sealed, "index": sealed["index"].replace("alice", "mallory")}))
    with pytest.raises(ImageError, match=r"index\.json is not signed by this key"):
        site_verify.read(str(store.folder), PUBLIC)
    with pytest.raises(ImageError, match="is not signed by this key"):
        store.published("lab")
    index.write_text("{}")
    with pytest.raises(ImageError, match="is no index of images"):
        site_verify.read(str(store.folder), PUBLIC)


def test_a_disabled_image_is_given_to_nobody(store: Site, tmp_path: Path) -> None:
    folder, image = bed.bake(tmp_path, "a")
    channels.publish(store, folder, image, "alice", told)
    store.disable(store.published("lab")[0])
    for name in (image.name, "cpu/1.36.2/candidate"):
        with pytest.raises(ImageError, match=rf"^{image.name} is disabled: it was taken back"):
            checked(str(store.folder), name, tmp_path / "kept")
    assert checked(str(store.folder)) == []
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("out", "why"),
    [
        (".", r"^\. is a folder: name a file by --output"),
        ("pipe", r"^pipe is no file: name a file by --output"),
        ("missing/disk", r"^missing/disk can't be written: No such file or directory\. Name another file by --output"),
        # Whatever is written there, the disk is full.
        ("full", r"^full can't be written: No space left on device\. Name another file by --output"),
    ],
)
def test_a_copy_that_can_t_be_kept_is_not_the_source_s_fault(
    out: str, why: str, store: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, image = bed.bake(tmp_path, "a")
    channels.publish(store, folder, image, "alice", told)
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path(".full.half").symlink_to("/dev/full")
    with pytest.raises(ImageError, match=why):
        checked(str(store.folder), image.name, Path(out))
    assert not Path(out).is_file()


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("http://[::1", r"^http://\[::1/index\.json is no address: Invalid IPv6 URL"),
        ("http://images.example.com:port", r"can't be read: nonnumeric port: 'port'"),
        ("http://127.0.0.1:9/a b", r"can't be read: URL can't contain control characters"),
        ("a\0b", r"can't be read: embedded null byte"),
        ("ftp://images.example.com", r"name a folder, or an address that begins with https://"),
    ],
)
def test_addresses_that_are_none(where: str, why: str) -> None:
    with pytest.raises(ImageError, match=why):
        site_verify.read(where, PUBLIC)


def test_what_speaks_no_http_is_one_clear_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(ImageError, match=r"index\.json can't be read: SSH-2\.0"):
            site_verify.read(f"http://127.0.0.1:{server.getsockname()[1]}", PUBLIC)
        thread.join()


def test_another_key_and_another_site_are_refused(store: Site, tmp_path: Path) -> None:
    folder, image = bed.bake(tmp_path, "a")
    channels.publish(store, folder, image, "alice", told)
    with pytest.raises(ImageError, match="is not signed by this key"):
        Site("lab", store.folder, Ed25519PrivateKey.generate()).published("lab")
    with pytest.raises(ImageError, match="has the images of site lab"):
        Site("other", store.folder, KEY).published("other")


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A disk of 5 MiB: an image has room, a second one has not."""
    import subprocess

    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=5m", "none", str(place)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk wants root")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_leaves_all_as_it_was(full: Path, tmp_path: Path) -> None:
    store = Site("lab", full, KEY)
    first, second = (bed.bake(tmp_path, mark) for mark in "ab")
    for folder, _ in (first, second):
        (folder / "disk.qcow2").write_bytes((folder / "disk.qcow2").read_bytes().replace(b"\0", b"\1"))
    images = []
    for folder, image in (first, second):
        whole = image.disks["qcow2"].model_copy(update={"sha256": sites.baked.sha256(folder / "disk.qcow2")})
        images.append((folder, image.model_copy(update={"disks": {**image.disks, "qcow2": whole}})))
    channels.publish(store, *images[0], "alice", told)
    before = (full / "index.json").read_bytes()
    with pytest.raises(ImageError, match=r"small: the disk is full. Its index is as it was. Make room there"):
        channels.publish(store, *images[1], "alice", told)
    assert (full / "index.json").read_bytes() == before
    assert names(store) == [images[0][1].name]
    assert [one.name for one in checked(str(full))] == [images[0][1].name]


def test_an_interrupted_copy_counts_for_nothing_and_is_done_again(
    store: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, image = bed.bake(tmp_path, "a")

    def broken(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error", str(folder / "disk.qcow2"))

    monkeypatch.setattr(shutil, "copyfile", broken)
    with pytest.raises(ImageError, match=r"disk\.qcow2: Input/output error. The index is as it was"):
        channels.publish(store, folder, image, "alice", told)
    monkeypatch.undo()
    assert names(store) == []
    (store.folder / "images" / f".{image.name}").mkdir()
    channels.publish(store, folder, image, "alice", told)
    assert names(store) == [image.name]


def test_old_ones_go_with_their_files(store: Site, tmp_path: Path) -> None:
    for mark in "abc":
        channels.publish(store, *bed.bake(tmp_path, mark), "alice", told)
    now, done = datetime.datetime.now(datetime.UTC), []
    for days in (0, 15, 30):
        when = now + datetime.timedelta(days=days)
        due = [one for one in collecting.plan(store, 1, when) if one.action in collecting.ACTS]
        done += [(one.image.name[-12:], one.action) for one in collecting.do(store, due, 1, when)]
    assert [what for _, what in done] == ["deprecate", "deprecate", "disable", "disable", "remove", "remove"]
    assert len(names(store)) == 1
    assert [one.name for one in checked(str(store.folder))] == names(store)


def pem(key: Ed25519PrivateKey | X25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def test_keys_that_are_none(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    with pytest.raises(ImageError, match=r"No such file.*openssl genpkey -algorithm ed25519"):
        site_index.private_key(file)
    for text, why in (
        (b"none", "holds no private key in PEM"),
        (pem(X25519PrivateKey.generate()), "of another kind than Ed25519"),
        (pem(KEY), r"can be read by others than its owner: chmod 600"),
    ):
        file.write_bytes(text)
        file.chmod(0o644)
        with pytest.raises(ImageError, match=why):
            site_index.private_key(file)
    file.chmod(0o600)
    assert site_index.private_key(file).public_key() == PUBLIC
    with pytest.raises(ImageError, match=r"holds no public key in PEM.*-pubout"):
        site_index.public_key(file)
    file.write_bytes(PUBLIC.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    assert site_index.public_key(file) == PUBLIC
