"""What it serves, as Prometheus reads it: its own state, and then what the GPUs tell."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import prometheus_client
from prometheus_client import Gauge

from .driver import Seen
from .fields import FIELDS, GAUGE, XID
from .gpu import Told

driver_answers = Gauge("landbridge_gpu_exporter_driver", "Whether NVML answers")
gpus = Gauge("landbridge_gpu_exporter_gpus", "GPUs that NVML tells of, with those that fail")
failing = Gauge("landbridge_gpu_exporter_failing_gpus", "GPUs of which NVML can't tell all, as they are lost or ail")
ERROR = ("landbridge_gpu_exporter_gpu_error", "1 of each GPU that fails, and what NVML says of it", GAUGE)
# As the text format has it.
ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Row = tuple[Mapping[str, str], float]


def page(look: Callable[[], Seen], host: str) -> bytes:
    seen = look()
    driver_answers.set(not seen.why)
    gpus.set(len(seen.gpus))
    failing.set(sum(1 for one in seen.gpus if one.why))
    always = {"Hostname": host, "DCGM_FI_DRIVER_VERSION": seen.version}
    own: bytes = prometheus_client.generate_latest()
    return own + "".join(families(seen.gpus, always)).encode()


def families(told: Iterable[Told], always: Mapping[str, str]) -> Iterator[str]:
    """By hand: the client would add `_total` to counters, which DCGM's names have not."""
    named = [(one, {**one.labels, **always}) for one in told]
    for field in FIELDS:
        rows = [(labels, one.figures[field.name]) for one, labels in named if field.name in one.figures]
        yield from family((field.name, field.help, field.kind), rows)
    yield from family(XID, [(labels, one.xid) for one, labels in named if one.xid is not None])
    yield from family(ERROR, [({**labels, "error": one.why}, 1) for one, labels in named if one.why])


def family(what: tuple[str, str, str], rows: Sequence[Row]) -> Iterator[str]:
    name, meaning, kind = what
    if rows:
        yield f"# HELP {name} {meaning}\n# TYPE {name} {kind}\n"
    for labels, value in rows:
        told = ",".join(f'{key}="{text.translate(ESCAPES)}"' for key, text in labels.items())
        yield f"{name}{{{told}}} {number(value)}\n"


def number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
