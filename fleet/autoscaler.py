"""Who a cluster's autoscaler is, and which scaling groups are its own: what its role and the policy pack both go by."""

from .model import Cloud, Fleet, Pool, PoolKind

SPACE, ACCOUNT = "kube-system", "cluster-autoscaler"
# Whom a token of its service account is about.
SUBJECT = f"system:serviceaccount:{SPACE}:{ACCOUNT}"
# A tag of each of its groups, with the cluster's name.
CLUSTER_TAG = "landbridge:cluster"
# Kinds whose machines are nodes → how a scaling group's name ends: with its zone's letter, or as that of all zones. A
# pool to log in to is not here: it has as many machines as it has.
KINDS: dict[PoolKind, str] = {"gpu": "?", "system": "?", "cpu": "all"}


def pools(fleet: Fleet, cluster: str, cloud: Cloud | None = None) -> dict[str, Pool]:
    """The cluster's pools that have scaling groups, in one cloud or in any, by name."""
    return {
        name: pool
        for name, pool in sorted(fleet.pools.items())
        if pool.cluster == cluster
        and pool.kind in KINDS
        and pool.region is not None
        and cloud in (None, fleet.regions[pool.region].cloud)
    }


def wanted(fleet: Fleet, cluster: str) -> bool:
    """Whether there is something to scale: system machines alone are what they are."""
    return any(pool.kind in ("gpu", "cpu") for pool in pools(fleet, cluster).values())


def regions(fleet: Fleet, cluster: str, cloud: Cloud | None = None) -> list[str]:
    """Those with scaling groups of the cluster, of one cloud or of any."""
    return sorted({pool.region for pool in pools(fleet, cluster, cloud).values() if pool.region})


def group_arns(fleet: Fleet, cluster: str) -> list[str]:
    """Patterns of the groups' ARNs, one a pool, however many zones it has: IAM bounds a role's length."""
    assert fleet.aws is not None
    return [
        f"arn:aws:autoscaling:{pool.region}:{fleet.aws.account_id}:autoScalingGroup:*:"
        f"autoScalingGroupName/{fleet.fleet}-{name}-{KINDS[pool.kind]}"
        for name, pool in pools(fleet, cluster, "aws").items()
    ]


def group_tags(fleet: Fleet, cluster: str) -> dict[str, str]:
    """Tags that each of the groups has; another fleet's group may be called alike."""
    return {"landbridge:fleet": fleet.fleet, CLUSTER_TAG: cluster}
