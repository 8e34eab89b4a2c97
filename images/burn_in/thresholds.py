"""The thresholds as data: limits of every GPU and of each model, each with its source. Errors name the line."""

from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path

from pydantic import Field, ValidationError, model_validator

from fleet.errors import FleetError
from fleet.yaml import EntryPath, Lines, plain, read

from ..baked import Part
from ..errors import ImageError

THRESHOLDS = Path(__file__).with_name("thresholds.yaml")
Value = float | int | str


class Limit(Part):
    """One of `exactly`, `at_least` and `at_most`. `unit` is that of the value, `source` a key of `sources`."""

    exactly: int | str | None = None
    at_least: float | None = None
    at_most: float | None = None
    unit: str = ""
    source: str

    @model_validator(mode="after")
    def _one(self) -> "Limit":
        if sum(one is not None for one in (self.exactly, self.at_least, self.at_most)) != 1:
            raise ValueError("a limit is one of exactly, at_least and at_most")
        return self

    def allows(self, value: Value) -> bool:
        """A text meets no number, and no number a text."""
        if self.exactly is not None:
            return value == self.exactly
        if isinstance(value, str):
            return False
        # NaN is on no side of a number.
        return value >= self.at_least if self.at_least is not None else value <= (self.at_most or 0)

    def shown(self, value: Value) -> str:
        number = value if isinstance(value, str) else f"{value:,.15g}"
        return f"{number} {self.unit}".rstrip()

    @property
    def bound(self) -> str:
        if self.exactly is not None:
            return self.shown(self.exactly)
        word, bound = ("at least", self.at_least) if self.at_least is not None else ("at most", self.at_most)
        return f"{word} {self.shown(bound or 0)}"


class Clocks(Part):
    allowed: list[str]
    source: str


class Xids(Part):
    fatal: list[int]
    hours: int = Field(gt=0)
    source: str


class Dcgm(Part):
    level: int = Field(ge=1, le=4)
    required: list[str]
    source: str


class Model(Part):
    """`fabric`: GPUs register with the fabric manager. `all_reduce` is by the number of GPUs."""

    names: list[str]
    gpus: Limit
    graphics_clock: Limit
    nvlinks: Limit
    nvlink_rate: Limit
    fabric: bool
    host_to_device: Limit
    device_to_host: Limit
    device_to_device: Limit
    all_reduce: dict[int, Limit]
    all_reduce_gib: int = Field(gt=0)


# What `limits` has to name, no more and no less: a limit that is forgotten is a test that is not made.
EVERY = (
    "persistence_mode",
    "ecc_mode",
    "mig_mode",
    "recovery_action",
    "sram_uncorrectable",
    "sram_correctable",
    "dram_uncorrectable",
    "dram_correctable",
    "rows_pending",
    "rows_failure",
    "rows_uncorrectable",
    "pcie_width",
)


class Thresholds(Part):
    sources: dict[str, str]
    limits: dict[str, Limit]
    clocks: Clocks
    xids: Xids
    dcgm: Dcgm
    models: dict[str, Model]

    def of(self, name: str) -> Model | None:
        """The model of a GPU by the name that its driver gives."""
        return next((model for model in self.models.values() if name in model.names), None)


def load(file: Path = THRESHOLDS) -> Thresholds:
    """Raises ImageError with every problem and its line."""
    try:
        data, lines = read(file)
        found = Thresholds.model_validate(plain(data))
    except FleetError as error:
        raise ImageError(str(error)) from None
    except ValidationError as error:
        messages = [_problem(file.name, lines, tuple(one["loc"]), one["msg"]) for one in error.errors()]
        raise ImageError("\n".join(messages)) from None
    if problems := [_problem(file.name, lines, path, what) for path, what in _broken(found)]:
        raise ImageError("\n".join(problems))
    return found


def _problem(file: str, lines: Lines, path: EntryPath, what: str) -> str:
    return f"{file}:{lines.of(path)}: {'.'.join(map(str, path))}: {what}."


def _broken(found: Thresholds) -> Iterator[tuple[EntryPath, str]]:
    """What the fields' shapes can't say."""
    for name in sorted(set(EVERY) ^ found.limits.keys()):
        what = "is missing" if name in EVERY else f"is no limit. Limits are: {', '.join(EVERY)}"
        yield ("limits", name), f"{name} {what}"
    for path, source in _sources(found):
        if source not in found.sources:
            yield path, f"there is no source {source!r}. Name one of: {', '.join(found.sources)}"
    owners: dict[str, str] = {}
    for model, one in found.models.items():
        for name in one.names:
            if owners.setdefault(name, model) != model:
                yield ("models", model, "names"), f"{name} is a name of {owners[name]}, too"


def _sources(found: Thresholds) -> Iterator[tuple[EntryPath, str]]:
    for part in ("clocks", "xids", "dcgm"):
        yield (part, "source"), getattr(found, part).source
    for path, limit in limits(found):
        yield path, limit.source


def limits(found: Thresholds) -> Iterator[tuple[EntryPath, Limit]]:
    """Every limit, with where it stands."""
    for name, limit in found.limits.items():
        yield ("limits", name), limit
    for model, one in found.models.items():
        fields: Mapping[Hashable, object] = dict(one)
        for field, value in fields.items():
            if isinstance(value, Limit):
                yield ("models", model, field), value
        for count, limit in one.all_reduce.items():
            yield ("models", model, "all_reduce", str(count)), limit
