"""Reads unit files as systemd.syntax(7) has them. All errors of a file at once, each with unit, line and directive."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from .directives import HONOURED, OF_REMOTE, REMOTE, SECTIONS, SUFFIXES

DEPENDENCIES = ("Requires", "BindsTo", "Wants", "PartOf", "After", "Before")


class UnitError(Exception):
    """What is wrong in a unit file, a line for each error."""

    def __init__(self, errors: list[str]) -> None:
        super().__init__("\n".join(errors))
        self.errors = errors


class Line(NamedTuple):
    """An assignment, continued lines joined, and the line where it begins."""

    number: int
    section: str
    name: str
    value: str


@dataclass(frozen=True)
class Unit:
    """A unit: its name and what its file says; the rest are defaults."""

    name: str
    settings: dict[str, Any]

    def __getitem__(self, directive: str) -> Any:
        """The value of a directive that this kind of unit has."""
        if directive in self.settings:
            return self.settings[directive]
        section = next(s for s in ("Unit", "Install", SECTIONS.get(self.kind, "")) if (s, directive) in HONOURED)
        default = HONOURED[section, directive].default
        return [] if default == () else default

    @property
    def kind(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0]


def parse(name: str, text: str, host: str = "localhost", drop_ins: Mapping[str, str] = MappingProxyType({})) -> Unit:
    """The unit `name` from its file's text, and from those of its drop-ins by their names. Raises UnitError."""
    kind = name.rpartition(".")[2]
    if kind not in SUFFIXES:
        raise UnitError([f"{name}: only units that end with .{', .'.join(SUFFIXES)} are honoured"])
    if "@" in name:
        raise UnitError([f"{name}: templates are not honoured"])
    errors: list[str] = []
    settings: dict[str, Any] = {}
    sources = {name: text, **drop_ins}
    for file, line in ((source, found) for source in sources for found in read(source, sources[source], errors, kind)):
        section = {"Unit", "Install", SECTIONS.get(kind)}
        directive = HONOURED.get((line.section, line.name)) if line.section in section else None
        if directive is None:
            errors.append(f"{file}:{line.number}: [{line.section}] {line.name}= is not honoured on local machines")
            continue
        try:
            if not line.value:
                settings.pop(line.name, None)
                continue
            value = directive.parse(specified(line.value, name, host))
        except ValueError as error:
            errors.append(f"{file}:{line.number}: {line.name}={line.value}: {error}")
            continue
        if directive.many:
            settings.setdefault(line.name, []).extend(value if isinstance(value, list) else [value])
        else:
            settings[line.name] = value
    unit = Unit(name, settings)
    if not errors:
        errors += [f"{name}: {error}" for error in whole(unit)]
    if errors:
        raise UnitError(errors)
    return unit


def read(name: str, text: str, errors: list[str], kind: str) -> Iterator[Line]:
    """The assignments of a file of a kind of unit; lines that are none go into `errors`."""
    section = ""
    for number, line in logical_lines(text):
        if heading := re.fullmatch(r"\[([^\[\]]+)\]", line):
            section = heading[1]
            allowed = ("Unit", "Install", SECTIONS.get(kind))
            if section not in allowed:
                errors.append(f"{name}:{number}: section [{section}] is not honoured in this kind of unit")
            continue
        directive, equals, value = line.partition("=")
        if not equals or not section:
            errors.append(f"{name}:{number}: expected {'a section' if not section else 'Directive=value'}, not {line}")
            continue
        yield Line(number, section, directive.strip(), value.strip())


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; a backslash at an end joins the next one, over comments in between."""
    logical, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped[:1] in ("#", ";") or (not stripped and not logical):
            continue
        start = start if logical else number
        if line.rstrip().endswith("\\"):
            logical += line.rstrip()[:-1] + " "
            continue
        yield start, (logical + line).strip()
        logical = ""
    if logical:
        yield start, logical.strip()


def specified(value: str, name: str, host: str) -> str:
    """Puts in what %n, %N, %p, %H and %% stand for."""
    stem = name.rpartition(".")[0]
    known = {"n": name, "N": stem, "p": stem, "H": host, "%": "%"}

    def put(found: re.Match[str]) -> str:
        if found[1] not in known:
            raise ValueError(f"the specifier {found[0]} is not honoured, only %n, %N, %p, %H and %% are")
        return known[found[1]]

    return re.sub(r"%(.?)", put, value)


def whole(unit: Unit) -> Iterator[str]:
    """What no single line shows."""
    if unit.kind in WHOLE:
        yield from WHOLE[unit.kind](unit)


def _service(unit: Unit) -> Iterator[str]:
    oneshot = unit["Type"] == "oneshot"
    if not unit["ExecStart"]:
        yield "ExecStart= is missing"
    if len(unit["ExecStart"]) > 1 and not oneshot:
        yield "several ExecStart= need Type=oneshot"
    if oneshot and unit["Restart"] == "always":
        yield "Restart=always is not allowed with Type=oneshot"


def _mount(unit: Unit) -> Iterator[str]:
    if not unit["What"] or not unit["Where"]:
        yield "What= and Where= are needed"
    elif unit.name != (right := f"{escaped(unit['Where'])}.mount"):
        yield f"a mount of {unit['Where']} must be named {right}"
    elif unit["Type"] not in REMOTE and (not unit["What"].startswith("/") or OF_REMOTE in unit["Options"]):
        yield f"a server and its options need Type={' or '.join(REMOTE)}"


def _automount(unit: Unit) -> Iterator[str]:
    if not unit["Where"]:
        yield "Where= is needed"
    elif unit.name != (right := f"{escaped(unit['Where'])}.automount"):
        yield f"an automount of {unit['Where']} must be named {right}"


def _timer(unit: Unit) -> Iterator[str]:
    if not {"OnBootSec", "OnUnitActiveSec", "OnCalendar"} & set(unit.settings):
        yield "a timer needs OnBootSec=, OnUnitActiveSec= or OnCalendar="


WHOLE: dict[str, Callable[[Unit], Iterator[str]]] = {
    "service": _service,
    "mount": _mount,
    "automount": _automount,
    "timer": _timer,
}


def escaped(path: str) -> str:
    """A path as the name of a unit, as `systemd-escape --path` gives it."""
    parts = [part.encode() for part in path.split("/") if part]
    name = "-".join("".join(chr(byte) if is_plain(byte) else f"\\x{byte:02x}" for byte in part) for part in parts)
    return (f"\\x2e{name[1:]}" if name.startswith(".") else name) or "-"


def is_plain(byte: int) -> bool:
    return chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in ":_.")
