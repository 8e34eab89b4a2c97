"""The container of our own services, as an OCI archive: nodes have it from the start, for no registry does.

Python as Debian packages it, unpacked and nothing more: no shell, no package manager, nothing that becomes root. Then
the packages of services/requirements.lock and our code. The same contents are the same archive, bit for bit, so nothing
is compressed: compressors differ. https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md
"""

import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fleet.image_names import SERVICES

from . import containers, lock, packages, recipe
from .containers import Container
from .errors import ImageError
from .recipe import Loaded
from .rootfs import LEFT_OUT
from .running import image_umask, run

ROOT = Path(__file__).resolve().parents[1]
# In the container.
HOME = "opt/landbridge"
# The client of Kubernetes' API is a file by itself: scripts of machines have it, too.
CODE, PACKAGES = ("services", "fleet", "evidence", "kube_http.py", "kube_lease.py"), f"{HOME}/packages"
# The causes of `evidence` are a table in YAML.
CODE_SUFFIXES = (".py", ".proto", ".yaml")
AUTHORITIES, BUNDLE = "usr/share/ca-certificates", "etc/ssl/certs/ca-certificates.crt"
# Scripts name the interpreter that installed them, and records list scripts.
INSTALLED_HERE = ("bin/", "RECORD")
NOBODY = "65534:65534"
ENV = {
    "PATH": "/usr/bin",
    "PYTHONPATH": f"/{HOME}:/{PACKAGES}",
    "PYTHONDONTWRITEBYTECODE": "1",
    "LANG": "C.UTF-8",
    # Where Debian's package of openssl would have put a link.
    "SSL_CERT_FILE": f"/{BUNDLE}",
}
KIND = "application/vnd.oci.image"
LAYER, CONFIG, MANIFEST = f"{KIND}.layer.v1.tar", f"{KIND}.config.v1+json", f"{KIND}.manifest.v1+json"


def make(loaded: Loaded, locks: Path, cache: Path, site: Path, folder: Path) -> Container:
    """Writes the archive into `folder`, which nobody else uses meanwhile.

    `site` is a folder of installed Python packages, `cache` that of fetched ones of Debian. Raises ImageError.
    """
    spec = loaded.recipe.services
    assert spec is not None, "the recipe's own check"
    of = recipe.select(loaded, spec.base, spec.variant)
    locked = lock.current(of, locks)
    wanted = [package for package in locked.packages if package.name in spec.packages]
    if lacking := sorted(set(spec.packages) - {package.name for package in wanted}):
        raise ImageError(f"{locked.file.name} lacks {lacking[0]}, which {loaded.file} has under services")
    debs = packages.fetch(locked._replace(packages=tuple(wanted)), of.base, cache, lambda *_: None)
    root, file = folder / "root", folder / "services.tar"
    with image_umask():
        for deb in debs:
            run(["dpkg-deb", "--extract", str(deb), str(root)])
        _furnish(root, site)
    file.write_bytes(archive(_layer(root, locked.epoch_seconds), f"{SERVICES[0]}:{SERVICES[1]}"))
    shutil.rmtree(root)
    return containers.read(file)


def _furnish(root: Path, site: Path) -> None:
    for pattern in LEFT_OUT:
        for found in [one for below in root.glob(pattern.lstrip("/")) for one in (below, *below.rglob("*"))]:
            if not found.is_dir() and found.name != "copyright":
                # A folder by another name shows it twice.
                found.unlink(missing_ok=True)
    # As update-ca-certificates would write it, which no script has run here.
    trusted = sorted((root / AUTHORITIES).rglob("*.crt"))
    (root / BUNDLE).parent.mkdir(parents=True, exist_ok=True)
    (root / BUNDLE).write_text("".join(one.read_text() for one in trusted))
    for name in CODE:
        for source in [ROOT / name, *sorted((ROOT / name).rglob("*"))]:
            if source.suffix in CODE_SUFFIXES:
                _copy(source, root / HOME / source.relative_to(ROOT))
    for source in sorted(site.rglob("*")):
        path = str(source.relative_to(site))
        if source.is_file() and not path.startswith(INSTALLED_HERE) and not path.endswith(INSTALLED_HERE):
            _copy(source, root / PACKAGES / path)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    # Whatever a checkout's umask was.
    target.chmod(0o644)


def _layer(root: Path, epoch_seconds: int) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(root.rglob("*")):
            if "__pycache__" in path.parts:
                continue
            entry = tar.gettarinfo(path, str(path.relative_to(root)))
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime = min(epoch_seconds, int(entry.mtime))
            if entry.isfile():
                with path.open("rb") as content:
                    tar.addfile(entry, content)
            else:
                tar.addfile(entry)
    return made.getvalue()


def archive(layer: bytes, name: str) -> bytes:
    """An image of one layer under a name. Its own user is nobody."""
    blob = _blob(LAYER, layer)
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"User": NOBODY, "Env": [f"{key}={value}" for key, value in ENV.items()]},
        "rootfs": {"type": "layers", "diff_ids": [blob["digest"]]},
    }
    inner = json.dumps(config).encode()
    outer = json.dumps(
        {"schemaVersion": 2, "mediaType": MANIFEST, "config": _blob(CONFIG, inner), "layers": [blob]}
    ).encode()
    entry = {**_blob(MANIFEST, outer), "annotations": dict.fromkeys(containers.NAMES, name)}
    files = {
        "oci-layout": json.dumps({"imageLayoutVersion": "1.0.0"}).encode(),
        "index.json": json.dumps({"schemaVersion": 2, "manifests": [entry]}).encode(),
        **{f"blobs/sha256/{_digest(content)}": content for content in (layer, inner, outer)},
    }
    return _tar(files)


def _blob(kind: str, content: bytes) -> dict[str, Any]:
    return {"mediaType": kind, "digest": f"sha256:{_digest(content)}", "size": len(content)}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _tar(files: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return made.getvalue()
