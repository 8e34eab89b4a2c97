"""Whether somebody has stopped all that deletes: the ConfigMap landbridge-freeze, mounted where it may be missing.

So that this service needs no right in Kubernetes. A kubelet lays a changed one within two minutes or so.
"""

from pathlib import Path


def frozen(folder: Path | None) -> str:
    """Why, and since when; empty if nothing is frozen. `folder` is the mounted ConfigMap's."""
    if folder is None:
        return ""
    found = {name: (folder / name).read_text().strip() for name in ("why", "since") if (folder / name).is_file()}
    if not found:
        return ""
    return f"{found.get('why') or 'nobody said why'}, since {found.get('since') or 'some time'}"
