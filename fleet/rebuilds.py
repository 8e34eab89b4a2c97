"""fleet.rebuilt.yaml: which clusters were rebuilt when their region was lost, and from what; beside the fleet file.

Only `landbridge cluster rebuild` writes it. A cluster that stands where it was born has no entry.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from . import committed_files

HEADER = """\
# What clusters were rebuilt from. Written by `landbridge cluster rebuild`: commit it, never edit it.
"""


class Origin(BaseModel):
    """What a cluster in `region` came from when `lost` was lost: names of things that lie in `region`.

    Keys come from `secret` as long as one of its `generations` is trusted. `issuer` is the former one, whose tokens
    are still taken. `restored` is when etcd went back to `snapshot`; without it the rebuild is not finished.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    lost: str
    region: str
    secret: str
    snapshot: str
    issuer: str
    generations: dict[str, tuple[int, ...]] = Field(min_length=1)
    restored: datetime | None = None


# By cluster.
Origins = Mapping[str, Origin]
_FILE: TypeAdapter[dict[str, Origin]] = TypeAdapter(dict[str, Origin])


def rebuilds_path(fleet_path: Path) -> Path:
    """fleet.yaml → fleet.rebuilt.yaml, beside it."""
    return fleet_path.with_name(f"{fleet_path.stem}.rebuilt.yaml")


def load(path: Path) -> Origins:
    """Empty when there is no file. Raises FleetError when it is damaged."""
    return committed_files.load(path, _FILE)


def of(fleet_path: Path, cluster: str, region: str) -> Origin | None:
    """What the cluster in this region was rebuilt from. Raises FleetError."""
    origin = load(rebuilds_path(fleet_path)).get(cluster)
    return origin if origin and origin.region == region else None


def refusals(
    cluster: str, region: str, stands: str | None, published: str | None, origin: Origin | None
) -> Iterator[str]:
    """Why a stack can't go from where it `stands` to `region`, or from the secret it `published` to this origin.

    None for what it never published.
    """
    if stands and stands != region:
        yield (
            f"its control plane stands in {stands} and would have to move to {region}: machines, disks and keys do not "
            f"move. If {stands} is lost, run `landbridge cluster rebuild {cluster}`, which brings it up in {region} "
            f"from what was copied there; if not, write region: {stands} again"
        )
    elif published is not None and published != (origin.secret if origin else ""):
        was = f"was rebuilt from {published}" if published else "was born here"
        now = f"says it was rebuilt from {origin.secret}" if origin else "does not say so"
        yield (
            f"it {was} and fleet.rebuilt.yaml {now}: it would get other keys, which nothing that runs trusts. Get the "
            "newest fleet.rebuilt.yaml: only `landbridge cluster rebuild` writes it"
        )


def render(origins: Origins) -> str:
    lines = [HEADER.rstrip()]
    for cluster, origin in sorted(origins.items()):
        lines.append(f"{cluster}:")
        lines += [f"  {name}: {getattr(origin, name)}" for name in ("lost", "region", "secret", "snapshot", "issuer")]
        lines.append("  generations:")
        lines += [f"    {subject}: [{', '.join(map(str, n))}]" for subject, n in sorted(origin.generations.items())]
        if origin.restored:
            lines.append(f"  restored: {origin.restored.isoformat(timespec='seconds')}")
    return "\n".join(lines) + "\n"


def write(path: Path, origins: Origins) -> None:
    committed_files.write(path, render(origins))
