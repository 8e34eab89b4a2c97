"""Pools (tag landbridge:pool): whose they are, that nothing but the autoscaler takes their machines, what they cost."""

from collections.abc import Iterator

from fleet.world import World

from .aws.pools import GROUP, OF_GROUPS, OF_TEMPLATES, TEMPLATE
from .azure.pools import OF_SCALE_SETS, SCALE_SET
from .boot import POOL
from .pool_settings import Judge
from .protection import OWNER
from .reading import UNKNOWN, Finding, Item, finding, of_types, tag, undecidable, unknown_in, values

# Type → path → what is wrong with a value there, for a pool of the fleet file; and what would be right.
POOLED: dict[str, dict[str, tuple[Judge, str]]] = {
    GROUP: OF_GROUPS,
    TEMPLATE: OF_TEMPLATES,
    SCALE_SET: OF_SCALE_SETS,
}


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    for item in of_types(found, POOLED):
        yield from _pooled(item, world)


def _pooled(item: Item, world: World) -> Iterator[Finding]:
    name, owner = tag(item, POOL), tag(item, OWNER)
    if name is None:
        return
    if name is UNKNOWN or owner is UNKNOWN:
        for path in POOLED[item.type]:
            yield undecidable(item, f"tags.{POOL}")._replace(path=path)
        return
    pool = world.fleet.pools.get(str(name))
    if pool is None:
        yield finding(
            item, "tags", f"tag {POOL} names {name}, which is no pool of the fleet", "Declare it, or remove it"
        )
        return
    if owner != pool.owner:
        yield finding(item, "tags", f"pool {name} is tagged as {owner}'s", f"It is {pool.owner}'s by the fleet file")
    for path, (judge, remedy) in POOLED[item.type].items():
        settings = list(values(item.props, path)) or [None]
        if unknown_in(settings):
            yield undecidable(item, path)
            continue
        for value in settings if "." in path else [item.props.get(path)]:
            if wrong := judge(value, pool):
                yield finding(item, path, f"{path} of pool {name} {wrong}", remedy)
