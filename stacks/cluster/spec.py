"""What the part of a cluster's stack that is each cloud's own takes and gives."""

from typing import NamedTuple

import pulumi

from components.boot.hosts import HostAuthority
from components.control_plane.authority import Authority
from components.control_plane.machines import ClusterSpec
from components.control_plane.pki import Generations
from fleet.rebuilds import Origin
from fleet.world import World

from ..catalogue import StackSpec
from ..outputs import RegionOutputs


class Given(NamedTuple):
    """`published` is the version of Kubernetes before this one; `second` is the region that copies go to."""

    world: World
    stack: StackSpec
    spec: ClusterSpec
    keys: dict[str, Generations]
    origin: Origin | None
    published: str | None
    home: RegionOutputs
    second: RegionOutputs | None


class Plane(NamedTuple):
    """`groups` is by machine what keeps it: a scaling group of one on AWS, on Azure the virtual machine itself."""

    authority: Authority
    admin: pulumi.Input[str]
    break_glass: pulumi.Input[str]
    recovery: pulumi.Input[str]
    hosts: HostAuthority | None
    groups: dict[str, pulumi.Input[str]]
