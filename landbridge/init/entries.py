"""Answers as entries of a fleet file: plain values, such as YAML has them."""

from collections.abc import Iterator
from typing import Any

from fleet import room
from fleet.address import sizes
from fleet.model import Cloud, Fleet, Region
from fleet.quotas import FAMILIES_KEY, grown
from local.kubernetes import BUILT_IN

from . import machines
from .answers import Answers, Place

Entries = dict[str, Any]
CLUSTER, TEAM, GID = "main", "research", 2000
# Of documentation: whoever goes to real clouds writes their own. The local cloud takes any.
ACCOUNTS: dict[Cloud, Entries] = {
    "aws": {"account_id": "111122223333"},
    "azure": {
        "subscription_id": "00000000-0000-0000-0000-000000000001",
        "tenant_id": "00000000-0000-0000-0000-000000000002",
    },
}
# RFC 5737's. Each machine room has an address and a BGP number of its own.
GATEWAY, FIRST_ASN = "192.0.2.{}", 65010
HOSTS = 2
HOST: Entries = {"gpus": 8, "gpu": "h100", "cpus": 96, "memory_gib": 1024}
CPU_MACHINES, SYSTEM_MACHINES = 20, 4


def entries(answers: Answers, supernet: str) -> Entries:
    """In the order of the file."""
    clouds = dict.fromkeys(place.cloud for place in answers.regions)
    several = len(answers.regions) > 1 and answers.gpus
    return {
        "fleet": answers.name,
        "owner": TEAM,
        "domain": f"{answers.name}.example.com",
        "supernet": supernet,
        **_if(answers.reserved, reserved=[{"cidr": one, "why": "another network"} for one in answers.reserved]),
        **{cloud: ACCOUNTS[cloud] for cloud in clouds},
        **_if(several, max_gpus=most_gpus(answers)),
        "regions": {place.region: _region(answers, place) for place in answers.regions},
        **_if(answers.sites, sites=dict(_sites(answers))),
        "storage": {"shares": {"homes": {"path": "/homes"}, "data": {"path": "/data", "gid": GID, "mode": "2775"}}},
        "clusters": {CLUSTER: _cluster(answers)},
        "pools": dict(_pools(answers)),
        "teams": {TEAM: {"gid": GID, **_queues(answers)}},
    }


def _if(there: object, **entry: Any) -> Entries:
    """An entry that not every fleet has."""
    return entry if there else {}


def most_gpus(answers: Answers) -> int:
    """In clouds: in whole machines, of the cloud whose machines have most."""
    return max(_pool_gpus(answers, place.cloud) for place in answers.regions)


def quotas(fleet: Fleet, region: str) -> Entries:
    """What a region's pools may grow to, in the form of its `quotas`: vCPUs by quota, and in Azure by family."""
    found: Entries = {}
    for (quota, *family), used in grown(fleet, region).items():
        if family:
            found.setdefault(FAMILIES_KEY, {})[family[0]] = sum(used.values())
        else:
            found[quota] = sum(used.values())
    return found


def _region(answers: Answers, place: Place) -> Entries:
    """As large as its machines want: the first size from the usual one on that has addresses for all of them."""
    own = machines.machines(place.cloud, answers.gpus) + _others(answers, place)
    entry = {"cloud": place.cloud, "zones": [*machines.zones(place.cloud, place.region)]}
    names = [*sizes.REGIONS]
    usual = Region.model_validate(entry).size
    fitting = (size for size in names[names.index(usual) :] if _holds({**entry, "size": size}, own))
    size = next(fitting, names[-1])
    return {**entry, **_if(size != usual, size=size)}


def _holds(entry: Entries, many: int) -> bool:
    region = Region.model_validate(entry)
    return room.addresses(region) * len(region.zones) >= many


def _others(answers: Answers, place: Place) -> int:
    """Machines beside those with GPUs: of the control plane none, which is planned apart."""
    return CPU_MACHINES + SYSTEM_MACHINES if place == answers.regions[0] else 0


def _pool_gpus(answers: Answers, cloud: Cloud) -> int:
    return machines.machines(cloud, answers.gpus) * machines.FIRST[cloud].gpus


def _sites(answers: Answers) -> Iterator[tuple[str, Entries]]:
    for n, name in enumerate(answers.sites):
        hosts = {f"host-{number}": HOST for number in range(1, HOSTS + 1)}
        yield name, {"gateways": [GATEWAY.format(n + 1)], "asn": FIRST_ASN + n, "hosts": hosts}


def _cluster(answers: Answers) -> Entries:
    home, *others = answers.regions
    second = next((place.region for place in others if place.cloud == home.cloud), None)
    # Pools in several regions are never full together: the fleet's cap is on all of them.
    most = max(machines.machines(place.cloud, answers.gpus) for place in answers.regions)
    nodes = most + _others(answers, home) + HOSTS * len(answers.sites)
    usual, *_, largest = sizes.CLUSTERS
    size = next((name for name, one in sizes.CLUSTERS.items() if one.nodes >= nodes), largest)
    return {
        "region": home.region,
        "kubernetes": BUILT_IN,
        **_if(size != usual, size=size),
        **_if(second, copies=second),
    }


def _pools(answers: Answers) -> Iterator[tuple[str, Entries]]:
    own = {"cluster": CLUSTER, "owner": TEAM}
    places = len(answers.sites) + (len(answers.regions) if answers.gpus else 0)
    for n, site in enumerate(answers.sites):
        hosts = [f"host-{number}" for number in range(1, HOSTS + 1)]
        yield f"{site}-gpu", {"kind": "gpu", **own, "site": site, "hosts": hosts, **_priority(places, n)}
    for n, (cloud, region) in enumerate(answers.regions if answers.gpus else (), start=len(answers.sites)):
        kinds = machines.FIRST[cloud]
        yield (
            f"{region}-gpu",
            {
                "kind": "gpu",
                **own,
                "region": region,
                "instance_type": kinds.gpu,
                "gpus": kinds.gpus,
                "max": machines.machines(cloud, answers.gpus),
                **_priority(places, n),
            },
        )
    home = answers.regions[0]
    kinds = machines.FIRST[home.cloud]
    there = {**own, "region": home.region}
    yield "cpu", {"kind": "cpu", **there, "instance_type": kinds.cpu, "max": CPU_MACHINES}
    yield "system", {"kind": "system", **there, "instance_type": kinds.system, "min": 2, "max": SYSTEM_MACHINES}


def _priority(places: int, n: int) -> Entries:
    """Where there is a choice: places are filled in the order of the answers."""
    return _if(places > 1, priority=10 * (places - n))


def _queues(answers: Answers) -> Entries:
    held = (most_gpus(answers) if answers.gpus else 0) + HOST["gpus"] * HOSTS * len(answers.sites)
    return _if(held, queues={CLUSTER: {"gpus": held}})
