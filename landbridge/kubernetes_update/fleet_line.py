"""The line of the fleet file that says which version of Kubernetes a cluster has."""

import tempfile
from pathlib import Path

from fleet.loader import load, load_with_lines
from landbridge.errors import UsageError


def write(path: Path, cluster: str, version: str) -> str:
    """FILE:LINE, which says so now. All else of the file stays as it is. Raises FleetError and UsageError."""
    found, entry = load_with_lines(path), ("clusters", cluster, "kubernetes")
    before, where = found.lines.written(entry), f"{path.name}:{found.lines.of(entry)}"
    had = found.fleet.clusters[cluster].kubernetes
    lines, number = path.read_text().splitlines(keepends=True), found.lines.of(entry) - 1
    if before is None or lines[number].count(had) != 1:
        raise UsageError(
            f"{where}: the version of cluster {cluster} can't be written there: it does not stand on the line of its "
            f"own, and alone. Write kubernetes: {version} by hand, and run the command again."
        )
    lines[number] = lines[number].replace(had, version)
    text = "".join(lines)
    with tempfile.TemporaryDirectory(prefix="landbridge-") as folder:
        # The file itself is never one that is refused.
        draft = Path(folder) / path.name
        draft.write_text(text)
        other = {name for name, one in load(draft).clusters.items() if one != found.fleet.clusters[name]}
    if other != {cluster}:
        names = ", ".join(sorted(other - {cluster}))
        raise UsageError(
            f"{where}: the same line is that of {names}, too. Write a kubernetes: {version} of its own into {cluster}, "
            "and run the command again."
        )
    path.write_text(text)
    return where
