"""Machine types and quotas as the local clouds tell them, and as somebody has told them to: what a run, and commands,
make of it. Both servers are real, and so are the clouds' own clients.
"""

import datetime
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.network import NetworkManagementClient
from click.testing import CliRunner, Result

from fleet import shape_book
from fleet.errors import FleetError
from fleet.world import World, current
from landbridge.commands import landbridge
from landbridge.quotas import read
from landbridge.quotas.table import Row, Table
from landbridge.shapes import check, clients
from landbridge.up import answers
from landbridge.up.run_context import How
from tests.local.aws.conftest import clients as boto_clients
from tests.local.aws.conftest import served as aws_served
from tests.local.aws.support import image
from tests.local.azure.support import SUBSCRIPTION, LocalAzure
from tests.local.azure.support import served as azure_served

ROOT = Path(__file__).parents[2]
WEST, EAST, SOUTH = "us-west-2", "us-east-1", "southcentralus"
P5, H100 = "p5.48xlarge", "Standard_ND96isr_H100_v5"
Own = Callable[..., Any]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    yield from aws_served()


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAzure]:
    yield from azure_served(tmp_path_factory.mktemp("azure"))


@pytest.fixture
def aws(endpoint: str) -> Iterator[Own]:
    """Its own API, which forgets what a test has said."""
    from tests.local.aws.conftest import asker

    ask: Own = asker(endpoint)
    yield ask
    for name in ("offerings", "quotas"):
        ask(name, {})


@pytest.fixture
def south(azure: LocalAzure) -> Iterator[Own]:
    yield azure.own
    for name in ("skus", "quotas"):
        azure.own(name, {})


