"""What a pool's machines start from on AWS: the image of its kind, channel and Kubernetes, by its parameter's name.

Which image stands behind the parameter, and how old that is, changes without an update: the pool's program looks it up
(components/pools/image.py) and refuses by itself.
"""

import re
from collections.abc import Iterator

from fleet.image_names import RESOLVE, of_pool
from fleet.kubernetes_versions import minor
from fleet.model import Pool
from fleet.world import World

from ..boot import POOL
from ..reading import UNKNOWN, Finding, Item, finding, of_types, tag, undecidable

NAMED = re.compile(r"/(?P<fleet>[^/]+)/images/(?P<kind>[^/]+)/(?P<kubernetes>[^/]+)/(?P<channel>[^/]+)")
# Type → where it says what machines start from, and what they are.
STARTS = {"aws:ec2/launchTemplate:LaunchTemplate": ("imageId", "instanceType")}


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    for item in of_types(found, STARTS):
        name = tag(item, POOL)
        pool = world.fleet.pools.get(str(name))
        for path in STARTS[item.type]:
            value = item.props.get(path)
            if name is UNKNOWN or (pool and value is UNKNOWN):
                yield undecidable(item, path if pool else f"tags.{POOL}")._replace(path=path)
            elif pool and path == "instanceType" and value != pool.instance_type:
                what = f"{path} of pool {name} is {value}, and the fleet file's {pool.instance_type}"
                yield finding(item, path, what, "Quotas and prices are judged by the fleet file's: take that")
            elif pool and path == "imageId":
                yield from _image(item, path, str(name), pool, str(value or ""), world)


def _image(item: Item, path: str, name: str, pool: Pool, value: str, world: World) -> Iterator[Finding]:
    kubernetes = world.fleet.clusters[pool.cluster].kubernetes
    wanted = of_pool(world.fleet, name)
    if value == RESOLVE + wanted:
        return
    named = NAMED.fullmatch(value.removeprefix(RESOLVE)) if value.startswith(RESOLVE) else None
    if not value:
        wrong = "is missing"
    elif named is None:
        wrong = f"is {value}, of which nobody knows how old it is and what is in it"
    elif named["fleet"] != world.fleet.fleet:
        wrong = f"is of fleet {named['fleet']}"
    elif named["channel"] != pool.channel:
        wrong = f"is of channel {named['channel']}, and not {pool.channel}"
    elif minor(named["kubernetes"]) != minor(kubernetes):
        wrong = f"has Kubernetes {named['kubernetes']}, and cluster {pool.cluster} runs {kubernetes}: another minor"
    elif named["kubernetes"] != kubernetes:
        wrong = f"has Kubernetes {named['kubernetes']}, and cluster {pool.cluster} runs {kubernetes}"
    else:
        wrong = f"is of kind {named['kind']}, and the pool's machines have {pool.gpus} GPUs"
    yield finding(item, path, f"the image of pool {name} {wrong}", f"Set {path} to {RESOLVE}{wanted}")
