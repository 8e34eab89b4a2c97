"""What an account may hold and what a machine costs: families as AWS counts them, the table, and the file before it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fleet import prices, quotas
from fleet.aws import prices as aws_prices
from fleet.aws import sizes as aws_sizes
from fleet.azure import prices as azure_prices
from fleet.azure import sizes as azure_sizes
from fleet.loader import load
from fleet.model import Fleet, Quotas
from tests.components.pools.joining_bed import ROOT


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return load(ROOT / "fleet.yaml")


def changed(fleet: Fleet, pool: Mapping[str, Any] | None = None, **region: Any) -> Fleet:
    """With another us-west-2, and its GPU pool alone in it."""
    west = fleet.regions["us-west-2"].model_copy(update=region)
    gpu = fleet.pools["west-gpu"].model_copy(update=pool or {})
    return fleet.model_copy(
        update={"regions": {**fleet.regions, "us-west-2": west}, "pools": {**fleet.pools, "west-gpu": gpu}}
    )


@pytest.mark.parametrize(
    ("instance_type", "spot", "key"),
    [
        ("p5.48xlarge", False, "p"),
        ("p6-b200.48xlarge", True, "p_spot"),
        ("g6e.xlarge", True, "g_spot"),
        ("vt1.3xlarge", False, "g"),
        ("c7i.8xlarge", False, "standard"),
        ("t3.small", True, "standard_spot"),
        ("trn1.32xlarge", False, None),
        ("inf2.xlarge", False, None),
        ("hpc7a.96xlarge", False, None),
        ("x2idn.16xlarge", True, None),
    ],
)
def test_a_type_counts_where_aws_counts_it(instance_type: str, spot: bool, key: str | None, fleet: Fleet) -> None:
    pool = fleet.pools["west-gpu"].model_copy(update={"instance_type": instance_type, "spot": spot})
    assert quotas.key(pool) == key


def test_every_quota_of_the_file_has_its_code() -> None:
    assert {key for keys in quotas.KEYS.values() for key in keys} == set(Quotas.model_fields)
    assert len({quota.code for quota in quotas.QUOTAS.values()}) == 6


def test_pools_of_a_region_count_together_and_of_its_own_kind_alone(fleet: Fleet) -> None:
    # 40 machines of 192 vCPUs; system and cpu pools there are standard: 4 of 2 and 50 of 32.
    assert list(quotas.wrong(changed(fleet, quotas=Quotas(p=7680, standard=1608)))) == []
    (few,) = quotas.wrong(changed(fleet, quotas=Quotas(p=7679, standard=1608)))
    assert few[0] == ("regions", "us-west-2", "quotas", "p")
    (few,) = quotas.wrong(changed(fleet, quotas=Quotas(standard=1607)))
    assert "1608 vCPUs (cpu to 1600, system to 8)" in few[1]
    assert list(quotas.wrong(changed(fleet, {"spot": True}, quotas=Quotas(p=0, p_spot=7680)))) == []
    (few,) = quotas.wrong(changed(fleet, {"spot": True}, quotas=Quotas(p_spot=0)))
    assert "its quota p_spot is 0" in few[1]
    assert list(quotas.wrong(changed(fleet, quotas=Quotas(g=0)))) == [], "no pool is of this family"


def test_the_table_has_a_price_for_nearly_every_size_that_is_known(fleet: Fleet) -> None:
    sizes = {f"{family}.{size}" for family in aws_sizes.GIB_A_CPU for size in aws_sizes.CPUS} | set(aws_sizes.OTHERS)
    sold = {name for name in sizes if name not in ("p5e.48xlarge",) and not name.startswith(("g4dn.", "g5."))}
    assert [name for name in sorted(sold) if prices.price(fleet, "us-east-1", name) is None] == []
    assert prices.price(fleet, "us-east-1", "c7i.8xlarge") == pytest.approx(1.428)
    assert prices.price(fleet, "us-east-1", "p5.48xlarge") == 55.04
    assert prices.price(fleet, "us-east-1", "p5e.48xlarge") is None, "not sold there"
    assert set(aws_prices.OTHERS) <= {*aws_sizes.OTHERS, *(f"{f}.{s}" for f in ("g4dn", "g5") for s in aws_sizes.CPUS)}


def test_the_file_s_price_goes_before_the_table_and_alone_elsewhere(fleet: Fleet) -> None:
    capped = {"max_price_per_hour": 50.0}
    (unknown,) = prices.wrong(changed(fleet, capped))
    assert "what a p5.48xlarge costs in us-west-2 is not known" in unknown[1]
    assert list(prices.wrong(changed(fleet, capped, prices={"p5.48xlarge": 50.0}))) == []
    (dear,) = prices.wrong(changed(fleet, capped, prices={"p5.48xlarge": 50.01}))
    assert dear[0] == ("pools", "west-gpu", "max_price_per_hour")
    assert list(prices.wrong(changed(fleet, {**capped, "spot": True}))) == [], "a spot pool bids"
    assert list(prices.wrong(changed(fleet, {"max_price_per_hour": None}))) == []


@pytest.fixture(scope="module")
def azure() -> Fleet:
    return load(Path(__file__).parent / "good/azure.yaml")


def test_azure_counts_by_family_and_all_together_and_all_spot_machines_apart(azure: Fleet) -> None:
    south = azure.regions["southcentralus"]

    def found(**told: Any) -> list[tuple[str | int, ...]]:
        regions = {**azure.regions, "southcentralus": south.model_copy(update={"quotas": Quotas(**told)})}
        return [entry for entry, _, _ in quotas.wrong(azure.model_copy(update={"regions": regions}))]

    # 4 machines of 96 vCPUs, 4 of 2, 8 of 8; and 8 of 24 as spot machines, which no family counts.
    family = "standardNDSH100v5Family"
    assert found(cores=456, spot=192, families={family: 384, "StandardNCADSA100v4Family": 0}) == []
    assert found(cores=455) == [("regions", "southcentralus", "quotas", "cores")]
    assert found(spot=191) == [("regions", "southcentralus", "quotas", "spot")]
    assert found(families={family: 383}) == [("regions", "southcentralus", "quotas", "families", family)]


def test_azure_s_table_has_prices_of_what_is_known_alone(azure: Fleet) -> None:
    east = azure.model_copy(update={"regions": {"eastus": azure.regions["westeurope"]}})
    assert set(azure_prices.OTHERS) <= set(azure_sizes.OTHERS)
    assert set(azure_prices.A_CPU) <= set(azure_sizes.SERIES)
    assert prices.price(east, "eastus", "Standard_D8s_v5") == pytest.approx(0.384)
    assert prices.price(east, "eastus", "Standard_ND96isr_H100_v5") == 98.32
    assert prices.price(east, "eastus", "Standard_ND96isr_H200_v5") is None, "not sold there"
    assert prices.price(east, "eastus", "Standard_D8as_v5") is None, "the list has two prices"
    assert prices.price(azure, "southcentralus", "Standard_ND96isr_H100_v5") == 117.968, "the file's own"
    assert prices.price(azure, "southcentralus", "Standard_D8s_v5") is None, "a price of somewhere else"
