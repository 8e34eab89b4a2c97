"""Signatures of a release's list of digests, by ssh-keygen: everybody who has git and ssh can check them."""

import subprocess
from pathlib import Path

from .errors import ReleaseError
from .provenance import sha256

SUMS, NAMESPACE = "SHA256SUMS", "landbridge-release"


def sums(files: list[Path]) -> str:
    """As `sha256sum --check` reads it."""
    return "".join(f"{sha256(file)}  {file.name}\n" for file in sorted(files))


def sign(file: Path, key: Path) -> Path:
    """Writes FILE.sig by an SSH key, or by a public one whose private part an agent has. Raises ReleaseError."""
    made = file.with_name(f"{file.name}.sig")
    made.unlink(missing_ok=True)
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(file)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise ReleaseError(f"ssh-keygen can't be run ({error.strerror}): install OpenSSH's client") from None
    if done.returncode != 0 or not made.exists():
        raise ReleaseError(f"{key} does not sign: {done.stderr.strip()}. Name a key that `ssh-keygen -Y sign` takes")
    return made
