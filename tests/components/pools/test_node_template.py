"""The template of a node: what the kubelet's stand-in would register on that machine type, less what is on its way."""

import pytest

from components.pools import kubelet, labels, node_template
from components.pools.aws import template as aws_template
from components.pools.spec import PoolSpec, pool_spec
from fleet.world import current
from local.aws import hardware as aws_hardware
from local.workers import configuration, devices, flags, hardware, node
from tests.components.pools.joining_bed import ROOT

NAME, ZONE = "i-0123456789abcdef0", "us-west-2b"


def specs() -> list[PoolSpec]:
    world = current(ROOT / "fleet.yaml")
    return [pool_spec(world.fleet, world.plan, name) for name in world.fleet.pools]


@pytest.mark.parametrize(
    "spec", [one for one in specs() if not one.site and one.cloud == "aws"], ids=lambda one: one.name
)
def test_it_is_the_node_that_joins(spec: PoolSpec) -> None:
    """By both ways: the fleet's own table and arithmetic, and the machine's, as the cloud describes its type."""
    given = flags.Flags(
        *[ROOT] * 4,
        hostname_override=NAME,
        node_ip="192.0.2.1",
        provider_id=f"aws:///{ZONE}/{NAME}",
        resolv_conf=ROOT,
        node_labels=flags.labels(f"{kubelet.node_labels(spec)},{labels.ZONE}={ZONE}"),
    )
    size = {**aws_hardware.of_type(spec.hardware.shape), "disk_gib": node_template.ROOT_GIB[spec.kind]}
    machine = hardware.Hardware(**size, kubernetes=spec.kubernetes)
    joined = node.node(given, configuration.understand(kubelet.config(spec)), machine, "now")
    found = node_template.template(spec, ZONE, NAME)
    assert found["metadata"] == joined["metadata"]
    later = [taint for taint in joined["spec"]["taints"] if not taint["key"].startswith("startup-taint.")]
    assert found["spec"] == {**joined["spec"], "taints": later}
    # The launch template asks for these interfaces, and the machine has what it was launched with.
    asked = aws_template.interfaces(spec, "sg-1")
    efa = sum(one.get("interface_type") in ("efa", "efa-only") for one in asked)
    plugged = {one.resource: str(one.number) for one in devices.of(machine._replace(efa=efa))}
    assert ("vpc.amazonaws.com/efa" in plugged) == (spec.hardware.shape == "p5.48xlarge")
    for part in ("capacity", "allocatable"):
        assert found["status"][part] == {**joined["status"][part], **plugged}
    assert machine.gpus == spec.hardware.gpus


def test_it_promises_less_than_the_type_is_sold_with() -> None:
    spec = next(one for one in specs() if one.name == "system")
    status = node_template.template(spec, ZONE)["status"]
    # m7i.large: 2 vCPU and 8 GiB, of which 7.5 % are not seen; 50 GiB of disk.
    assert status["capacity"] == {
        "cpu": "2",
        "memory": "7577Mi",
        "ephemeral-storage": "50Gi",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "pods": "110",
    }
    kept_mib = 255 + 11 * 110 + 512 + 500
    assert status["allocatable"]["memory"] == f"{7577 - kept_mib}Mi"
    assert status["allocatable"]["cpu"] == "1700m"
    assert status["allocatable"]["ephemeral-storage"] == "43Gi"


def test_nobody_guesses_a_machine_s_size() -> None:
    site, cloud = (next(one for one in specs() if one.site == at_site) for at_site in (True, False))
    odd = cloud._replace(hardware=cloud.hardware._replace(shape="x9.huge", size=None))
    for spec in (site, odd):
        with pytest.raises(ValueError, match="nobody can tell what a new machine"):
            node_template.template(spec, ZONE)
