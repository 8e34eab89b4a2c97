"""fleet.shapes.yaml: written and read, what counts of it and of the tables that are shipped, and what pools may say."""

import datetime
from pathlib import Path
from typing import Any

import pytest

from components.pools import node_template
from components.pools.spec import pool_spec
from fleet import quotas, shape_book, shapes
from fleet.errors import FleetError
from fleet.loader import load, load_with_lines
from fleet.model import Fleet
from fleet.shape_book import Book, BookShape, RegionShapes
from fleet.world import current
from tests.components.pools.joining_bed import ROOT

DAY = datetime.date(2026, 11, 30)
NEW = BookShape(
    cpus=96,
    memory_gib=1536.5,
    gpus=4,
    gpu="b300",
    gpu_memory_gib=268.6,
    efa=16,
    network="6400 Gigabit",
    local_disks=4,
    local_disk_gb=3800,
    family="p",
    zones=("a", "b"),
)
SIZE = BookShape(cpus=8, memory_gib=28, rdma=True, family="standard NDX Family", zones=("1", "2"))


def book(date: datetime.date = DAY, **types: BookShape) -> Book:
    return {"us-west-2": RegionShapes(date=date, source="ec2 of us-west-2", types=types)}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    for name in ("fleet.yaml", "fleet.lock.yaml"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    return tmp_path / "fleet.yaml"


@pytest.fixture(scope="module")
def example() -> Fleet:
    return load(ROOT / "fleet.yaml")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    told = {**book(new=NEW), "southcentralus": RegionShapes(date=DAY, source="Azure: skus", types={"Standard_X": SIZE})}
    path = tmp_path / "fleet.shapes.yaml"
    assert shape_book.load(path) == {}
    shape_book.write(path, told)
    assert shape_book.load(path) == told
    assert (
        '    Standard_X: {cpus: 8, memory_gib: 28, rdma: true, family: "standard NDX Family", zones: ["1", "2"]}'
        in (path.read_text().splitlines())
    ), "a line a type"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "us-west-2: {date: 2026-11-30, source: x, types: {a: {cpus: 0, memory_gib: 1}}}",
            r"us-west-2\.types\.a\.cpus",
        ),
        ("us-west-2: {date: 2026-11-30, source: x, types: {a: {cpus: 1}}}", r"us-west-2\.types\.a\.memory_gib"),
        ("us-west-2: {date: yesterday, source: x, types: {}}", r"us-west-2\.date"),
        ("us-west-2: {date: 2026-11-30, source: x, types: {}, more: 1}", r"us-west-2\.more"),
    ],
)
def test_a_damaged_file_is_one_error_with_its_line(file: Path, text: str, told: str) -> None:
    (file.parent / "fleet.shapes.yaml").write_text(f"{text}\n")
    with pytest.raises(FleetError, match=rf"^fleet\.shapes\.yaml:1: {told}: "):
        load(file)


def test_the_newer_one_counts(example: Fleet) -> None:
    other = NEW.model_copy(update={"gpus": 8})
    known = shapes.listed(example, "us-west-2", "p5.48xlarge")
    assert known
    for days, cpus in ((-1, 192), (0, 96), (1, 96)):
        fleet = example.with_shapes(book(known.date + datetime.timedelta(days), **{"p5.48xlarge": other}))
        found = shapes.listed(fleet, "us-west-2", "p5.48xlarge")
        assert found
        assert found.shape.cpus == cpus, days
        assert (found.source == "ec2 of us-west-2") is (cpus == 96)
        elsewhere = shapes.listed(fleet, "us-east-1", "p5.48xlarge")
        assert elsewhere
        assert elsewhere.shape.cpus == 192, "a region's word is of that region"
    assert (known.days_old(known.date + datetime.timedelta(91)), known.days_old(known.date)) == (91, 0)


def with_type(file: Path, name: str, gpus: int) -> None:
    was = "instance_type: p5.48xlarge, gpus: 8, max: 40"
    file.write_text(file.read_text().replace(was, f"instance_type: {name}, gpus: {gpus}, max: 40"))


def test_a_type_that_no_table_has_is_one_once_it_was_fetched(file: Path) -> None:
    with_type(file, "p7.24xlarge", 4)
    line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if "west-gpu:" in text)
    with pytest.raises(FleetError) as caught:
        load(file)
    assert str(caught.value) == (
        f"fleet.yaml:{line}: pool west-gpu: the size of a p7.24xlarge is not known here, and the autoscaler needs it. "
        "Fetch it with `landbridge shapes refresh`, or choose another type."
    )
    assert load_with_lines(file, fetched=False).fleet.pools["west-gpu"].instance_type == "p7.24xlarge"
    shape_book.write(file.with_name("fleet.shapes.yaml"), book(**{"p7.24xlarge": NEW}))
    world = current(file)
    spec = pool_spec(world.fleet, world.plan, "west-gpu")
    assert (spec.hardware.gpus, spec.hardware.model, spec.hardware.efa) == (4, "b300", 16)
    told: Any = node_template.template(spec, "us-west-2a")["status"]["capacity"]
    assert (told["cpu"], told["nvidia.com/gpu"], told["vpc.amazonaws.com/efa"]) == ("96", "4", "16")
    assert told["memory"] == f"{int(1536.5 * 1024 * 0.925)}Mi"
    assert quotas.grown(world.fleet, "us-west-2")[("p",)] == {"west-gpu": 40 * 96}


def test_another_number_of_gpus_than_the_type_has_is_an_error(file: Path) -> None:
    with_type(file, "p5.48xlarge", 4)
    with pytest.raises(
        FleetError, match=r"^fleet\.yaml:\d+: pool west-gpu says gpus: 4, and a p5\.48xlarge has 8\. Write"
    ):
        load(file)


def test_gpus_on_a_type_without_any_are_an_error(file: Path) -> None:
    with_type(file, "m7i.large", 1)
    with pytest.raises(
        FleetError, match=r"pool west-gpu says gpus: 1, and a m7i\.large has none\. Choose a type with GPUs;"
    ):
        load(file)


def test_a_family_of_azure_that_was_fetched_may_have_a_quota(file: Path) -> None:
    family = "{standardNDSH100v5Family: 9600, standardNDSGB400v9Family: 10}"
    file.write_text(file.read_text().replace("{standardNDSH100v5Family: 9600}", family))
    with pytest.raises(
        FleetError, match="of the family standardNDSGB400v9Family, of which no machine type is known here"
    ):
        load(file)
    told = SIZE.model_copy(update={"family": "standardNDSGB400v9Family"})
    listed = RegionShapes(date=DAY, source="Azure: skus", types={"Standard_ND128isr_GB400_v9": told})
    shape_book.write(file.with_name("fleet.shapes.yaml"), {"southcentralus": listed})
    assert load(file).shape_book["southcentralus"] == listed
