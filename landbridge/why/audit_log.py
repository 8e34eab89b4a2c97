"""The audit log of a cluster's API servers, as it lies in the fleet bucket: also when the cluster itself is gone."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

from components.control_plane.audit import place
from evidence import audit
from evidence.observation import Json
from fleet.records import unpacked
from landbridge.clouds.cloud import Bucket
from landbridge.cluster.info import ClusterInfo

THREADS = 8
Span = tuple[datetime, datetime]
# A part is named after its first entry and sent a minute later at most, or when it is full.
DAY, NAMED = "%Y-%m-%d", "%Y-%m-%d/%H%M%S"


class AuditLog:
    """Of these times, each from and until. Nothing is listed or read twice. All raise CloudError."""

    def __init__(self, bucket: Bucket, info: ClusterInfo, spans: Sequence[Span]) -> None:
        self.bucket, self.info, self.spans = bucket, info, spans
        self._listed, self._read = dict[str, list[str]](), dict[str, list[bytes]]()

    def within(self, spans: Iterable[Span]) -> "AuditLog":
        """What of it is of one of these, too."""
        pairs = [(max(one[0], mine[0]), min(one[1], mine[1])) for one in spans for mine in self.spans]
        found = AuditLog(self.bucket, self.info, [one for one in pairs if one[0] < one[1]])
        found._listed, found._read = self._listed, self._read
        return found

    def entries(self, names: Iterable[str], *, acts: bool = False) -> list[Json]:
        """Those that name one of these objects, by their times; `acts` as evidence.audit has it."""
        wanted = sorted({*names} - {""})
        found = [one for lines in self._parts() for one in audit.entries(lines, wanted, acts=acts)]
        return sorted(found, key=audit.at)

    def _parts(self) -> list[list[bytes]]:
        keys = self._keys()
        with ThreadPoolExecutor(THREADS) as pool:
            new = [key for key in keys if key not in self._read]
            self._read.update(zip(new, pool.map(self._lines, new), strict=True))
        return [self._read[key] for key in keys]

    def _keys(self) -> list[str]:
        days = sorted({one for span in self.spans for one in _days(*span)})
        folders = [f"{place(self.info.name, one.name)}/" for one in self.info.api]
        prefixes = [f"{folder}{day:{DAY}}/" for folder in folders for day in days]
        with ThreadPoolExecutor(THREADS) as pool:
            new = [prefix for prefix in prefixes if prefix not in self._listed]
            self._listed.update(zip(new, pool.map(self._keys_below, new), strict=True))
        keys = [key for prefix in prefixes for key in self._listed[prefix]]
        return [key for folder in folders for key in self._wanted([one for one in keys if one.startswith(folder)])]

    def _keys_below(self, prefix: str) -> list[str]:
        return sorted(one.key for one in self.bucket.listed(prefix))

    def _wanted(self, keys: Sequence[str]) -> list[str]:
        """All of an API machine that may have something of the time: of each span also the last that begins before."""
        found = dict[str, None]()
        for since, until in self.spans:
            first, last = (f"{one.astimezone(UTC):{NAMED}}" for one in (since, until))
            before = [key for key in keys if _named(key) < first]
            found |= dict.fromkeys([*before[-1:], *(key for key in keys if first <= _named(key) <= last)])
        return [*found]

    def _lines(self, key: str) -> list[bytes]:
        data = self.bucket.read(key)
        return unpacked(data) if data else []


def _days(since: datetime, until: datetime) -> list[date]:
    first, last = (one.astimezone(UTC).date() for one in (since, until))
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


def _named(key: str) -> str:
    """DAY/TIME of a part's first entry."""
    return "/".join(key.split("/")[-2:])
