"""Tiny OCI archives that tests make themselves."""

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any


def archive(file: Path, name: str, text: str = "some", **index: Any) -> str:
    """An image of one layer with one file; gives its manifest's digest. `index` changes its entry in the index."""
    blobs: dict[str, bytes] = {}

    def put(kind: str, content: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)}

    layer = _tar({"file": text.encode()})
    told = put("application/vnd.oci.image.layer.v1.tar", layer)
    rootfs = {"type": "layers", "diff_ids": [told["digest"]]}
    config = put(
        "application/vnd.oci.image.config.v1+json",
        json.dumps({"architecture": "amd64", "os": "linux", "rootfs": rootfs, "config": {}}).encode(),
    )
    kind = "application/vnd.oci.image.manifest.v1+json"
    made = put(kind, json.dumps({"schemaVersion": 2, "mediaType": kind, "config": config, "layers": [told]}).encode())
    entry = {**made, "annotations": {"org.opencontainers.image.ref.name": name}, **index}
    top = {
        "oci-layout": json.dumps({"imageLayoutVersion": "1.0.0"}).encode(),
        "index.json": json.dumps({"schemaVersion": 2, "manifests": [entry]}).encode(),
    }
    file.write_bytes(_tar({**top, **blobs}))
    return str(made["digest"])


def _tar(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return made.getvalue()
