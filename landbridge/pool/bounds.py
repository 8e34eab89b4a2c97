"""Which pools have a size that can be set, and between which bounds: the fleet file alone."""

from fleet.errors import Problem
from fleet.loader import load_with_lines
from fleet.model import Pool
from fleet.world import World
from landbridge.errors import UsageError


def check(world: World, name: str, number: int) -> None:
    """Raises UsageError with the place in the fleet file and what to do instead."""
    pool = known(world, name)
    if pool.site:
        raise refused(
            world,
            (name, "hosts"),
            f"pool {name} is of the site {pool.site}: its machines are its {len(pool.hosts)} hosts",
            "To grow it, add a host to the site's and the pool's `hosts`, then `landbridge up` and "
            f"`landbridge site enrol {pool.site} HOST`. To take one out of work: `landbridge kubectl drain HOST."
            f"{pool.site}`",
        )
    if number > pool.max:
        what = f"{number} machines are more than pool {name} may have: its max is {pool.max}"
        raise refused(world, (name, "max"), what, f"Raise max, then `landbridge up {name}`")
    if number < pool.min:
        what = f"{number} machines are fewer than pool {name} must have: its min is {pool.min}"
        raise refused(world, (name, "min"), what, f"Lower min, then `landbridge up {name}`")


def known(world: World, name: str) -> Pool:
    """Raises UsageError."""
    pools = world.fleet.pools
    if name not in pools:
        raise UsageError(f"{world.path.name} has no pool {name}. Its pools: {', '.join(pools) or 'none'}.")
    return pools[name]


def check_roll(world: World, name: str) -> None:
    """Whether a pool's machines can be brought to another image. Raises UsageError as `check` does."""
    pool = known(world, name)
    if pool.site:
        what = f"pool {name} is of the site {pool.site}: no cloud starts its hosts from an image"
        raise refused(world, (name, "site"), what, "Hosts get theirs by iPXE or USB, one by one")
    if pool.kind == "ssh":
        what = f"pool {name} is of kind ssh: nobody can see here who works on its machines"
        remedy = f"When they have ended their work: `landbridge pool size {name} 0`, then as many as before"
        raise refused(world, (name, "kind"), what, remedy)


def refused(world: World, entry: tuple[str, str], what: str, remedy: str) -> UsageError:
    line = load_with_lines(world.path).lines.of(("pools", *entry))
    return UsageError(str(Problem(world.path.name, line, what, remedy)))
