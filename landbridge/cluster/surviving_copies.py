"""What is left of a cluster when its region is lost: keys and snapshots that were copied to a second one."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from components.control_plane.backups import copies_place
from components.control_plane.pki import SERVICE_ACCOUNTS
from components.control_plane.rings import MAIN
from components.control_plane.rotation import ENCRYPTION
from components.storage.places import COPIES
from landbridge.clouds.cloud import Cloud, CloudError
from landbridge.errors import LandbridgeError, UsageError
from landbridge.etcd.store import NAME, Snapshot, Store, revision, taken

SHOWN = 5
COPY = re.compile(rf"{COPIES}/(?P<home>[^/]+)/(?P<cluster>[^/]+)/(?P<ring>[^/]+)/{NAME.pattern}")


class Keys(NamedTuple):
    """What the recovery secret holds, less the keys themselves."""

    secret: str
    issuer: str
    generations: dict[str, tuple[int, ...]]


def folder(home: str, cluster: str) -> str:
    """Where in the second region's bucket copies of etcd main's snapshots lie."""
    return f"{copies_place(home, cluster)}/{MAIN.name}/"


def pick(found: Sequence[Snapshot], wanted: str | None) -> Snapshot:
    """The newest copy, or the one of this key, or of this name in their folder. Raises UsageError."""
    if wanted is not None:
        for one in found:
            if wanted in (one.key, one.key.rpartition("/")[2]):
                return one
        raise UsageError(
            f"Nothing was changed: there is no copy {wanted}. The newest are: "
            f"{', '.join(one.key for one in found[-SHOWN:])}."
        )
    last, most = found[-1], max(found, key=lambda one: (revision(one.key) or 0, one.key))
    # As stores.newest has it: new disks, and timers that went on.
    if (revision(most.key) or 0) > (revision(last.key) or 0):
        raise UsageError(
            f"Nothing was changed: the newest copy has revision {revision(last.key)}, an older one "
            f"{revision(most.key)}: the ring had begun anew in between, empty. Say which one you mean: "
            f"--from {most.key} goes back to what was before, --from {last.key} to what came since."
        )
    return last


def anywhere(store: Store, cluster: str) -> dict[str, list[Snapshot]]:
    """Copies of etcd main by the region that they came from, the oldest first: for people who look for one."""
    found: dict[str, list[Snapshot]] = {}
    for one in store.listed(f"{COPIES}/"):
        match = COPY.fullmatch(one.key)
        if match and (match["cluster"], match["ring"]) == (cluster, MAIN.name):
            found.setdefault(match["home"], []).append(one)
    return {home: sorted(copies, key=taken) for home, copies in sorted(found.items())}


def secrets(cloud: Cloud, prefix: str) -> list[str]:
    """The recovery secrets of a cluster that lie in a region, by the names that its cloud has for them."""
    return cloud.secrets(f"{prefix}/recovery-")


def keys(cloud: Cloud, secret: str) -> Keys:
    """Which keys the secret holds. Raises LandbridgeError when it can't be read."""
    try:
        return understood(secret, cloud.secret(secret))
    except CloudError as error:
        raise LandbridgeError(f"Nothing was changed: the copied keys can't be read. {error}") from None


def understood(secret: str, text: str) -> Keys:
    """Raises LandbridgeError."""
    try:
        record = json.loads(text)
        found = {name: _numbers(pairs, "crt") for name, pairs in record["authorities"].items()}
        found[SERVICE_ACCOUNTS] = _numbers(record["service_accounts"], "pub")
        found[ENCRYPTION] = tuple(sorted(map(int, record["encryption"].keys())))
        return Keys(secret, str(record["issuer"]), found)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LandbridgeError(
            f"The secret {secret} does not hold a cluster's keys as they are copied now ({type(error).__name__}: "
            f"{error}): it is of an older version, or was changed by hand. Nothing was changed."
        ) from None


def _numbers(generations: Mapping[str, Any], public: str) -> tuple[int, ...]:
    return tuple(sorted(int(number) for number, pair in generations.items() if pair[public] and pair["key"]))
