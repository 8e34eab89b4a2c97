"""Which limit a group meets first."""

from typing import Any

import pytest

from services.autoscaler import limits
from services.autoscaler.settings import Settings


def settings(**told: Any) -> Settings:
    def group(name: str, pool: str, owner: str, **more: Any) -> dict[str, Any]:
        place = {"name": name, "pool": pool, "owner": owner, "region": "us-west-2"}
        return {**place, "least": 0, "most": 50, "gpus": 8, "price_usd": 50.0, "template": {}, **more}

    groups = [
        group("gpu-a", "gpu", "research"),
        group("gpu-b", "gpu", "research"),
        group("cpu-all", "cpu", "research", gpus=0, price_usd=2.0),
        group("other-a", "other", "vision"),
    ]
    for name, change in told.pop("change", {}).items():
        next(one for one in groups if one["name"] == name).update(change)
    return Settings.model_validate(
        {"cluster": "main", "region_clouds": {"us-west-2": "aws"}, "groups": groups, "limits": told}
    )


def sizes(**given: int) -> dict[str, int]:
    return {key.replace("_", "-"): given.get(key, 0) for key in ("gpu_a", "gpu_b", "cpu_all", "other_a")}


@pytest.mark.parametrize(
    ("told", "given", "name", "room"),
    [
        ({}, {"gpu_a": 20}, "gpu-a", (30, "group-maximum")),
        ({"pools": {"gpu": {"machines": 40}}}, {"gpu_a": 20, "gpu_b": 15}, "gpu-b", (5, "pool-maximum")),
        ({"pools": {"gpu": {"machines": 40}}}, {"gpu_a": 45}, "gpu-a", (0, "pool-maximum")),
        ({"owners": {"research": {"gpus": 100}}}, {"gpu_a": 5, "gpu_b": 5}, "gpu-b", (2, "owner-gpus")),
        ({"owners": {"research": {"gpus": 100}}}, {"gpu_a": 12}, "cpu-all", (50, "group-maximum")),
        ({"owners": {"research": {"gpus": 100}}}, {"gpu_a": 12}, "other-a", (50, "group-maximum")),
        ({"owners": {"research": {"price_usd": 510}}}, {"gpu_a": 8, "cpu_all": 5}, "gpu-a", (2, "owner-price")),
        ({"owners": {"research": {"price_usd": 510}}}, {"gpu_a": 8, "cpu_all": 5}, "cpu-all", (45, "group-maximum")),
        ({"fleet": {"gpus": 160}}, {"gpu_a": 10, "other_a": 4}, "gpu-b", (6, "fleet-gpus")),
        ({"fleet": {"price_usd": 1000}}, {"gpu_a": 10, "other_a": 4}, "gpu-b", (6, "fleet-price")),
    ],
)
def test_the_tightest_limit_counts(
    told: dict[str, Any], given: dict[str, int], name: str, room: tuple[int, str]
) -> None:
    found = limits.room(settings(**told), sizes(**given), name)
    assert (found.machines, found.code) == room


def test_a_price_that_nobody_knows_keeps_no_cap() -> None:
    told = {"owners": {"research": {"price_usd": 1000}}, "change": {"gpu-a": {"price_usd": None}}}
    found = limits.room(settings(**told), sizes(), "gpu-a")
    assert (found.machines, found.code) == (0, "price-unknown")
    assert "nobody has said what gpu costs" in found.why
    assert limits.room(settings(**told), sizes(), "gpu-b").machines == 20, "none of those is there"
    assert limits.room(settings(**told), sizes(gpu_a=1), "gpu-b").code == "price-unknown"


def test_groups_that_the_cloud_does_not_have_yet_hold_nothing() -> None:
    known = sizes(gpu_a=5)
    del known["gpu-b"]
    assert limits.room(settings(pools={"gpu": {"machines": 9}}), known, "gpu-a").machines == 4
