"""What commands keep for the next one: where it lies, and how one sees that it is old. Imports nothing large."""

import contextlib
from pathlib import Path

# In the folder of all state. Only its owner may enter it, and an `up` ends what lies there.
FOLDER = "kubectl"
# The cluster that is meant where a command names none and the fleet has several.
CLUSTER = "LANDBRIDGE_CLUSTER"
KUBECONFIG = "KUBECONFIG"
# What that says to a command that continues inside the local cloud, where nothing else of the user's comes.
OUTSIDE = "LANDBRIDGE_KUBECONFIG_OUTSIDE"


def stamp(path: Path) -> list[int] | None:
    """Changes whenever the file does."""
    with contextlib.suppress(OSError):
        status = path.stat()
        return [status.st_mtime_ns, status.st_size, status.st_ino]
    return None
