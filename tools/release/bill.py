"""Bills of materials, one form for all: CycloneDX 1.6, as node images have theirs (images/bill.py).

The same contents are the same bytes: no time but the commit's, and a serial number that is the contents' own.
https://cyclonedx.org/docs/1.6/json/
"""

import datetime
import hashlib
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from images.bill import written
from images.lock import Package as Debian

from .programs import Module, Program
from .python_lock import Package

__all__ = ["Subject", "of_container", "of_packages", "of_programs", "written"]
Json = dict[str, Any]
SPACE = uuid.UUID("6f0c3a58-9b0e-5d1c-8a57-6d0c2f7e1b44")
PROPERTY = "landbridge"


class Subject(NamedTuple):
    """What a bill is of; `kind` is CycloneDX's type, `epoch_seconds` the time of what it was made of."""

    kind: str
    name: str
    version: str
    epoch_seconds: int

    @property
    def ref(self) -> str:
        return f"{self.name}@{self.version}"


def of_packages(subject: Subject, packages: Iterable[Package]) -> Json:
    """Of a lock; who wants whom becomes the graph, and what only files want hangs on the subject."""
    listed = list(packages)
    return _document(subject, map(_package, listed), _graph(subject, listed))


def of_programs(subject: Subject, programs: Iterable[Program], sha256: Mapping[str, str]) -> Json:
    """Go programs with the modules that Go wrote into them; `sha256` is by program's name."""
    listed = list(programs)
    modules = {module for one in listed for module in (*one.modules, _standard_library(one))}
    graph = {_program_ref(one): [*map(_go, one.modules), _go(_standard_library(one))] for one in listed}
    components = [*(_program(one, sha256[one.name]) for one in listed), *map(_module, sorted(modules))]
    return _document(subject, components, {subject.ref: list(graph), **graph})


def of_container(subject: Subject, base: str, debian: Iterable[Debian], packages: Iterable[Package]) -> Json:
    """Of our services' container: packages of the distribution `base`, then Python's."""
    system, listed = [_debian(base, one) for one in sorted(debian)], list(packages)
    graph = _graph(subject, listed)
    graph[subject.ref] += [one["bom-ref"] for one in system]
    return _document(subject, [*system, *map(_package, listed)], graph)


def _document(subject: Subject, components: Iterable[Json], graph: Mapping[str, list[str]]) -> Json:
    time = datetime.datetime.fromtimestamp(subject.epoch_seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    about = {"type": subject.kind, "name": subject.name, "version": subject.version, "bom-ref": subject.ref}
    found: Json = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"timestamp": time, "component": about},
        "components": sorted(components, key=lambda one: str(one["bom-ref"])),
        "dependencies": [{"ref": ref, "dependsOn": sorted(set(wanted))} for ref, wanted in sorted(graph.items())],
    }
    digest = hashlib.sha256(written(found).encode()).hexdigest()
    return {**found, "serialNumber": f"urn:uuid:{uuid.uuid5(SPACE, digest)}"}


def _pypi(one: Package) -> str:
    return f"pkg:pypi/{quote(one.name.lower().replace('_', '-'))}@{quote(one.version)}"


def _package(one: Package) -> Json:
    """The digests are of all files that it may be installed from: its wheels, and its source."""
    files = {"type": "distribution", "url": _pypi(one), "hashes": [_sha256(value) for value in one.sha256]}
    return {
        "type": "library",
        "bom-ref": _pypi(one),
        "name": one.name,
        "version": one.version,
        "purl": _pypi(one),
        **({"externalReferences": [files]} if one.sha256 else {}),
        **_properties({"marker": one.marker}),
    }


def _graph(subject: Subject, packages: list[Package]) -> dict[str, list[str]]:
    refs = {one.name: _pypi(one) for one in packages}
    graph: dict[str, list[str]] = {subject.ref: [], **{ref: [] for ref in refs.values()}}
    for one in packages:
        for name in one.wanted_by:
            graph[refs.get(name, subject.ref)].append(_pypi(one))
    return graph


def _debian(base: str, one: Debian) -> Json:
    purl = f"pkg:deb/{base}/{quote(one.name)}@{quote(one.version, safe='')}"
    about = {"type": "library", "bom-ref": purl, "name": one.name, "version": one.version, "purl": purl}
    return {**about, "hashes": [_sha256(one.sha256)]}


def _standard_library(one: Program) -> Module:
    return Module("stdlib", f"v{one.go}", "")


def _go(module: Module) -> str:
    return f"pkg:golang/{quote(module.path)}@{quote(module.version, safe='')}"


def _module(one: Module) -> Json:
    about = {"type": "library", "bom-ref": _go(one), "name": one.path, "version": one.version, "purl": _go(one)}
    return {**about, **_properties({"go.sum": one.sum})}


def _program_ref(one: Program) -> str:
    return f"program:{one.name}"


def _program(one: Program, sha256: str) -> Json:
    settings = {f"build.{name}": value for name, value in one.settings if name.startswith(("-", "CGO", "GO"))}
    return {
        "type": "application",
        "bom-ref": _program_ref(one),
        "name": one.name,
        "version": _version(one),
        "hashes": [_sha256(sha256)],
        **_properties({"package": one.package, "go": one.go, **settings}),
    }


def _version(one: Program) -> str:
    """That of the module which has the package; our own have none."""
    of = [module for module in one.modules if f"{one.package}/".startswith(f"{module.path}/")]
    return max(of, key=lambda module: len(module.path)).version if of else "(devel)"


def _sha256(value: str) -> Json:
    return {"alg": "SHA-256", "content": value}


def _properties(values: Mapping[str, str]) -> Json:
    found = [{"name": f"{PROPERTY}:{key}", "value": value} for key, value in sorted(values.items()) if value]
    return {"properties": found} if found else {}
