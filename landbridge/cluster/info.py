"""A cluster as its stack published it (`stacks.outputs.ClusterOutputs`), read out of the stack's state."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from landbridge.engine.state_file import read_state
from landbridge.errors import LandbridgeError
from landbridge.places import Place, pulumi_root

STACK = "pulumi:pulumi:Stack"


class MachineInfo(NamedTuple):
    """One machine; `group` is the scaling group that keeps it."""

    name: str
    role: str
    zone: str
    address: str
    host: str
    group: str


class ClusterInfo(NamedTuple):
    """The contract's fields under the contract's names, and the cluster's own name."""

    name: str
    cloud: str
    region: str
    kubernetes: str
    endpoint: str
    authority: str
    issuer: str
    pods_cidr: str
    services_cidr: str
    bucket: str
    prefix: str
    copies: dict[str, str]
    machines: dict[str, MachineInfo]
    break_glass_secret: str
    admin_secret: str

    @property
    def fleet(self) -> str:
        return self.prefix.partition("/")[0]

    @property
    def etcd(self) -> list[MachineInfo]:
        return [machine for machine in self.machines.values() if machine.role == "etcd"]

    @property
    def api(self) -> list[MachineInfo]:
        return [machine for machine in self.machines.values() if machine.role == "api"]


def read(place: Place, name: str) -> ClusterInfo:
    """What the cluster's stack published. Raises LandbridgeError when it is not up."""
    outputs = published(place, name)
    if not outputs:
        raise LandbridgeError(f"The cluster {name} is not up: its stack has built nothing. Run `{up(place, name)}`.")
    return of(outputs, name, up(place, name))


def of(outputs: Mapping[str, Any], name: str, remedy: str) -> ClusterInfo:
    """Raises LandbridgeError when a field is missing: the last up was not finished, or is of an older version."""
    missing = [field for field in ClusterInfo._fields if field != "name" and field not in outputs]
    if missing:
        raise LandbridgeError(
            f"The cluster {name} is not up yet: its stack publishes no {', '.join(missing)}. Run `{remedy}`."
        )
    fields = {field: outputs[field] for field in ClusterInfo._fields if field != "name"}
    machines = {
        machine: MachineInfo(machine, **{field: attributes[field] for field in MachineInfo._fields if field != "name"})
        for machine, attributes in sorted(outputs["machines"].items())
    }
    return ClusterInfo(name, **{**fields, "machines": machines})


def up(place: Place, name: str) -> str:
    return f"landbridge up {name}{place.options}"


def published(place: Place, stack: str) -> Mapping[str, Any]:
    """A stack's outputs; none of one that has built nothing."""
    state = deployment(place, stack)
    return next((r.get("outputs") or {} for r in (state or {}).get("resources") or () if r["type"] == STACK), {})


def deployment(place: Place, name: str) -> Mapping[str, Any] | None:
    if file := place.stack_file(name):
        return read_state(file)
    from landbridge.engine.pulumi_command import PulumiCommand
    from landbridge.engine.stack import StackEngine  # large: only where the state can't be read without the engine

    return StackEngine(name, place, PulumiCommand(pulumi_root())).state()
