"""What depends on what: the set of units, their order, who starts, stops and restarts with whom."""

import graphlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from .units import Unit, UnitError, parse

FOLDER = Path("/etc/systemd/system")
# Targets that every Linux has. Here they are reached at once.
TARGETS = (
    "basic.target",
    "graphical.target",
    "local-fs.target",
    "multi-user.target",
    "network.target",
    "network-online.target",
    "network-pre.target",
    "nss-lookup.target",
    "remote-fs.target",
    "sysinit.target",
    "time-sync.target",
    "timers.target",
)
STATE_FOLDERS = "/var/lib"


def load(folder: Path, host: str) -> dict[str, Unit]:
    """All units of a folder, and the targets they name. Raises UnitError with all errors of all files.

    Files in NAME.d/ add to the unit NAME; without that unit they are nobody's, as for systemd.
    """
    errors: list[str] = []
    units: dict[str, Unit] = {}
    for path in sorted(folder.glob("*")):
        if path.is_dir():
            continue
        try:
            more = sorted((folder / f"{path.name}.d").glob("*.conf"))
            drop_ins = {f"{path.name}.d/{one.name}": one.read_text() for one in more}
            units[path.name] = parse(path.name, path.read_text(), host, drop_ins)
        except UnitError as error:
            errors += error.errors
        except (OSError, UnicodeDecodeError) as error:
            errors.append(f"{path.name}: cannot be read: {error}")
    wanting = {name for unit in units.values() for name in (*unit["WantedBy"], *unit["RequiredBy"])}
    for name in {*TARGETS, *(name for name in wanting if name.endswith(".target"))}:
        units.setdefault(name, Unit(name, {}))
    if errors:
        raise UnitError(errors)
    return units


class Graph:
    """The dependencies of a set of units, both ways. Raises UnitError if their order runs in a circle."""

    def __init__(self, units: Mapping[str, Unit]) -> None:
        self.units = units
        self.requires: dict[str, set[str]] = defaultdict(set)
        self.wants: dict[str, set[str]] = defaultdict(set)
        self.bound: dict[str, set[str]] = defaultdict(set)  # unit → those that end when it ends
        self.follows: dict[str, set[str]] = defaultdict(set)  # unit → those that stop and restart with it
        self.after: dict[str, set[str]] = defaultdict(set)
        for unit in units.values():
            self.add(unit)
        for name in units:
            self.add_implied(name)
        self.check_order()

    def add(self, unit: Unit) -> None:
        name = unit.name
        self.requires[name] |= {*unit["Requires"], *unit["BindsTo"]}
        self.wants[name] |= set(unit["Wants"])
        self.after[name] |= set(unit["After"])
        for other in unit["Before"]:
            self.after[other].add(name)
        for other in unit["WantedBy"]:
            self.wants[other].add(name)
        for other in unit["RequiredBy"]:
            self.requires[other].add(name)
        for other in unit["BindsTo"]:
            self.bound[other].add(name)
        for other in unit["PartOf"]:
            self.follows[other].add(name)

    def add_implied(self, name: str) -> None:
        """What systemd adds: targets come after what they start, units after the mounts they stand on."""
        unit = self.units[name]
        for other in self.requires[name]:
            self.follows[other].add(name)
        if unit.kind == "target":
            pulled = (self.requires[name] | self.wants[name]) & set(self.units)
            self.after[name] |= {other for other in pulled if name not in self.after[other]}
        for mount in (u for u in self.units.values() if u.kind == "mount" and u is not unit):
            if any(PurePosixPath(path).is_relative_to(mount["Where"]) for path in places(unit)):
                self.requires[name].add(mount.name)
                self.follows[mount.name].add(name)
                self.after[name].add(mount.name)
        if unit.kind == "timer":
            self.after[unit["Unit"] or f"{unit.stem}.service"].add(name)

    def check_order(self) -> None:
        try:
            graphlib.TopologicalSorter(
                {name: others & set(self.units) for name, others in self.after.items()}
            ).prepare()
        except graphlib.CycleError as error:
            # The library tells it as "is before".
            raise UnitError([f"units are ordered in a circle: {' before '.join(error.args[1])}"]) from None

    def to_start(self, names: Iterable[str]) -> set[str]:
        """These and all that they start. Raises UnitError for what they require and is not there."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            if name not in self.units:
                raise UnitError([f"Unit {name} not found."])
            found.add(name)
            if missing := sorted(self.requires[name] - set(self.units)):
                raise UnitError([f"{name} requires {', '.join(missing)}, which is not there"])
            waiting += [*self.requires[name], *(self.wants[name] & set(self.units))]
        return found

    def to_stop(self, names: Iterable[str]) -> set[str]:
        """These and all that stop with them."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self.follows[name]
        return found

    def ordered(self, one: str, other: str) -> bool:
        return other in self.after[one] or one in self.after[other]


def places(unit: Unit) -> list[str]:
    """Paths that must be mounted before a unit starts."""
    named: list[str] = unit["RequiresMountsFor"]
    if unit.kind == "mount":
        return [*named, unit["Where"], unit["What"]]
    if unit.kind != "service":
        return named
    folder = unit["WorkingDirectory"]
    state = (f"{STATE_FOLDERS}/{name}" for name in unit["StateDirectory"])
    return [*named, *([folder[0]] if folder else []), *state]
