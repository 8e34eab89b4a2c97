"""What a fleet file may say and its people should know all the same: nothing of it is refused."""

from collections.abc import Iterator
from typing import NamedTuple

from .loader import Loaded
from .model import Fleet

# With a member in each, etcd outlives any of them.
ZONES = 3


class Remark(NamedTuple):
    """`line` counts from 1."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}."


def remarks(loaded: Loaded) -> list[Remark]:
    """In the order of the file."""
    kinds = (_zones_of_etcd, _nowhere_for_cpu_work, _alarms_for_nobody, _images_by_tag)
    found = [one for kind in kinds for one in kind(loaded.fleet)]
    return sorted(Remark(loaded.file, loaded.lines.of(entry), text) for entry, text in found)


def _zones_of_etcd(fleet: Fleet) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for name, cluster in fleet.clusters.items():
        region = fleet.regions[cluster.region]
        if len(region.zones) < ZONES:
            many = f"{len(region.zones)} zones" if len(region.zones) > 1 else "one zone"
            yield (
                ("regions", cluster.region, "zones"),
                f"{cluster.region} has {many}, and most etcd members of cluster {name} stand in one of them: "
                f"the cluster does not outlive that zone. With {ZONES} zones it outlives any",
            )


def _nowhere_for_cpu_work(fleet: Fleet) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """GPU and system machines are tainted: who wants other work there has it tolerate that."""
    for name in fleet.clusters:
        kinds = {pool.kind for pool in fleet.pools.values() if pool.cluster == name} - {"ssh"}
        if kinds and "cpu" not in kinds:
            yield (
                ("clusters", name),
                f"cluster {name} has no pool of kind cpu: pods that ask for no GPU wait until there is one, "
                "or until they tolerate another kind's taint",
            )


def _alarms_for_nobody(fleet: Fleet) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if fleet.monitoring and not fleet.monitoring.receivers:
        yield ("monitoring",), "monitoring has no receivers: alarms reach nobody who does not look for them"


def _images_by_tag(fleet: Fleet) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Nodes' own are refused without a digest, where their image is baked."""
    if (image := fleet.images.runs) and "@sha256:" not in image:
        yield (
            ("images", "runs"),
            f"{image} has no digest: whoever may write that tag decides what runs that name no image are. "
            f"Write {image}@sha256:DIGEST; `skopeo inspect docker://{image}` tells it",
        )
