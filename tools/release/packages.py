"""The wheel and the source archive, the same bytes each time: by the locked build backend, of a commit's files."""

import gzip
import io
import os
import subprocess
import tarfile
from pathlib import Path

from . import source
from .errors import ReleaseError
from .source import Source


def build(uv: Path, python: Path, of: Source, work: Path, to: Path) -> list[Path]:
    """Raises ReleaseError. `work` is an empty folder. No backend is fetched: requirements.lock has pyproject.toml's."""
    source.unpack(of, work / "source")
    env = {**os.environ, "SOURCE_DATE_EPOCH": str(of.epoch_seconds), "PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"}
    command = [str(uv), "build", "--quiet", "--no-build-isolation", "--offline", "--python", str(python)]
    command += ["--sdist", "--wheel", "--out-dir", str(work / "made"), str(work / "source")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, umask=0o022)
    if done.returncode != 0:
        raise ReleaseError(f"the packages were not built:\n{(done.stdout + done.stderr).strip()[-2000:]}")
    to.mkdir(parents=True, exist_ok=True)
    files = []
    for made in sorted(one for one in (work / "made").iterdir() if one.suffix in (".whl", ".gz")):
        content = made.read_bytes()
        (to / made.name).write_bytes(settled(content, of.epoch_seconds) if made.suffix == ".gz" else content)
        files.append(to / made.name)
    if [file.suffix for file in files] != [".whl", ".gz"] and [file.suffix for file in files] != [".gz", ".whl"]:
        raise ReleaseError(f"the build backend made {', '.join(file.name for file in files)}, and not one of each")
    return files


def settled(archive: bytes, epoch_seconds: int) -> bytes:
    """A source archive with the times, owners and order that anybody's has: setuptools writes those of the moment."""
    made = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as old,
        tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda one: one.name):
            member.mtime, member.pax_headers = epoch_seconds, {}
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return gzip.compress(made.getvalue(), mtime=epoch_seconds)
