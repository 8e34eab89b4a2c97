"""Which stacks of a fleet come before which others, where that is not simply what they depend on."""

from collections.abc import Callable, Mapping

from fleet import laptops
from fleet.model import Fleet
from stacks.catalogue import ADDONS, StackSpec

from .story import GIVEN_UP, Phase


def of_destroy(stacks: Mapping[str, StackSpec], fleet: Fleet) -> dict[str, list[str]]:
    """Stack → those that must be gone before it is."""
    before = {name: [other for other, spec in stacks.items() if name in spec.depends_on] for name in stacks}
    for name, spec in stacks.items():
        # What add-ons run on: their pods end only where a kubelet is.
        if spec.kind == "pool":
            before[name] += [f"{fleet.pools[name].cluster}{ADDONS}"]
        if spec.kind == "laptops":
            before[name] += [f"{laptops.cluster(fleet, spec.region)}{ADDONS}"]
    return before


def with_machines(fleet: Fleet, cluster: str, phases: Mapping[str, Phase], stands: Callable[[str], bool]) -> list[str]:
    """The cluster's pools whose machines are worth waiting for: not those that failed in this run or are not up."""
    own = [pool for pool, told in fleet.pools.items() if told.cluster == cluster]
    return [pool for pool in own if phases.get(pool) not in GIVEN_UP and stands(pool)]
