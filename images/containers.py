"""Containers' images inside a node image: OCI archives from a folder, each with the digest that was asked for.

Registries are not asked by a bake. `skopeo copy docker://NAME oci-archive:FILE:NAME` makes an archive, and so does
`ctr images export`. https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md
"""

import hashlib
import json
import re
import shutil
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .baked import CHUNK_BYTES
from .errors import ImageError

# On a machine: landbridge-containers.service gives them to containerd.
FOLDER, LIST = "var/lib/landbridge/containers", "list.json"
# The whole name: containerd's own annotation, then OCI's, which some tools write a mere tag into.
NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")
BLOB = re.compile(r"(?:\./)?blobs/sha256/([0-9a-f]{64})")
ASKED = re.compile(r"(?P<name>[^\s@]+:[^\s@:/]+)@sha256:(?P<digest>[0-9a-f]{64})")


class Container(NamedTuple):
    """`digest` is that of the manifest or index, as registries name it, without `sha256:`."""

    name: str
    digest: str
    file: Path

    @property
    def entry(self) -> dict[str, str]:
        return {"name": self.name, "digest": f"sha256:{self.digest}"}


def asked_for(names: Sequence[str]) -> dict[str, str]:
    """Name → digest, of NAME:TAG@sha256:DIGEST. Raises ImageError."""
    found = {name: ASKED.fullmatch(name) for name in names}
    if wrong := [name for name, match in found.items() if match is None]:
        raise ImageError(
            f"images.prepull: {wrong[0]!r} should be NAME:TAG@sha256:DIGEST, with all of its registry's name"
        )
    return {match["name"]: match["digest"] for match in found.values() if match}


def taken(folder: Path, wanted: Mapping[str, str]) -> list[Container]:
    """A folder's archives, each whole and as it was asked for, by name. Raises ImageError with all that is wrong."""
    if not folder.is_dir():
        raise ImageError(f"{folder} is no folder. Name one with an OCI archive for each of images.prepull")
    there = [read(file) for file in sorted(folder.glob("*.tar"))]
    if wrong := list(_wrong(folder, there, wanted)):
        raise ImageError("\n".join(wrong))
    return sorted(there)


def _wrong(folder: Path, there: Sequence[Container], wanted: Mapping[str, str]) -> Iterator[str]:
    for one in there:
        if one.name not in wanted:
            yield f"{one.file}: nobody asked for {one.name}: put {one.name}@sha256:{one.digest} into images.prepull"
        elif one.digest != wanted[one.name]:
            yield (
                f"{one.file}: {one.name} has the digest {one.digest}, and images.prepull asks for {wanted[one.name]}. "
                "Copy the one that was asked for, or ask for this one"
            )
    names = [one.name for one in there]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{folder} has {name} twice: delete one of its archives"
    for name in sorted(wanted.keys() - set(names)):
        yield (f"{folder} lacks {name}: skopeo copy docker://{name}@sha256:{wanted[name]} oci-archive:FILE.tar:{name}")


def read(file: Path) -> Container:
    """What an archive has, all of whose blobs have the digests that they are called by. Raises ImageError."""
    try:
        with tarfile.open(file, "r:") as archive:
            blobs, index = _blobs(file, archive), _index(archive)
    except (tarfile.TarError, OSError, ValueError, KeyError) as error:
        raise ImageError(f"{file}: {error}: this is no OCI archive. Make it by skopeo or `ctr images export`") from None
    if len(index) != 1:
        raise ImageError(f"{file} has {len(index)} images. Make an archive for each")
    return _container(file, index[0], blobs)


def _blobs(file: Path, archive: tarfile.TarFile) -> dict[str, bytes]:
    """By digest. Only small ones have their content: manifests name the others."""
    found = {}
    for member in archive:
        if match := BLOB.fullmatch(member.name):
            digest, content = hashlib.sha256(), b""
            stream = archive.extractfile(member)
            while stream and (chunk := stream.read(CHUNK_BYTES)):
                digest.update(chunk)
                content = chunk if member.size <= CHUNK_BYTES else b""
            if digest.hexdigest() != match[1]:
                raise ImageError(
                    f"{file}: its part {match[1]} has the digest {digest.hexdigest()}: it is damaged. Copy it again"
                )
            found[match[1]] = content
    return found


def _index(archive: tarfile.TarFile) -> list[dict[str, Any]]:
    for name in ("index.json", "./index.json"):
        if name in archive.getnames() and (stream := archive.extractfile(name)):
            return list(json.loads(stream.read())["manifests"])
    raise ValueError("it has no index.json")


def _container(file: Path, descriptor: Mapping[str, Any], blobs: Mapping[str, bytes]) -> Container:
    notes = descriptor.get("annotations", {})
    name = next((notes[key] for key in NAMES if "/" in notes.get(key, "")), None)
    if name is None:
        raise ImageError(
            f"{file} does not say what it is called: make it by `skopeo copy docker://NAME oci-archive:FILE:NAME`"
        )
    digest = str(descriptor["digest"]).removeprefix("sha256:")
    # An archive may have one machine's part of an index alone.
    if lacking := [one for one in _named(digest, blobs) if one not in blobs]:
        raise ImageError(f"{file}: {name} lacks its part {lacking[0]}. Copy it again, with all of it")
    return Container(name, digest, file)


def _named(digest: str, blobs: Mapping[str, bytes]) -> Iterator[str]:
    """A manifest with all that it is made of; of an index what is there of it, which must be something."""
    yield digest
    document = json.loads(blobs.get(digest) or b"{}")
    if "manifests" in document:
        inner = [str(one["digest"]).removeprefix("sha256:") for one in document["manifests"]]
        for one in [one for one in inner if one in blobs] or inner[:1]:
            yield from _named(one, blobs)
    for part in [*([document["config"]] if "config" in document else []), *document.get("layers", [])]:
        yield str(part["digest"]).removeprefix("sha256:")


def lay(root: Path, containers: Sequence[Container]) -> None:
    """Into a root file system, with the list that the machine reads."""
    if not containers:
        return
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for one in containers:
        file = f"{one.digest[:12]}.tar"
        shutil.copyfile(one.file, folder / file)
        (folder / file).chmod(0o644)
        listed.append({**one.entry, "file": file})
    (folder / LIST).write_text(json.dumps(listed, indent=1) + "\n")
    (folder / LIST).chmod(0o644)


def size_mib(root: Path) -> int:
    return sum(file.stat().st_size for file in (root / FOLDER).glob("*")) >> 20
