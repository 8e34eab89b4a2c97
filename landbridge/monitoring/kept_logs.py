"""Logs that are kept: which lines are meant, in VictoriaLogs' LogsQL, and the answers of both replicas as one.

Lines are asked for by minutes, as many at a time as fit in memory, and told in the order in which they were printed.
"""

import http.client
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from fleet.kept_logs import FILE, NODE, UNIT
from landbridge.errors import LandbridgeError

# Lines at a time, about.
MOST_LINES = 50_000
ANSWER_SECONDS = 120.0
# Job controller, podGenerateNameWithIndex: of a longer name of a Job the end is left out. Five characters come behind.
LONGEST_NAME = 58
RANDOM = "[a-z0-9]{5}"
STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")
WHOLE = "F"
# Of what is in a machine's journal; files of pods have numbers.
OF_UNITS = "/journal.log"
_UNITS = json.dumps(f".+{re.escape(OF_UNITS)}")
Json = dict[str, Any]
# Takes a query, and gives the rows of its answer.
Ask = Callable[[str], Iterator[Json]]


class Line(NamedTuple):
    """`at` is when it was printed, in nanoseconds of Unix time; `text` has its end, if it had one.

    It is a container's, or a unit's of the machine: the others' names are empty.
    """

    at: int
    node: str
    namespace: str
    pod: str
    container: str
    unit: str
    text: str


def of_host(namespace: str, run: str, part: str, rank: int) -> str:
    """What one host of a run has printed, in all its attempts: a filter of streams."""
    index = f"-{rank}-"
    job = f"{run}-{part}-0"[: LONGEST_NAME - len(index)]
    pod = f"{re.escape(f'{namespace}_{job}{index}')}{RANDOM}_[^/]+"
    # It is compared with the whole path.
    pattern = f".+/{pod}/run/[0-9]+[.]log"
    return f"{{{FILE}=~{json.dumps(pattern)}}}"


def of_node(node: str) -> str:
    """What all pods of a machine have printed: a filter of streams."""
    return f"{{{NODE}={json.dumps(node)},{FILE}!~{_UNITS}}}"


def of_units(node: str, units: Sequence[str]) -> str:
    """What a machine's kernel and units have said, those of these names: filters of streams and of lines."""
    names = ",".join(json.dumps(one.removesuffix(".service")) for one in units)
    return f"{{{NODE}={json.dumps(node)},{FILE}=~{_UNITS}}} {UNIT}:in({names})"


def at(address: str, token: str = "") -> Ask:
    """What answers queries at an address. What it refuses, that it is away or breaks off is an OSError."""
    # A proxy of the user's has no way to it.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(query: str) -> Iterator[Json]:
        body = urllib.parse.urlencode({"query": query}).encode()
        request = urllib.request.Request(address, body, {"Authorization": f"Bearer {token}"} if token else {})  # noqa: S310
        try:
            with opener.open(request, timeout=ANSWER_SECONDS) as answer:
                yield from map(json.loads, answer)
        except urllib.error.HTTPError as error:
            raise OSError(error.read().decode(errors="replace").strip()) from None
        except http.client.HTTPException as error:
            raise OSError(f"its answer broke off: {error!r}") from None

    return ask


def lines(stores: Mapping[str, Ask], which: str, since: datetime | None, tell: Callable[[str], None]) -> Iterator[Line]:
    """Of all stores by their names, each once. Who does not answer is told of; LandbridgeError where none does."""
    there = dict(stores)
    # What is printed from now on would never end.
    which = f"{which} _time:{between(since, datetime.now(UTC))}"
    counts: dict[str, int] = {}
    for one in asked(there, f"{which} | stats by (_time:1m) count() lines", tell):
        counts[one["_time"]] = max(int(one["lines"]), counts.get(one["_time"], 0))
    earliest = int(since.timestamp()) * 10**9 if since else 0
    for begin, end in slices(counts):
        found = asked(there, f"{which} _time:{between(begin, end)} | fields {NODE}, {FILE}, _msg", tell)
        rows = {(one[NODE], one[FILE], one["_msg"]) for one in found}
        yield from (line for line in whole(rows) if line.at >= earliest)


def asked(there: dict[str, Ask], query: str, tell: Callable[[str], None]) -> Iterator[Json]:
    """Of all that are there; who fails is there no longer. Raises LandbridgeError."""
    for name, ask in list(there.items()):
        try:
            yield from ask(query)
        except OSError as error:
            tell(f"{name} does not answer, and what it alone has is missing: {error}")
            del there[name]
    if not there:
        raise LandbridgeError("No VictoriaLogs answers. `landbridge alarms` may say why.")


def between(begin: datetime | None, end: datetime) -> str:
    """Without the end itself."""
    return f"[{stamp(begin or datetime.fromtimestamp(0, UTC))}, {stamp(end)})"


def stamp(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


def slices(counts: Mapping[str, int]) -> Iterator[tuple[datetime, datetime]]:
    """Minutes with their lines, as pieces of so many lines; a minute stays whole."""
    minutes = sorted((datetime.fromisoformat(minute), count) for minute, count in counts.items())
    begin, so_far = None, 0
    for number, (minute, count) in enumerate(minutes, 1):
        begin, so_far = begin or minute, so_far + count
        if so_far >= MOST_LINES or number == len(minutes):
            yield begin, minute + timedelta(minutes=1)
            begin, so_far = None, 0


def whole(rows: Iterable[tuple[str, str, str]]) -> Iterator[Line]:
    """By time. The parts of a long line are one."""
    begun: dict[str, Line] = {}
    for moment, node, file, stream, tag, text in sorted(map(taken_apart, rows)):
        before = begun.pop(file, None)
        end = "\n" if tag == WHOLE else ""
        line = Line(moment, node, *owner(file, stream), f"{before.text if before else ''}{text}{end}")
        if end:
            yield line
        else:
            begun[file] = line
    yield from begun.values()


def taken_apart(row: tuple[str, str, str]) -> tuple[int, str, str, str, str, str]:
    """When, node, file, stream, tag and text."""
    node, file, entry = row
    when, stream, tag, text = (*entry.split(" ", 3), "", "", "", "")[:4]
    return nanoseconds(when), node, file, stream, tag, text


def nanoseconds(when: str) -> int:
    """Of Unix time; 0 for what is none."""
    if not (found := STAMP.fullmatch(when)):
        return 0
    return int(datetime.fromisoformat(found[1] + found[3]).timestamp()) * 10**9 + int((found[2] or "").ljust(9, "0"))


def owner(file: str, stream: str) -> tuple[str, str, str, str]:
    """Namespace, pod and container, of PODS/NAMESPACE_POD_UID/CONTAINER/STARTS.log, and a unit: its stream's name."""
    if file.endswith(OF_UNITS):
        return "", "", "", stream
    *_, folder, container, _ = file.split("/")
    namespace, pod, _ = folder.split("_")
    return namespace, pod, container, ""
