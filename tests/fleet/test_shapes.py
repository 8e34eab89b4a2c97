"""Sizes of machine types against AWS's own descriptions, which moto holds."""

from moto.ec2.models.instance_types import INSTANCE_TYPES

from fleet import gpus, shapes
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
    assert set(shapes.OTHERS) <= set(INSTANCE_TYPES)
    families = {name.partition(".")[0] for name in INSTANCE_TYPES}
    assert set(shapes.GIB_A_CPU) <= families


def test_every_family_with_gpus_has_sizes() -> None:
    known = {name.partition(".")[0] for name in (*shapes.OTHERS, *(f"{family}." for family in shapes.GIB_A_CPU))}
    assert set(gpus.AWS_MODELS) <= known


def test_the_example_s_types_are_known_and_another_is_not() -> None:
    pools = current(ROOT / "fleet.yaml").fleet.pools.values()
    assert all(shapes.shape(pool.instance_type) for pool in pools if pool.instance_type)
    assert shapes.shape("m7g.large") is None
    assert shapes.shape("x") is None
