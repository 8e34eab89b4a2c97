"""Claims of volumes: folders that all machines of a world share, which stand in for the servers that volumes are on.

No machine mounts a server's file system: the kernel is the laptop's, and knows no network of ours. So each volume's
place on its server is a folder of the local cloud's home, the same for all who mount it.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from kube_http import Kube

from .environment import Lacking

# Where a machine has them.
PLACE = Path("/mnt/shares")
NFS = "nfs.csi.k8s.io"


def laid(home: Path) -> dict[str, Path]:
    """What the local cloud of a home lays into each machine: path → folder."""
    folder = home / "shares"
    folder.mkdir(parents=True, exist_ok=True)
    return {str(PLACE): folder}


def place(volume: Mapping[str, Any]) -> PurePosixPath:
    """Where it is of all of them. On an NFS server a share may be part of another one. Raises Lacking."""
    csi, name = volume["spec"].get("csi"), volume["metadata"]["name"]
    if csi is None:
        raise Lacking(f"persistentvolume {name!r} is of no kind that local machines know: csi alone")
    if csi["driver"] != NFS:
        # One that begins with dots would lead elsewhere.
        return PurePosixPath(csi["driver"], f"volume-{quote(csi['volumeHandle'], safe=':')}")
    told = csi.get("volumeAttributes") or {}
    path = PurePosixPath("/", told.get("share", ""))
    if not told.get("server") or ".." in path.parts:
        raise Lacking(f"persistentvolume {name!r} names no server with a share")
    return PurePosixPath("nfs", quote(told["server"], safe=""), *path.parts[1:])


def folder(api: Kube, namespace: str, claim: str) -> Path:
    """Of a claim. Raises Lacking, OSError, Answer."""
    found = api.find(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{quote(claim)}")
    if found is None:
        raise Lacking(f"persistentvolumeclaim {claim!r} not found")
    if not (bound := found["spec"].get("volumeName")) or (found.get("status") or {}).get("phase") != "Bound":
        raise Lacking(f"persistentvolumeclaim {claim!r} is not bound to a volume")
    if not PLACE.is_dir():
        raise Lacking("no folder is shared with this machine, in which volumes would be")
    made = PLACE / place(api.ask("GET", f"/api/v1/persistentvolumes/{quote(bound)}"))
    if not made.is_dir():
        made.mkdir(parents=True, exist_ok=True)
        # As a server's own that nobody has given to anybody.
        made.chmod(0o1777)
    return made