@pytest.fixture
def fleet_file(
    tmp_path: Path, endpoint: str, azure: LocalAzure, aws: Own, south: Own, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A user who is signed in to both: Azure's names lead to the server."""
    for name in ("fleet.yaml", "fleet.lock.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    asked = SimpleNamespace(
        compute=azure.client(ComputeManagementClient), network=azure.client(NetworkManagementClient)
    )
    of = boto_clients(endpoint)
    monkeypatch.setattr(clients, "azure_clients", lambda _: asked)
    monkeypatch.setattr(read, "azure_clients", lambda _: asked)
    for module in (clients, read):
        monkeypatch.setattr(module, "aws_clients", lambda _, region, **__: lambda service: of(service, region))
    return tmp_path / "fleet.yaml"


@pytest.fixture
def world(fleet_file: Path) -> World:
    return current(fleet_file)


def line_of(file: Path, pool: str) -> int:
    return next(n for n, text in enumerate(file.read_text().splitlines(), 1) if text.strip().startswith(f"{pool}:"))


def compared(world: World, *stacks: str) -> list[str]:
    names = stacks or ("main", "west-gpu", "east-gpu", "south-gpu", "cpu", "system", f"{WEST}-laptops")
    return check.of_stacks(world, names, clients.signed_in(world.fleet, local=False))


def test_what_both_clouds_offer_is_no_mistake(world: World) -> None:
    assert compared(world) == []


AWS_SAYS = {
    "not there": ({"zones": []}, f"west-gpu needs {P5} in {WEST}, and AWS does not offer it there. Choose another"),
    "not in a zone": (
        {"zones": ["us-west-2a", "us-west-2b"]},
        f"west-gpu needs {P5} in {WEST}, zone c, and it is not offered there. Choose zones of the pool out of a, b, or",
    ),
    "fewer GPUs": ({"gpus": 4}, f"pool west-gpu says gpus: 8, and a {P5} has 4 to AWS. Write gpus: 4, or"),
}
AZURE_SAYS = {
    "not there": ({"offered": False}, f"south-gpu needs {H100} in {SOUTH}, and Azure does not offer it there. Choose"),
    "not to this subscription": (
        {"restricted": "NotAvailableForSubscription"},
        f"south-gpu needs {H100} in {SOUTH}, and it is not offered to this subscription. Have Azure's support open it",
    ),
    "not in a zone to this subscription": (
        {"restricted": "NotAvailableForSubscription", "restricted_zones": ["2"]},
        "zone 2, and it is not offered to this subscription. Choose zones of the pool out of 1, 3, or",
    ),
    "not in a zone": (
        {"zones": ["2", "3"]},
        "zone 1, and it is not offered there. Choose zones of the pool out of 2, 3",
    ),
    "more GPUs": ({"gpus": 16}, f"a {H100} has 8 GPUs to the tables that come with Landbridge, and 16 to Azure"),
}


@pytest.mark.parametrize("case", AWS_SAYS)
def test_aws_s_word_against_the_fleet_file_is_an_error_with_its_line(world: World, aws: Own, case: str) -> None:
    told, words = AWS_SAYS[case]
    aws("offerings", {WEST: {P5: told}})
    with pytest.raises(FleetError) as caught:
        compared(world)
    line = line_of(world.path, "west-gpu")
    assert f"fleet.yaml:{line}: {words}" in str(caught.value)
    assert all(str(one).startswith(f"fleet.yaml:{line}: ") for one in caught.value.problems), "and no other is wrong"
    assert compared(world, "east-gpu", "cpu") == [], "who is not of the run is not asked about"


@pytest.mark.parametrize("case", AZURE_SAYS)
def test_azure_s_word_against_the_fleet_file_is_an_error_with_its_line(world: World, south: Own, case: str) -> None:
    told, words = AZURE_SAYS[case]
    south("skus", {SOUTH: {H100: told}})
    with pytest.raises(FleetError) as caught:
        compared(world)
    assert f"fleet.yaml:{line_of(world.path, 'south-gpu')}: " in str(caught.value)
    assert words in str(caught.value)


def test_control_planes_and_laptops_are_compared_with_their_own_lines(world: World, aws: Own) -> None:
    aws("offerings", {WEST: {"m7i.xlarge": {"zones": []}, "c7i.large": {"zones": []}}})
    with pytest.raises(FleetError) as caught:
        compared(world)
    told = str(caught.value)
    assert re.search(r"fleet\.yaml:\d+: API servers of main needs m7i\.xlarge in us-west-2, and AWS does not", told)
    assert "Choose another size for cluster main" in told
    assert re.search(r"fleet\.yaml:\d+: laptops of us-west-2 needs c7i\.large", told)
    assert "Choose laptops: false" in told


def test_a_cloud_that_does_not_answer_is_told_and_stops_nobody(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "aws_clients", lambda _, region, **__: lambda of: boto_clients(NOBODY)(of, region))
    (note,) = compared(world, "west-gpu", "south-gpu")
    assert note.startswith(f"{WEST}: machine types are not compared with the cloud's: EC2 in {WEST} does not tell")


NOBODY = "http://127.0.0.1:9"


def run(world: World, **how: Any) -> Any:
    """What `Asking` sees of a run."""
    stacks = dict.fromkeys(("main", "west-gpu", "east-gpu"))
    place = SimpleNamespace(world="real")
    return SimpleNamespace(world=world, stacks=stacks, how=How(**how), place=place, interrupted=False, notes=[])


def asked(world: World, *, destroy: bool = False, **how: Any) -> answers.Asking:
    with answers.Asking(run(world, **how), {"east-gpu"}, destroy=destroy) as asking:
        asking.end()
    return asking


def test_a_run_asks_about_stacks_that_have_changed_unless_it_destroys_or_is_told_not_to(world: World, aws: Own) -> None:
    aws("offerings", {EAST: {P5: {"zones": []}}})
    assert asked(world).run.notes == [], "east-gpu is as it was"
    aws("offerings", {WEST: {P5: {"zones": []}}})
    with pytest.raises(FleetError, match="west-gpu needs"):
        asked(world)
    asked(world, ignored=("shapes",))
    asked(world, destroy=True)


def row(table: Table, region: str, name: str) -> Row:
    (found,) = [one for one in table.rows if (one.need.region, one.name) == (region, name)]
    return found


def numbers(found: Row) -> tuple[int, ...]:
    assert found.told
    return (*map(int, found.told[1:]), found.now, found.most)


def test_quotas_of_both_clouds_beside_what_the_fleet_needs(
    fleet_file: Path, endpoint: str, azure: LocalAzure, aws: Own, south: Own
) -> None:
    fleet = current(fleet_file).fleet
    aws("quotas", {"L-417A185B": 11_520, "L-1216C47A": 32})
    south("quotas", {SOUTH: {"standardNDSH100v5Family": 4_800, "cores": 9_600}})
    ec2 = boto_clients(endpoint)("ec2", WEST)
    launched = []
    for tags in ([{"Key": "landbridge:fleet", "Value": "example"}], [{"Key": "landbridge:fleet", "Value": "other"}]):
        specification = [{"ResourceType": "instance", "Tags": tags}]
        launch = {"ImageId": image(ec2), "InstanceType": "m7i.xlarge", "MinCount": 2, "MaxCount": 2}
        made = ec2.run_instances(**launch, TagSpecifications=specification)
        launched += [one["InstanceId"] for one in made["Instances"]]
    group = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/example-{SOUTH}"
    azure.put(group, {"location": SOUTH})
    address = {"location": SOUTH, "sku": {"name": "Standard"}, "properties": {"publicIPAllocationMethod": "Static"}}
    azure.put(f"{group}/providers/Microsoft.Network/publicIPAddresses/hub-1", address)
    try:
        found = read.table(fleet, read.signed_in(fleet, local=False), datetime.datetime.now().timestamp())
    finally:
        ec2.terminate_instances(InstanceIds=launched)
    assert not found.away
    # Limit, used by all, by the fleet; needed now and at most: 3 of 2 vCPUs, 2 of 4, 2 of 2, 2 to 4 of 2, up to 50 of 32.
    assert numbers(row(found, WEST, "standard")) == (32, 16, 8, 22, 1_626)
    assert numbers(row(found, WEST, "p")) == (11_520, 0, 0, 0, 7_680)
    assert numbers(row(found, EAST, "p")) == (11_520, 0, 0, 0, 11_520)
    assert numbers(row(found, "eu-west-1", "p")) == (11_520, 0, 0, 0, 38_400)
    assert numbers(row(found, WEST, "addresses"))[0:1] + numbers(row(found, WEST, "addresses"))[3:] == (5, 3, 3)
    assert numbers(row(found, SOUTH, "cores")) == (9_600, 0, 0, 0, 9_600)
    assert numbers(row(found, SOUTH, "families.standardNDSH100v5Family")) == (4_800, 0, 0, 0, 9_600)
    assert numbers(row(found, SOUTH, "addresses")) == (1_000, 1, 1, 3, 3)
    verdicts = {(one.need.region, one.name): one.verdict for one in found.rows if one.verdict != "enough"}
    assert verdicts == {
        (WEST, "standard"): "too small at most",
        ("eu-west-1", "p"): "too small at most",
        (SOUTH, "families.standardNDSH100v5Family"): "too small at most",
    }
    assert found.refusals() == [], "as it begins it fits"
    west = row(found, WEST, "standard")
    assert west.ask == (
        "aws service-quotas request-service-quota-increase --region us-west-2 --service-code ec2 "
        "--quota-code L-1216C47A --desired-value 1634",
        "https://us-west-2.console.aws.amazon.com/servicequotas/home/services/ec2/quotas/L-1216C47A",
    ), "with what others use"
    assert (
        "--limit-object value=9600 --resource-type dedicated"
        in (row(found, SOUTH, "families.standardNDSH100v5Family").ask[0])
    )


def told(*words: str, file: Path) -> Result:
    found = CliRunner().invoke(landbridge, [*words, "--fleet", str(file)], standalone_mode=False)
    if found.exception:
        raise found.exception
    return found


def test_the_command_shows_them_and_a_run_is_refused_that_has_not_enough(
    fleet_file: Path, aws: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    aws("quotas", {"L-1216C47A": 20})
    found = told("quotas", file=fleet_file)
    assert found.return_value == 1
    assert re.search(r"us-west-2 +standard +vCPUs +20 +0 +0 +22 +1,626 +too small *$", found.stdout, re.MULTILINE)
    assert "--quota-code L-1216C47A --desired-value 1626" in found.stdout
    assert "fleet.yaml says that Azure granted 9,600 of cores in southcentralus, and Azure says 10,000" in found.stdout
    document = json.loads(told("quotas", "--json", file=fleet_file).stdout)
    (one,) = [row for row in document["quotas"] if (row["region"], row["quota"]) == (WEST, "standard")]
    assert (document["enough"], one["verdict"], one["limit"], one["now"]["all"]) == (False, "too small", 20, 22)
    refused = asked(current(fleet_file), check_quotas=True)
    refusals = refused.refusals
    assert len(refusals) == 1
    assert refusals[0].startswith(
        "us-west-2: the quota standard (L-1216C47A) is 20 vCPUs, others in the account use 0, and the fleet needs 22 as "
        "it begins (etcd of main 6, API servers of main 8, laptops of us-west-2 4, system 4). Ask for 1,626: `aws "
    )
    assert refused.table
    assert refused.table.as_json()["enough"] is False
    assert asked(current(fleet_file)).table is None, "nobody has asked for it"


def test_a_region_whose_quotas_cannot_be_read_is_no_yes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "aws_clients", lambda _, region, **__: lambda of: boto_clients(NOBODY)(of, region))
    refused = asked(world, check_quotas=True, ignored=("shapes",))
    assert refused.table
    assert {*refused.table.away} == {WEST, EAST, "eu-west-1"}
    assert refused.refusals[0].startswith(
        f"{WEST}: quotas can't be checked: AWS does not tell its quotas (servicequotas:"
    )
    assert row(refused.table, WEST, "p").verdict == "not told"


def test_shapes_are_fetched_into_the_file_that_counts_then(
    fleet_file: Path, aws: Own, south: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    text = fleet_file.read_text().replace("instance_type: c7i.8xlarge", "instance_type: m6idn.8xlarge")
    fleet_file.write_text(text)
    with pytest.raises(FleetError, match=r"pool cpu: the size of a m6idn\.8xlarge is not known here"):
        told("quotas", file=fleet_file)
    aws("offerings", {EAST: {P5: {"zones": ["us-east-1b"]}}, "eu-west-1": {P5: {"zones": []}}})
    south("skus", {SOUTH: {H100: {"zones": ["1"]}}})
    found = told("shapes", "refresh", file=fleet_file)
    assert found.return_value == 0
    assert "m6idn.8xlarge is new: 32 vCPUs, 128 GiB, 0 GPUs" in found.stdout
    assert f"Not offered there: {P5}." in found.stdout
    assert "fleet.shapes.yaml is written: commit it." in found.stdout
    book = shape_book.load(fleet_file.with_name("fleet.shapes.yaml"))
    assert book[EAST].types[P5].zones == ("b",)
    assert (book[SOUTH].types[H100].zones, book[SOUTH].types[H100].gpu) == (("1",), "h100")
    assert P5 not in book["eu-west-1"].types
    assert book[WEST].date == datetime.datetime.now(datetime.UTC).date()
    shown = told("shapes", file=fleet_file)
    assert re.search(r"us-west-2 +m6idn.8xlarge +32 +128 .* 1 x 1900 GB +a b c d? ", shown.stdout)
    assert f"Shapes are of {shapes_day()}" in shown.stdout, "the oldest: eu-west-1's are those of the tables"
    document = json.loads(told("shapes", "--json", file=fleet_file).stdout)
    assert {one["instance_type"] for one in document["shapes"] if one["region"] == SOUTH} == {H100}


def shapes_day() -> datetime.date:
    from fleet.aws import sizes

    return sizes.DATE


def test_a_region_that_does_not_answer_keeps_its_shapes(fleet_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told("shapes", "refresh", "--region", WEST, file=fleet_file).return_value == 0
    before = (fleet_file.parent / "fleet.shapes.yaml").read_text()
    monkeypatch.setattr(clients, "aws_clients", lambda _, region, **__: lambda of: boto_clients(NOBODY)(of, region))
    found = told("shapes", "refresh", "--region", WEST, file=fleet_file)
    assert found.return_value == 1
    assert (
        "Not fetched: EC2 in us-west-2 does not tell its machine types (ec2:DescribeInstanceTypes and" in found.stdout
    )
    assert "Nothing was fetched, and nothing is written." in found.stdout
    assert (fleet_file.parent / "fleet.shapes.yaml").read_text() == before
