"""What the cloud calls the parts of a pool. Known without the cloud: the joining service and policies go by them."""

from typing import NamedTuple

from components.tags import Owner
from fleet import shapes
from fleet.buckets import in_azure
from fleet.model import Fleet, Pool, PoolKind

# What a scaling group of all zones has where others have their zone's letter.
ALL = "all"
# Kinds with a scaling group for each zone. gpu: a placement group and its fabric end with the zone, and where one zone
# has no capacity the autoscaler asks the next, which a group of several would hide. system: two zones stay two,
# whichever machine goes.
PER_ZONE: frozenset[PoolKind] = frozenset({"gpu", "system"})
# AWS's bounds (IAM, "Name requirements"; CreateLaunchTemplate; CreateAutoScalingGroup; CreateSecurityGroup;
# CreatePlacementGroup).
ROLE, PROFILE, TEMPLATE, GROUP = 64, 128, 128, 255
# Azure's ("Naming rules and restrictions for Azure resources"): a scale set's machines are called like it, a hyphen and
# six signs behind, and a Linux machine's name has 64; security groups of machines and of addresses.
AZURE_SET, AZURE_GROUP = 57, 80


class Group(NamedTuple):
    """One scaling group: `key` is its zone's letter or `ALL`. `most` is the whole pool's: one zone may hold all of it,
    and how many all groups hold together is for the autoscaler to keep.
    """

    key: str
    name: str
    zones: tuple[str, ...]
    least: int
    most: int


class Names(NamedTuple):
    """Of any pool of the fleet in a cloud, by the pool's name."""

    fleet: Fleet

    def role(self, pool: str) -> str:
        """With the region: in another one the pool would meet the role of its life before, which has none."""
        return self._owner(pool).name(f"{self.fleet.pools[pool].region}-node", ROLE)

    def profile(self, pool: str) -> str:
        return self._owner(pool).name(f"{self.fleet.pools[pool].region}-node", PROFILE)

    def template(self, pool: str) -> str:
        return self._owner(pool).name("node", TEMPLATE)

    def firewall(self, pool: str) -> str:
        return self._owner(pool).name("node", AZURE_GROUP if self._in_azure(pool) else GROUP)

    def groups(self, pool: str) -> tuple[str, ...]:
        """Of its scaling groups."""
        return tuple(group.name for group in self.scaling(pool))

    def placement(self, pool: str, key: str) -> str | None:
        """The placement group of a scaling group; None for machines that gain nothing by one."""
        return self._owner(pool).name(key, GROUP) if shapes.efa(self.fleet, self.fleet.pools[pool]) else None

    def scaling(self, pool: str) -> tuple[Group, ...]:
        config = self.fleet.pools[pool]
        letters = zones(self.fleet, config)
        spans = {zone: (zone,) for zone in letters} if config.kind in PER_ZONE else {ALL: letters}
        longest = AZURE_SET if self._in_azure(pool) else GROUP
        return tuple(
            Group(key, self._owner(pool).name(key, longest), span, least(config.min, len(spans), number), config.max)
            for number, (key, span) in enumerate(spans.items())
        )

    def _in_azure(self, pool: str) -> bool:
        return in_azure(self.fleet, str(self.fleet.pools[pool].region))

    def _owner(self, pool: str) -> Owner:
        return Owner(self.fleet.fleet, self.fleet.pools[pool].owner, pool)


def zones(fleet: Fleet, pool: Pool) -> tuple[str, ...]:
    """Letters of the zones in which a pool in a region stands."""
    assert pool.region is not None
    return tuple(sorted(pool.zones or fleet.regions[pool.region].zones))


def zone_name(fleet: Fleet, region: str, zone: str) -> str:
    """As nodes are labelled: us-west-2a on AWS; on Azure, as cloud-provider-azure has it, southcentralus-1."""
    return f"{region}-{zone}" if fleet.regions[region].cloud == "azure" else f"{region}{zone}"


def least(number: int, groups: int, place: int) -> int:
    """What the group at a place has of a minimum that is spread over so many; the first ones have the rest."""
    return number // groups + (place < number % groups)
