"""A cluster's entries in the kubeconfigs that a person has, by kubectl's own rules of which file is which.

An entry is changed in the file that has it; a new one comes into the first file that is there, else into the last of
the list. What others have written is never touched, nor are comments.
"""

import contextlib
import io
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from landbridge.errors import UsageError

from .kept import KUBECONFIG, OUTSIDE
from .kubeconfig_exec import Meant, marked

DEFAULT = ".kube/config"
SECTIONS = {"clusters": "cluster", "users": "user", "contexts": "context"}
CURRENT = "current-context"
BACKUP, LOCK = ".before-landbridge", ".lock"
LOCK_SECONDS = 5.0
Config = dict[str, Any]


def chain(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """The files that kubectl reads, the first of which counts where several have an entry."""
    said = environment.get(OUTSIDE) or environment.get(KUBECONFIG, "")
    named = [Path(one) for one in said.split(os.pathsep) if one]
    return list(dict.fromkeys(named)) or [Path.home() / DEFAULT]


def merge(config: Config, files: Sequence[Path]) -> tuple[list[Path], bool]:
    """The files that were written, and whether the context is the current one now. Raises UsageError."""
    name = config[CURRENT]
    written = changed(files, lambda known: merged(config, known, files))
    return written, current(files) == name


def remove(name: str, meant: Meant, files: Sequence[Path]) -> list[Path]:
    """Takes the context, and what belongs to it alone, out again. Gives the files that had it. Raises UsageError."""
    return changed(files, lambda known: removed(name, meant, known))


def context(files: Sequence[Path], name: str | None = None) -> Meant | None:
    """Of which cluster a context is, the current one by default; None where it is not of ours. Raises UsageError."""
    name = name or current(files)
    for data in loaded(files).values():
        if (entry := named(data, "contexts", name)) is not None:
            return marked(entry["context"])
    return None


def current(files: Sequence[Path]) -> str:
    return next((str(data[CURRENT]) for data in loaded(files).values() if data.get(CURRENT)), "")


def merged(config: Config, known: dict[Path, Config], files: Sequence[Path]) -> set[Path]:
    """Changes `known`; gives the files that changed."""
    default = next(iter(known), files[-1])
    touched = set()
    for section, kind in SECTIONS.items():
        (entry,) = config[section]
        home = next((path for path, data in known.items() if named(data, section, entry["name"])), None)
        if home is None:
            data = known.setdefault(default, {"apiVersion": "v1", "kind": "Config"})
            data[section] = data.get(section) or []
            data[section].append(entry)
            touched.add(default)
            continue
        there = named(known[home], section, entry["name"])
        assert there is not None
        if marked(there.get(kind)) is None:
            raise UsageError(
                f"{home} has a {kind} {entry['name']} that landbridge has not written, and it stays as it is. Take "
                "another name with --context NAME."
            )
        there[kind] = entry[kind]
        touched.add(home)
    if not any(data.get(CURRENT) for data in known.values()):
        known[default][CURRENT] = config[CURRENT]
        touched.add(default)
    return touched


def removed(name: str, meant: Meant, known: dict[Path, Config]) -> set[Path]:
    """Changes `known`; gives the files that changed. Entries without our mark stay."""
    touched = set()
    for section in ("contexts", "users", "clusters"):
        kind = SECTIONS[section]
        for path, data in known.items():
            entry = named(data, section, name)
            if entry is None or marked(entry.get(kind)) != meant or (section != "contexts" and used(known, kind, name)):
                continue
            data[section].remove(entry)
            touched.add(path)
    for path, data in known.items():
        if touched and data.get(CURRENT) == name:
            data[CURRENT] = ""
            touched.add(path)
    return touched


def used(known: Mapping[Path, Config], kind: str, name: str) -> bool:
    """Whether a context, another's perhaps, still needs a user or a cluster."""
    contexts = (entry.get("context") or {} for data in known.values() for entry in data.get("contexts") or [])
    return any(one.get(kind) == name for one in contexts)


def named(data: Config, section: str, name: str) -> Config | None:
    return next((entry for entry in data.get(section) or [] if entry.get("name") == name), None)


def changed(files: Sequence[Path], change: Callable[[dict[Path, Config]], set[Path]]) -> list[Path]:
    """Locks the files that a change is about, makes it of what they hold then, and writes each in one step."""
    about = change(loaded(files))
    with contextlib.ExitStack() as locks:
        for path in sorted(about):
            locks.enter_context(locked(path))
        known = loaded(files)
        written = sorted(change(known))
        for path in written:
            write(path, known[path])
    return written


def loaded(files: Sequence[Path]) -> dict[Path, Config]:
    """Those that are there. Raises UsageError for one that can't be read: kubectl would not take it either."""
    found: dict[Path, Config] = {}
    for path in files:
        try:
            data = yaml().load(path.read_text()) or {}
        except FileNotFoundError:
            continue
        except (OSError, YAMLError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} is no kubeconfig that can be read: {error}. Nothing was changed.") from None
        if not isinstance(data, dict):
            raise UsageError(f"{path} is no kubeconfig: it holds no mapping. Nothing was changed.")
        found[path] = data
    return found


def yaml() -> YAML:
    """One that leaves what it has not changed as it was written."""
    made = YAML()
    made.preserve_quotes, made.width = True, 1_000_000
    return made


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """As kubectl does it: a file beside that only one can make. Raises UsageError."""
    lock, until = path.with_name(path.name + LOCK), time.monotonic() + LOCK_SECONDS
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        while True:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(lock, os.O_CREAT | os.O_EXCL, 0o600))
                break
            if time.monotonic() > until:
                raise UsageError(
                    f"{lock} is there: another program writes {path.name}, or was killed while it did. Wait for it, or "
                    "delete that file if nothing runs. Nothing was changed."
                )
            time.sleep(0.1)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}. Name another file in {KUBECONFIG}.") from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def write(path: Path, data: Config) -> None:
    """In one step, behind a link where there is one; what was there is kept beside it. Raises UsageError."""
    yaml().dump(data, text := io.StringIO())
    real = path.resolve()
    draft = real.with_name(f".{real.name}.{secrets.token_hex(4)}")
    try:
        mode = real.stat().st_mode & 0o777 if real.exists() else 0o600
        if real.exists():
            shutil.copy2(real, real.with_name(real.name + BACKUP))
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text.getvalue())
        draft.chmod(mode)
        draft.replace(real)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise UsageError(f"{path} cannot be written: {error.strerror}. It is as it was.") from None
