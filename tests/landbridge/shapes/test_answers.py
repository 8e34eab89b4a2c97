"""What clouds answer of machine types, read: EC2's own descriptions, which moto holds, and Azure's list of SKUs."""

import json
from pathlib import Path
from typing import Any

import pytest
from azure.mgmt.compute.models import ResourceSku
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS, INSTANCE_TYPES

from fleet import shapes
from fleet.aws import sizes as aws_sizes
from fleet.azure import sizes as azure_sizes
from landbridge.shapes import aws, azure
from landbridge.shapes.offer import Offers
from local.azure.compute import sizes as local_sizes

# Of the form that Azure documents, with the names and values of its sizes' pages.
DOCUMENTED = json.loads((Path(__file__).parent / "documented/azure_skus.json").read_text())
H100 = "Standard_ND96isr_H100_v5"


def offered(region: str) -> Offers:
    return aws.read(list(INSTANCE_TYPES.values()), INSTANCE_TYPE_OFFERINGS["availability-zone"][region], region)


def skus(*told: dict[str, Any]) -> Offers:
    models = [ResourceSku._deserialize(one, []) for one in told]
    return azure.read(models, "southcentralus", {one["name"] for one in told})


def test_the_tables_are_what_ec2_tells() -> None:
    compared = 0
    for name, told in INSTANCE_TYPES.items():
        if known := shapes.shipped(name):
            compared += 1
            now = aws.shape(told, ["a"])
            for what in ("cpus", "memory_gib", "gpus", "gpu", "efa", "rdma", "family"):
                assert getattr(now, what) == getattr(known.shape, what), (name, what)
    assert compared > 150
    assert {*aws_sizes.MANY_GPUS} <= {*INSTANCE_TYPES}


def test_all_that_ec2_tells_of_a_type_is_read() -> None:
    found = offered("us-west-2")["p5.48xlarge"]
    assert found.shape.model_dump(exclude_defaults=True) == {
        "cpus": 192,
        "memory_gib": 2048.0,
        "gpus": 8,
        "gpu": "h100",
        "gpu_memory_gib": 80.0,
        "efa": 32,
        "network": "3200 Gigabit",
        "local_disks": 8,
        "local_disk_gb": 3800,
        "family": "p",
        "zones": ("a", "b", "c", "d"),
    }
    assert (found.ways, found.unfit, found.restricted) == (("on demand", "spot"), "", "")


def test_what_no_zone_offers_is_not_offered_and_arm_is_not_for_our_images() -> None:
    assert "p5.48xlarge" not in offered("eu-west-1"), "as of the day of moto's list"
    assert offered("eu-west-1")["m7g.large"].unfit == "its processors are arm64, and node images are for x86-64"
    assert offered("us-east-1")["p6-b200.48xlarge"].shape.zones == ("c",)


@pytest.mark.parametrize(
    ("name", "gib", "model"),
    [
        ("A100", 40, "a100"),
        ("A100", 80, "a100-80g"),
        ("V100", 16, "v100"),
        ("V100", 32, "v100-32g"),
        ("L40S", 44, "l40s"),
    ],
)
def test_gpus_have_the_names_of_sites(name: str, gib: int, model: str) -> None:
    assert aws.model(name, gib) == model


def test_the_tables_are_what_the_local_azure_tells() -> None:
    for size in local_sizes.SIZES.values():
        if known := shapes.shipped(size.name):
            now = skus(local_sizes.sku(size, "southcentralus"))[size.name].shape
            for what in ("cpus", "memory_gib", "gpus", "gpu", "rdma", "family"):
                assert getattr(now, what) == getattr(known.shape, what), (size.name, what)
            assert now.zones == ("1", "2", "3")
    assert {*azure_sizes.OTHERS} <= {one.name for one in local_sizes.SIZES.values()}


def test_all_that_azure_tells_of_a_size_is_read() -> None:
    found = skus(*DOCUMENTED)
    assert found[H100].shape.model_dump(exclude_defaults=True) == {
        "cpus": 96,
        "memory_gib": 1900.0,
        "gpus": 8,
        "gpu": "h100",
        "rdma": True,
        "local_disks": 8,
        "local_disk_gb": 3840,
        "family": "standardNDSH100v5Family",
        "zones": ("1", "3"),
    }
    assert found[H100].restricted_zones == {"3": "not offered to this subscription"}
    assert found["Standard_D8s_v5"].restricted == "the subscription's kind of offer has none"
    assert found["Standard_D8ads_v6"].unfit == "its disks are NVMe alone, and node images are made for SCSI"
    assert found["Standard_D8ps_v5"].unfit == "its processors are Arm64, and node images are for x64"
    assert found["Standard_NV36ads_A10_v5"].unfit.startswith("it takes NVIDIA's driver for parts of GPUs")
    assert found["Standard_D8ps_v5"].ways == ("on demand",)
    assert "Standard_LRS" not in found, "disks are in the list, too"


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("Standard_NC80adis_H100_v5", "h100-nvl"),
        ("Standard_NC120adis_H100_v6", "h100-nvl"),
        ("Standard_ND96isr_H300_v7", "h300"),
        ("Standard_NC12ads_A100_v9", "a100-80g"),
        ("Standard_ND96is_v9", None),
    ],
)
def test_a_size_s_name_tells_its_gpus(name: str, model: str | None) -> None:
    assert azure.model(name) == model
