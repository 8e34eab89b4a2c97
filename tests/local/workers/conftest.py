"""A cluster for workers, and machines of its pool west-gpu; and another one beside whole machines of a site."""

import sys
from collections.abc import Callable, Iterator

import pytest

from local import namespace
from tests.components.pools.joining_cluster import Cluster, make
from tests.local.machines.host import Box, Host
from tests.local.workers import machine_bed
from tests.local.workers.worker import Worker


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    yield from make(tmp_path_factory.mktemp("workers"), gone=2, **{"pass": 0.5})


@pytest.fixture(scope="module")
def instances(cluster: Cluster) -> list[str]:
    return cluster.grow("example-west-gpu", 4)


@pytest.fixture
def worker(cluster: Cluster) -> Iterator[Callable[..., Worker]]:
    """Makes workers that end with the test."""
    made: list[Worker] = []

    def one(*given: str, **more: str) -> Worker:
        made.append(Worker(cluster, *given, **more))
        return made[-1]

    yield one
    for each in made:
        # Shown when the test fails.
        sys.stdout.write(f"{each.name}:\n{each.log()}")
        each.stop()


@pytest.fixture(scope="package")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    made = Host(tmp_path_factory.mktemp("m"), ["unshare", *namespace.usable_mode().make])
    yield made
    made.close()


@pytest.fixture(scope="package")
def authority(host: Host, tmp_path_factory: pytest.TempPathFactory) -> str:
    return machine_bed.control_plane(host, tmp_path_factory.mktemp("bed"))


@pytest.fixture(scope="package")
def box(host: Host, authority: str) -> Box:
    return machine_bed.boot(host, "host-2", authority)


@pytest.fixture(scope="package")
def other_box(host: Host, authority: str) -> Box:
    return machine_bed.boot(host, "host-1", authority)
