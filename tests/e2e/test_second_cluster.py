"""Runs in a second cluster, whose machines are bought: each example as it is, runs that move there, and its end."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.components.pools.joining_client import eventually
from tests.support import saved

from .queued import QUEUED, READY_SECONDS, Queued, begun
from .researcher import Researcher
from .worlds import WORLDS

pytestmark = [pytest.mark.cloud, pytest.mark.matrix, pytest.mark.timeout(1800)]
MAIN = "  main: {region: us-west-2, kubernetes: 1.36.2}\n"
SYSTEM = "  system: {kind: system, cluster: main,"
TWO = (
    QUEUED.replace(MAIN, MAIN + MAIN.replace("main", "second"))
    .replace("laptops: true", "laptops: main")
    .replace("queues: {main: {gpus: 16, borrows: 0}}", "queues: {main: {gpus: 16, borrows: 0}, second: {gpus: 16}}")
    .replace(
        "  cpu: {kind: cpu,",
        "  second-gpu: {kind: gpu, cluster: second, region: us-west-2, owner: lab, "
        "instance_type: p5.48xlarge, gpus: 8, max: 4}\n  cpu: {kind: cpu,",
    )
    .replace(
        SYSTEM,
        "  second-system: {kind: system, cluster: second, region: us-west-2, owner: ops, "
        "instance_type: m7i.large, zones: [a, b], min: 2, max: 4}\n" + SYSTEM,
    )
)
# Example → what its output has, among other lines.
EXAMPLES = {
    "sum": "the sum is 3",
    "servers": "worker 0 ends at 1.00",
    "mpi": "of 16 on mpi-",
    "redis": "of 100",
}
THERE = ("--cluster", "second")
HERE = ("--cluster", "main")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Queued]:
    with saved.opened(tmp_path_factory, "at-rest", *WORLDS["at-rest"]) as cloud:
        cloud.fleet.write_text(TWO)
        cloud.plan()
        yield begun(cloud, "second")


@pytest.fixture(scope="module")
def ann(two: Queued, tmp_path_factory: pytest.TempPathFactory) -> Researcher:
    return Researcher(two.cloud, "ann", tmp_path_factory.mktemp("ann"), ("main", "second"))


def known(ann: Researcher, *where: str) -> dict[str, Any]:
    """Phase by name."""
    return {one["name"]: one["phase"] for one in ann.report("runs", *where)["runs"]}


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_runs_there_as_it_is(ann: Researcher, example: str) -> None:
    done = ann.run("run", "--folder", str(ann.folder(example)), *THERE, seconds=400)
    assert EXAMPLES[example] in done.stdout
    assert "us-west-2" in done.stderr


def test_one_that_waits_moves_there_and_ends_there(ann: Researcher) -> None:
    """Of two hosts' GPUs at the site all are taken."""
    folder = ann.home / "moves"
    folder.mkdir()
    (folder / "train.sh").write_text("echo rank $RANK attempt $RUN_ATTEMPT\n")
    (folder / "sleep.sh").write_text("trap exit TERM; sleep 900 & wait\n")
    common = ("run", "--folder", str(folder), "--gpus", "16", "--detach", *HERE)
    ann.run(*common, "--name", "holds", "--", "sh", "sleep.sh")
    eventually(lambda: known(ann, *HERE).get("holds") == "runs", 120)
    ann.run(*common, "--name", "goes", "--", "sh", "train.sh")
    assert known(ann, *HERE)["goes"] == "waits"
    ann.run("runs", "move", "goes", "second", *HERE)
    assert "goes" not in known(ann, *HERE)
    done = ann.run("logs", "goes", "-f", *THERE, seconds=400)
    assert "rank 0 attempt 0" in done.stdout
    assert known(ann, *THERE)["goes"] == "done"


def test_any_cluster_is_the_one_where_it_can_begin(ann: Researcher) -> None:
    folder = ann.home / "moves"
    told = ann.report("run", "--folder", str(folder), "--gpus", "16", "--cluster", "any", "--dry-run", "--", "true")
    assert told["cluster"] == "second"


def test_what_runs_in_a_cluster_whose_add_ons_are_destroyed_ends(two: Queued, ann: Researcher) -> None:
    """Kueue would keep its queue for it."""
    assert known(ann, *HERE)["holds"] == "runs"
    gone = two.cloud.run("destroy", "main-addons", "--local", "--yes", seconds=900)
    assert "ended with its queues: jobset/holds in team-lab, which holds 16 GPUs." in " ".join(
        (gone.stdout + gone.stderr).split()
    )
    two.cloud.run("up", "main-addons", "--local", "--yes", seconds=900)
    eventually(lambda: two.ready("kueue") and two.ready("jobset"), READY_SECONDS)
