"""How the tests share two cores and an hour.

Two workers take files of LONG, which keep the cores busy, while the others take the rest, which mostly waits. Once
LANDBRIDGE_TESTS_UNTIL (seconds since 1970) is past, no such file begins any more. Their order is then another one for
each commit, so that none is always left out; what is left out is a skipped test that names its file. Without the
variable every test runs.
"""

import hashlib
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

UNTIL = "LANDBRIDGE_TESTS_UNTIL"
ROOT = Path(__file__).parents[1]
# Tests of the example fleet, as tests/stacks/conftest.py brings it up.
EXAMPLE = ("by_ssm", "cluster", "copies", "laptops", "links", "packets", "region", "second_cluster")
# Each has a cluster with thousands of GPUs.
BURSTS = ("burst", "demo", "drain", "faults", "node_lost", "overflow", "rehearsal", "spares")
# Folders and files of minutes: whole clouds, daemons, bakes.
LONG = (
    "tests/components/control_plane/test_rotation_on_machines.py",
    "tests/components/pools/test_join_cluster.py",
    "tests/e2e/",
    "tests/images/test_bake.py",
    "tests/images/test_services.py",
    "tests/lab/",
    "tests/local/workers/test_cut_off.py",
    *(f"tests/services/autoscaler/test_{name}.py" for name in BURSTS),
    "tests/stacks/test_addons.py",
    "tests/stacks/azure/test_cluster.py",
    "tests/stacks/test_pool.py",
    "tests/stacks/azure/test_pool.py",
    "tests/stacks/package/test_installed.py",
    "tests/stacks/package/test_languages.py",
    "tests/stacks/package/test_python.py",
    *(f"tests/stacks/test_{name}.py" for name in EXAMPLE),
)
# Files that share what is brought up once: one worker has them all.
TOGETHER = (
    (
        "tests/e2e/test_alarms_of_faults.py",
        "tests/e2e/test_experiments.py",
        "tests/e2e/test_maintenance.py",
        "tests/e2e/test_monitoring.py",
        "tests/e2e/test_queues.py",
        "tests/e2e/test_why.py",
    ),
    ("tests/components/addons/",),
    ("tests/landbridge/pool/",),
    ("tests/services/maintenance/",),
    tuple(
        f"tests/landbridge/{name}.py"
        for name in (
            "access/test_people",
            "cluster/test_kubeconfig",
            "etcd/test_etcd",
            "test_remote_execution_ssh",
        )
    ),
    ("tests/local/providers/kubernetes/",),
    tuple(f"tests/stacks/test_{name}.py" for name in EXAMPLE),
)
# So many whole clouds fit beside each other.
CLOUDS = 2
begun = pytest.StashKey[set[str]]()


def unit(file: str) -> str:
    """What one worker has as a whole; `file` is told from the root."""
    return next((group[0] for group in TOGETHER if file.startswith(group)), file)


def is_long(file: str) -> bool:
    """Of a file, or of a unit."""
    return file.startswith(LONG)


def file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def commit() -> str:
    """The one that is tested; empty outside of a clone."""
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return asked.stdout.strip()


def place(file: str, seed: str) -> str:
    """Sorts files of one commit, units as a whole: short ones stay where they are."""
    if not is_long(file):
        return ""
    return " ".join(hashlib.sha256(f"{seed} {name}".encode()).hexdigest() for name in (unit(file), file))


class Beside(LoadFileScheduling):
    """Whole units, as pytest-xdist has whole files; but a worker has a kind that it takes while there are any."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid.partition("::")[0])

    def _assign_work_unit(self, node: Any) -> None:
        wants_long = self.nodes.index(node) < CLOUDS
        fitting = (file for file in self.workqueue if is_long(file) == wants_long)
        self.workqueue.move_to_end(next(fitting, next(iter(self.workqueue))), last=False)
        super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Beside | None:
    return Beside(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if UNTIL in os.environ:
        seed = commit()
        items.sort(key=lambda item: place(file_of(item), seed))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    file = file_of(item)
    if UNTIL not in os.environ or not is_long(file):
        return
    here = item.config.stash.setdefault(begun, set())
    # A file, not its unit: one whole cloud with the tests of five files takes half of CI's time.
    if file not in here and time.time() > float(os.environ[UNTIL]):
        pytest.skip(f"no time left for {file}: `make test-all` runs it")
    here.add(file)
