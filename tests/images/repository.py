"""Signed package repositories that tests make themselves, as NVIDIA's are: one folder, no suites."""

import hashlib
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path
from typing import NamedTuple

EPOCH_SECONDS = 1_700_000_000


class Deb(NamedTuple):
    name: str
    version: str
    fields: Mapping[str, str] = {}
    files: Mapping[str, str] = {}


def build(deb: Deb, folder: Path) -> Path:
    """A package, by dpkg itself."""
    tree = folder / f".{deb.name}-{deb.version}"
    for path, text in deb.files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    (tree / "DEBIAN").mkdir(parents=True)
    fields = {
        "Package": deb.name, "Version": deb.version, "Architecture": "amd64", "Maintainer": "A <a@example.com>",
        "Description": "a test's", **deb.fields,
    }  # fmt: skip
    (tree / "DEBIAN/control").write_text("".join(f"{name}: {value}\n" for name, value in fields.items()))
    file = folder / f"{deb.name}_{deb.version.replace(':', '%3a')}_amd64.deb"
    run("dpkg-deb", "--root-owner-group", "-Znone", "--build", str(tree), str(file))
    return file


def run(*command: str, text: str = "") -> str:
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


class Signer(NamedTuple):
    """A key of its own, and the keyring that others check by."""

    home: Path
    keyring: Path

    def signed(self, text: str) -> str:
        return run("gpg", "--homedir", str(self.home), "--batch", "--quiet", "--clearsign", text=text)


@contextmanager
def signer(folder: Path) -> Iterator[Signer]:
    folder.mkdir(mode=0o700)
    gpg = ["gpg", "--homedir", str(folder), "--batch", "--quiet"]
    run(*gpg, "--passphrase", "", "--quick-gen-key", "packages@example.com", "ed25519", "sign", "never")
    # apt reads it as another user.
    folder.parent.chmod(0o755)
    keyring = folder.parent / f"{folder.name}.gpg"
    run(*gpg, "--output", str(keyring), "--export")
    try:
        yield Signer(folder, keyring)
    finally:
        run("gpgconf", "--homedir", str(folder), "--kill", "gpg-agent")


def make(folder: Path, debs: list[Deb], key: Signer) -> None:
    folder.mkdir()
    listed = []
    for one in debs:
        file = build(one, folder)
        content = file.read_bytes()
        head = run("dpkg-deb", "--field", str(file)).strip()
        digest = hashlib.sha256(content).hexdigest()
        listed.append(f"{head}\nFilename: ./{file.name}\nSize: {len(content)}\nSHA256: {digest}\n")
    packages = "\n".join(listed).encode()
    (folder / "Packages").write_bytes(packages)
    told = f" {hashlib.sha256(packages).hexdigest()} {len(packages)} Packages\n"
    date = formatdate(EPOCH_SECONDS, usegmt=True)
    (folder / "InRelease").write_text(key.signed(f"Date: {date}\nSHA256:\n{told}"))
