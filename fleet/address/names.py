"""The ledger's names and which prefix lies in which: the only place that knows their form.

region/R  region/R/network  region/R/zone/Z  region/R/zone/Z/private|public  region/R/laptops/N
region/R/gateway  region/R/names  region/R/questions   (subnets of Azure's own, in the network)
region/R/zone/Z/private/shares|resolver/N|asking/N|C/balancer|C/etcd-N|C/api-N   (single addresses)
site/S  site/S/lan     cluster/C  cluster/C/pods|services     link/A/B/N
"""

SUPERNET, TUNNELS = "supernet", "tunnels"


def parent_of(name: str) -> str:
    """The name of the prefix that holds this one. Raises ValueError for a name of no known form."""
    match name.split("/"):
        case ["region" | "site" | "cluster", _]:
            return SUPERNET
        case ["region", region, "zone", _] | ["region", region, "gateway" | "names" | "questions"]:
            return f"region/{region}/network"
        case ["region", _, "network"] | ["site", _, "lan"] | ["cluster", _, "pods" | "services"]:
            return name.rpartition("/")[0]
        case ["region", region, "zone", zone, "private" | "public"]:
            return f"region/{region}/zone/{zone}"
        case ["region", region, "zone", zone, "private", _] | ["region", region, "zone", zone, "private", _, _]:
            return f"region/{region}/zone/{zone}/private"
        case ["region", region, "laptops", _]:
            return f"region/{region}"
        case ["link", _, _, _]:
            return TUNNELS
    raise ValueError(f"{name!r} is no name of a prefix")


def is_zone(name: str) -> bool:
    """Whether this prefix is a zone's slot in its region's network."""
    return name.startswith("region/") and name.split("/")[2:3] == ["zone"] and name.count("/") == 3


def holds_machines(name: str) -> bool:
    """Whether single addresses are given out of this prefix."""
    return name.endswith("/private")


def is_aggregate(name: str) -> bool:
    """Whether this prefix is one route to everybody else."""
    return name.startswith(("region/", "site/", "cluster/")) and name.count("/") == 1
