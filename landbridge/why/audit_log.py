"""The audit log of a cluster's API servers, as it lies in the fleet bucket: also when the cluster itself is gone."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cached_property

from components.control_plane.audit import place
from evidence import audit
from evidence.observation import Json
from fleet.records import unpacked
from landbridge.clouds.cloud import Bucket
from landbridge.cluster.info import ClusterInfo

THREADS = 8
# A part is named after its first entry and sent a minute later at most, or when it is full.
DAY, NAMED = "%Y-%m-%d", "%Y-%m-%d/%H%M%S"


class AuditLog:
    """From `since` on. All raise CloudError."""

    def __init__(self, bucket: Bucket, info: ClusterInfo, since: datetime, now: datetime) -> None:
        self.bucket, self.info, self.since, self.now = bucket, info, since, now

    @cached_property
    def parts(self) -> list[list[bytes]]:
        """Their lines; read once."""
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(self._read, self._keys()))

    def entries(self, names: Iterable[str], *, acts: bool = False) -> list[Json]:
        """Those that name one of these objects, by their times; `acts` as evidence.audit has it."""
        wanted = sorted({*names} - {""})
        found = [one for lines in self.parts for one in audit.entries(lines, wanted, acts=acts)]
        return sorted(found, key=audit.at)

    def _keys(self) -> list[str]:
        days = [self.since.date() + timedelta(days=n) for n in range((self.now.date() - self.since.date()).days + 1)]
        prefixes = [f"{place(self.info.name, one.name)}/{day:{DAY}}/" for one in self.info.api for day in days]
        with ThreadPoolExecutor(THREADS) as pool:
            listed = list(pool.map(lambda prefix: sorted(one.key for one in self.bucket.listed(prefix)), prefixes))
        return [key for keys in listed for key in self._wanted(keys)]

    def _wanted(self, keys: list[str]) -> list[str]:
        """All that may have something from `since` on: the last that begins before it, and every later one."""
        first = f"{self.since.astimezone(UTC):{NAMED}}"
        later = [key for key in keys if _named(key) >= first]
        return [*keys[len(keys) - len(later) - 1 : len(keys) - len(later)], *later]

    def _read(self, key: str) -> list[bytes]:
        data = self.bucket.read(key)
        return unpacked(data) if data else []


def _named(key: str) -> str:
    """DAY/TIME of a part's first entry."""
    return "/".join(key.split("/")[-2:])
