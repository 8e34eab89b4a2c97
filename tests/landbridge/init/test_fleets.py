"""Whatever is answered, the fleet loads, has addresses, and passes the policies in the first preview of all its stacks."""

import re
from pathlib import Path

import pytest

from fleet.address import reserved
from fleet.address.blocks import overlaps, parse
from fleet.loader import load
from fleet.model import Quotas
from fleet.pools import CLASSES
from fleet.world import World
from landbridge.init import machines, making, ranges
from landbridge.init.answers import Answers, Place
from stacks.catalogue import catalogue, unserved
from tests.support import golden

from .answered import DAY, EAST, TABLE, written
from .previewed import judged, previewed, refused

ANSWERS = pytest.mark.parametrize("answers", TABLE.values(), ids=TABLE)


@ANSWERS
def test_it_loads_without_remarks_and_its_ledger_fits(answers: Answers, tmp_path: Path) -> None:
    world = written(tmp_path, answers)
    assert world.remarks == ()
    assert unserved(world.fleet) == []
    assert [*world.fleet.regions] == [place.region for place in answers.regions]
    assert [*world.fleet.sites] == [*answers.sites]
    assert {pool.kind for pool in world.fleet.pools.values()} >= {*CLASSES, "cpu"}


@ANSWERS
def test_prefixes_overlap_nothing_and_leave_room(answers: Answers, tmp_path: Path) -> None:
    world = written(tmp_path, answers)
    own = [(name, parse(cidr)) for name, cidr in world.plan.aggregates().items()]
    others = [(cidr, parse(cidr)) for cidr in (*answers.reserved, *(cidr for cidr, _ in reserved.RESERVED))]
    names = {name for name, _ in own}
    assert [pair for pair in overlaps([*own, *others]) if names & {*pair}] == []
    whole = parse(world.fleet.supernet)
    assert all(whole.holds(block) for _, block in own)
    free = whole.addresses - sum(block.addresses for _, block in own)
    assert free >= sum(block.addresses for _, block in own), "as much again"


@ANSWERS
def test_gpus_are_as_many_as_were_asked_for_in_whole_machines(answers: Answers) -> None:
    fleet = making.made(answers, None, DAY).fleet
    bought = {name: pool for name, pool in fleet.pools.items() if pool.kind == "gpu" and pool.region}
    assert len(bought) == (len(answers.regions) if answers.gpus else 0)
    for pool in bought.values():
        assert pool.min == 0
        assert 0 <= pool.max * pool.gpus - answers.gpus < pool.gpus
    together = fleet.max_gpus if len(bought) > 1 else sum(pool.max * pool.gpus for pool in bought.values())
    assert 0 <= (together or 0) - answers.gpus < 8
    queued = sum(queue.gpus for team in fleet.teams.values() for queue in team.queues.values())
    rooms = sum(host.gpus for site in fleet.sites.values() for host in site.hosts.values())
    assert queued == (together or 0) + rooms


# Those that have other stacks, or other clouds below them.
@pytest.mark.parametrize("name", ["usual", "azure", "both", "azure-first", "rooms-alone"])
def test_the_first_preview_of_every_stack_passes_the_policies(name: str, tmp_path: Path) -> None:
    world = written(tmp_path, TABLE[name])
    counted, told = refused(world)
    assert told == []
    assert [*counted] == [stack.name for stack in catalogue(world.fleet)]
    assert all(counted.values())


def test_and_does_not_where_the_fleet_asks_for_what_they_refuse(tmp_path: Path) -> None:
    world = written(tmp_path, Answers(gpus=0))
    (pool,) = (stack for stack in catalogue(world.fleet) if stack.name == "cpu")
    cheap = world.fleet.pools["cpu"].model_copy(update={"max": 1, "instance_type": "c7i.large"})
    other = world.fleet.model_copy(update={"pools": {**world.fleet.pools, "cpu": cheap}})
    items = previewed(world, pool)
    assert judged(items, world) == []
    assert any("c7i" in line for line in judged(items, World(other, world.plan, world.path)))


def test_a_range_is_the_smallest_that_has_room_to_grow() -> None:
    few, many = (making.made(Answers(regions=tuple(places)), None, DAY).fleet for places in ([EAST], REGIONS))
    for fleet in (few, many):
        needed = ranges.needed(fleet)
        assert needed * ranges.GROWTH <= parse(fleet.supernet).addresses < needed * ranges.GROWTH * 4


REGIONS = [Place("aws", name) for name in ("us-east-1", "us-west-2", "eu-west-1", "eu-north-1", "sa-east-1")]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (Answers(name="Mine"), "fleet is 'Mine'. It must be"),
        (Answers(regions=(Place("aws", "us-wset-2"),)), "Perhaps you mean us-west-2"),
        (Answers(regions=(EAST,), sites=("us-east-1",)), "Give the site another name"),
        (Answers(gpus=40_008), "Set max to at most 5000"),
        (Answers(reserved=("10.0.0.1/8",)), "the prefix that holds it is 10.0.0.0/8"),
        (Answers(name="login", regions=(Place("azure", "westeurope"),)), "Choose another name than login"),
    ],
)
def test_what_makes_no_fleet_is_told_in_the_loader_s_words(answers: Answers, said: str) -> None:
    assert said in "\n".join(map(str, making.problems(answers)))


def test_machines_are_those_that_the_fleet_knows() -> None:
    from fleet import gpus
    from fleet.azure.sizes import size
    from fleet.shapes import shape

    for cloud, kinds in machines.FIRST.items():
        assert all(shape(name) for name in (kinds.gpu, kinds.cpu, kinds.system))
        assert gpus.model(kinds.gpu) == "h100"
        assert "h100" not in machines.others(cloud)
    azure = size(machines.FIRST["azure"].gpu)
    assert azure
    assert azure.gpus == machines.FIRST["azure"].gpus


@ANSWERS
def test_what_is_in_comments_is_good_as_well(answers: Answers, tmp_path: Path) -> None:
    text = making.made(answers, None, DAY).text
    open_, count = re.subn(
        r"^( *)# (?=(quotas|state|people|  alice|images|monitoring): ?)", r"\1", text, flags=re.MULTILINE
    )
    assert count >= 5
    (tmp_path / "fleet.yaml").write_text(open_)
    fleet = load(tmp_path / "fleet.yaml")
    assert fleet.state
    assert fleet.people
    assert fleet.monitoring
    assert all(region.quotas != Quotas() for region in fleet.regions.values()) or not answers.gpus


@pytest.mark.golden
@pytest.mark.parametrize("name", ["usual", "azure-first"])
def test_the_file_is_that_of_the_golden_folder(name: str) -> None:
    golden.same(Path(__file__).parent / f"golden/{name}.yaml", making.made(TABLE[name], None, DAY).text)
