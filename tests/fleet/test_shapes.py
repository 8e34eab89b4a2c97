"""Sizes of machine types against AWS's own descriptions, which moto holds, and against Azure's names for its own."""

import re

from moto.ec2.models.instance_types import INSTANCE_TYPES

from fleet import gpus, shapes
from fleet.aws import sizes as aws_sizes
from fleet.azure import sizes as azure_sizes
from fleet.world import current
from tests.components.pools.joining_bed import ROOT


def test_sizes_are_those_the_cloud_tells() -> None:
    known = 0
    for name, told in INSTANCE_TYPES.items():
        if found := shapes.shape(name):
            known += 1
            assert "x86_64" in told["ProcessorInfo"]["SupportedArchitectures"], name
            assert found == (told["VCpuInfo"]["DefaultVCpus"], told["MemoryInfo"]["SizeInMiB"] / 1024), name
    assert known > 150
    assert set(aws_sizes.OTHERS) <= set(INSTANCE_TYPES)
    families = {name.partition(".")[0] for name in INSTANCE_TYPES}
    assert set(aws_sizes.GIB_A_CPU) <= families


def test_every_family_with_gpus_has_sizes() -> None:
    known = {name.partition(".")[0] for name in (*aws_sizes.OTHERS, *(f"{family}." for family in aws_sizes.GIB_A_CPU))}
    assert set(aws_sizes.GPUS) <= known


def test_the_example_s_types_are_known_and_another_is_not() -> None:
    pools = current(ROOT / "fleet.yaml").fleet.pools.values()
    assert all(shapes.shape(pool.instance_type) for pool in pools if pool.instance_type)
    assert shapes.shape("m7g.large") is None
    assert shapes.shape("x") is None


def written(series: str, cpus: int) -> str:
    """Ds_v5 and 8: Standard_D8s_v5."""
    return "Standard_" + re.sub(r"^[A-Z]+", lambda letters: f"{letters[0]}{cpus}", series)


# Every type that the table knows.
OF_AZURE = [written(name, cpus) for name, one in azure_sizes.SERIES.items() for cpus in one.cpus]
OF_AZURE += azure_sizes.OTHERS


def test_azure_s_sizes_have_the_vcpus_that_their_names_say() -> None:
    assert len(set(OF_AZURE)) == len(OF_AZURE) > 90
    for name in OF_AZURE:
        size = azure_sizes.size(name)
        assert size, name
        assert size.cpus == int(re.findall(r"\d+", name)[0]), name
        assert shapes.shape(name) == (size.cpus, size.memory_gib), name
        assert shapes.FORMS["azure"][0].fullmatch(name), name
        assert not shapes.FORMS["aws"][0].fullmatch(name), name
        # D, E, F: standardDSv5Family. GPUs' families have names of other forms.
        if name in azure_sizes.OTHERS:
            continue
        letters, version = re.fullmatch(r"Standard_([A-Z])\d+(?:[a-z]*)_(v\d)", name).groups()  # type: ignore[union-attr]
        assert re.fullmatch(rf"standard{letters}\w*{version}Family", size.family), name


def test_azure_s_gpus_are_told_with_their_model() -> None:
    for name, size in azure_sizes.OTHERS.items():
        assert bool(size.gpus) == bool(size.gpu) == name.startswith("Standard_N"), name
        assert gpus.model(name) == size.gpu
        if size.gpu and (chip := re.search(r"_([AHT]\d+)_", name)):
            assert size.gpu.startswith(chip[1].lower()), name
    assert gpus.model("Standard_D8s_v5") is None


def test_what_the_images_cannot_drive_is_not_known() -> None:
    for name in (
        "Standard_NV36ads_A10_v5",
        "Standard_D8s_v6",
        "Standard_D8ps_v5",
        "Standard_D7s_v5",
        "standard_d8s_v5",
    ):
        assert shapes.shape(name) is None, name
