"""Which version of Kubernetes a cluster goes to. Pure."""

from collections.abc import Collection

from fleet.kubernetes_versions import minor, refusal
from fleet.rules import KUBERNETES
from landbridge.errors import UsageError


def chosen(running: str, servers: Collection[str], file: str, known: Collection[str], asked: str | None) -> str:
    """What is asked for; else the fleet file's, where that has not come to pass yet; else the newest patch of the minor
    that runs, and after the last one the newest of the next minor.

    `known` are versions that machines have an image of, `servers` those of API servers: until one of them has a newer
    minor version there is a way back from it. Raises UsageError.
    """
    if asked is None and file != running:
        asked = file
    if asked is None:
        return newest(running, known)
    undone = all(minor(one) == minor(asked) for one in servers)
    if why := refusal(running, asked, undone=undone):
        raise UsageError(f"{why[0].upper()}{why[1:]}.")
    if minor(asked) not in KUBERNETES:
        raise UsageError(
            f"Kubernetes {asked} is no version that this Landbridge is tested with: {', '.join(KUBERNETES)}."
        )
    if asked not in known:
        there = ", ".join(sorted(known, key=key)) or "none"
        raise UsageError(
            f"No machine can start with Kubernetes {asked}: nobody has promoted an image of it. Known: {there}."
        )
    return asked


def newest(running: str, known: Collection[str]) -> str:
    """What runs where nothing newer is known."""
    fit = [
        one for one in known if minor(one) in KUBERNETES and refusal(running, one) is None and key(one) > key(running)
    ]
    patches = [one for one in fit if minor(one) == minor(running)]
    return max(patches or fit or [running], key=key)


def key(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
