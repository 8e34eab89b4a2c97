"""Destroyed, built again, changed: what the tests of the matrix do to a world, and what must be so after it."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from components.pools.labels import POOL
from tests.components.pools.joining_client import eventually
from tests.e2e.kills import DESTROY, counted, different
from tests.e2e.standing import kubectl
from tests.support.cloud import Cloud

# What a region of AWS has from its first call on; images stay published.
OF_ITSELF = (
    "ec2 vpcs",
    "ec2 subnets",
    "ec2 route tables",
    "ec2 security groups",
    "ec2 security group rules",
    "ssm parameters",
)
READY_SECONDS, SECONDS = 180, 900


class Stands(NamedTuple):
    """How many there are of each kind in all clouds, and nodes by pool and whether they are Ready."""

    kinds: dict[str, int]
    nodes: Counter[tuple[str, str]]


def nodes(cloud: Cloud, *words: str) -> Counter[tuple[str, str]]:
    """Of one cluster, those of machines in the servers' part by their names."""
    found = json.loads(kubectl(cloud, *words, "get", "nodes", "-o", "json"))["items"]
    return Counter(
        (node["metadata"]["labels"].get(POOL, ""), condition["status"])
        for node in found
        for condition in node["status"]["conditions"]
        if condition["type"] == "Ready"
    )


def await_nodes(cloud: Cloud, expected: Counter[tuple[str, str]], *words: str) -> None:
    """Raises AssertionError that has those there are."""
    found = expected

    def come() -> bool:
        nonlocal found
        found = nodes(cloud, *words)
        return found == expected

    try:
        eventually(come, READY_SECONDS)
    except AssertionError:
        raise AssertionError(f"nodes are {found}, and not {expected}") from None


def stands(cloud: Cloud) -> Stands:
    return Stands(counted(cloud), nodes(cloud))


def up(cloud: Cloud, *, full: bool = True) -> list[str]:
    """What fleet.yaml says; then nothing is left to do, for the engine either. Gives the notes."""
    cloud.plan()
    notes: list[str] = cloud.report("up", "--local", "--yes", "--allow-destroy", "9", seconds=SECONDS)["notes"]
    if full:
        cloud.run("up", "--local", "--full", "--expect-no-changes", seconds=SECONDS)
    return notes


def destroy(cloud: Cloud, *stacks: str) -> None:
    cloud.run(*DESTROY, *stacks, seconds=SECONDS)


def is_as(cloud: Cloud, before: Stands) -> None:
    """All that was there is there, at work, and nothing else is: machines, routes, rules, records, keys, buckets."""
    await_nodes(cloud, before.nodes)
    now = counted(cloud)
    known = {kind.split()[1] for kind in before.kinds}
    asked = {kind for kind in now if kind.split()[1] not in known and kind.endswith(OF_ITSELF)}
    found = different({kind: many for kind, many in now.items() if kind not in asked}, before.kinds)
    assert not found, found


def orphans(notes: list[str]) -> list[str]:
    """Stacks that an `up` has named as no longer in the fleet file."""
    return [note.partition(" ")[0] for note in notes if " names it no more: " in note]


@contextmanager
def written(cloud: Cloud, *pairs: tuple[str, str]) -> Iterator[None]:
    """The fleet file with each first text in place of which the second stands; as it was, afterwards."""
    before = cloud.fleet.read_text()
    text = before
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    cloud.fleet.write_text(text)
    try:
        yield
    finally:
        cloud.fleet.write_text(before)
