"""Worlds of the local cloud that are made once a test session and loaded by each file that asks for one.

`cloud = saved.world("small", make, FLEET)` in a test file is a fixture: a Cloud of that file's own, in which all stands
that `make` had come up, with its nodes at work. Workers of one session share what the first of them has made.
"""

import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest

from fleet.world import current

from .cloud import COMMAND, SECONDS, Cloud
from .cloud import make as make_cloud

Make = Callable[[Cloud], object]
# The fleet file's text, or what writes it, with its ledger, into a folder and gives its path.
Fleet = str | Callable[[Path], Path]
READY_SECONDS = 300.0


def world(
    name: str, make: Make, fleet: Fleet, scope: Literal["function", "module", "package"] = "module"
) -> Callable[..., Any]:
    """The fixture. `make` gets the Cloud in which it brings up what is to be saved."""

    @pytest.fixture(scope=scope)
    def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
        with opened(tmp_path_factory, name, make, fleet) as cloud:
            yield cloud

    return loaded


@contextmanager
def opened(factory: pytest.TempPathFactory, name: str, make: Make, fleet: Fleet) -> Iterator[Cloud]:
    """A world of one's own, for as long as the body runs."""
    shelf = shared(factory)
    made(shelf, name, make, fleet)
    cloud = load(shelf, name, factory.mktemp(name))
    try:
        await_nodes(cloud)
        yield cloud
    finally:
        cloud.stop()


def shared(factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of this session have, and no other session."""
    base = factory.getbasetemp()
    shelf = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "saved-worlds"
    shelf.mkdir(exist_ok=True)
    return shelf


def made(shelf: Path, name: str, make: Make, fleet: Fleet) -> None:
    """Has it there. One worker makes it while others wait; where it fails, all that ask hear why, at once."""
    failed = shelf / f"{name}.failed"
    with (shelf / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if failed.exists():
            pytest.fail(f"the world {name} could not be made: {failed.read_text()}")
        if (shelf / name / "saved.json").exists():
            return
        folder = shelf / f"{name}.making"
        folder.mkdir()
        cloud = drafted(folder, fleet)
        try:
            make(cloud)
            local(cloud, "save", name, shelf=shelf)
            files = shelf / f"{name}.files"
            files.mkdir()
            for file in told(cloud.fleet):
                shutil.copy2(file, files / file.name)
        except BaseException as error:
            failed.write_text(f"{type(error).__name__}: {error}")
            raise
        finally:
            cloud.stop()


def drafted(folder: Path, fleet: Fleet) -> Cloud:
    if isinstance(fleet, str):
        return make_cloud(folder, fleet)
    return Cloud(folder / "home", fleet(folder))


def load(shelf: Path, name: str, folder: Path) -> Cloud:
    """A copy below `folder`, up; its machines boot."""
    for file in (shelf / f"{name}.files").iterdir():
        shutil.copy2(file, folder / file.name)
    cloud = Cloud(folder / "home", folder / "fleet.yaml")
    local(cloud, "load", name, "--yes", shelf=shelf)
    return cloud


def told(fleet: Path) -> list[Path]:
    """The fleet file and what lies beside it: ledgers, and what `make` may have noted down there, as fleet.….json."""
    return sorted(fleet.parent.glob(f"{fleet.stem}.*"))


def note(cloud: Cloud, name: str, what: Any) -> None:
    """For those who load what is made now."""
    cloud.fleet.with_name(f"{cloud.fleet.stem}.{name}.json").write_text(json.dumps(what))


def noted(cloud: Cloud, name: str) -> Any:
    return json.loads(cloud.fleet.with_name(f"{cloud.fleet.stem}.{name}.json").read_text())


def local(cloud: Cloud, *words: str, code: int = 0, shelf: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`landbridge local …`; worlds are saved on `shelf`, or in the cloud's own home."""
    done = subprocess.run(
        [COMMAND, "local", *words],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=cloud._environment() | ({"LANDBRIDGE_SAVED": str(shelf)} if shelf else {}),
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def await_nodes(cloud: Cloud, since: datetime | None = None) -> None:
    """Returns when every node of every cluster has told since `since`, which is now, that it is there, and is Ready."""
    begun, deadline = since or datetime.now(UTC), time.monotonic() + READY_SECONDS
    for cluster in current(cloud.fleet).fleet.clusters:
        while late := late_nodes(cloud, cluster, begun):
            assert time.monotonic() < deadline, f"{cluster}: {late}"
            time.sleep(1.0)  # a look is a quarter of a second of a core


def late_nodes(cloud: Cloud, cluster: str, since: datetime) -> list[str]:
    """Who is missing, or what the API says that does not answer yet."""
    asked = [COMMAND, "kubectl", "--fleet", str(cloud.fleet), "--cluster", cluster, "--local"]
    words = ["get", "nodes,leases", "--all-namespaces", "--output", "json", "--request-timeout", "5s"]
    done = subprocess.run(
        [*asked, *words], capture_output=True, text=True, env=cloud._environment(), timeout=60, check=False
    )
    if done.returncode:
        return [done.stderr.strip()[-300:] or "kubectl failed"]
    items = json.loads(done.stdout)["items"]
    heard = {
        one["metadata"]["name"]: datetime.fromisoformat(one["spec"]["renewTime"])
        for one in items
        if one["kind"] == "Lease" and one["metadata"]["namespace"] == "kube-node-lease"
    }
    nodes = [one for one in items if one["kind"] == "Node"]
    return [
        one["metadata"]["name"]
        for one in nodes
        if heard.get(one["metadata"]["name"], datetime.min.replace(tzinfo=UTC)) < since
        or not any(c["type"] == "Ready" and c["status"] == "True" for c in one["status"].get("conditions", ()))
    ]
