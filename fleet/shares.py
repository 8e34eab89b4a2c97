"""What shares must keep to beside each other: a directory each, none within another, and limits that can hold."""

from collections.abc import Iterator

from .model import Fleet

Wrong = tuple[tuple[str | int, ...], str, str]
# The share that holds people's homes, each in a folder of their name.
HOMES = "homes"


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    known = {name: share.path.rstrip("/") for name, share in fleet.storage.shares.items()}
    for name, path in known.items():
        if not path.strip("/") or "//" in path:
            what = f"share {name} has the path {fleet.storage.shares[name].path}, which is no directory of its own"
            yield ("storage", "shares", name, "path"), what, f"Name one, such as /{name}"
        for other, theirs in known.items():
            if theirs and other != name and ((path == theirs and other < name) or path.startswith(f"{theirs}/")):
                what = f"share {name} ({path}) lies in share {other} ({theirs})"
                yield ("storage", "shares", name, "path"), what, "Give each share a directory outside of the others"
    yield from _quotas(fleet)


def _quotas(fleet: Fleet) -> Iterator[Wrong]:
    each, entry = fleet.storage.home_quota_gib, ("storage", "home_quota_gib")
    if each is None:
        return
    homes = fleet.storage.shares.get(HOMES)
    if homes is None:
        yield (
            entry,
            f"homes have a quota, and there is no share {HOMES}",
            f"Declare storage.shares.{HOMES}, or remove it",
        )
    elif homes.quota_gib is not None and each > homes.quota_gib:
        what = f"one home may hold {each} GiB, and all of share {HOMES} {homes.quota_gib}"
        yield entry, what, f"Lower it, or raise storage.shares.{HOMES}.quota_gib"
