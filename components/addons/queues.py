"""Queues of teams: what each owns, what it may borrow of others, and in which order places fill.

A place (a site, or a region of a cloud) is one of Kueue's flavours, with the GPUs that it can have: sites come first,
and one run is never split over two places. A team's own GPUs are counted beside it, wherever they are: as a resource
that Kueue makes of GPUs. Shares of what is free go by what teams own.
"""

from collections.abc import Iterator, Mapping

from components.pools import labels
from fleet import maintenance_holds as holds
from fleet import team_queues
from fleet.team_storage import namespace

from . import gangs
from .gpu import tolerated
from .manifests import RBAC, Manifest, meta, rule
from .spec import AddOnsSpec

ADDON, GROUP, VERSION = "queues", "kueue.x-k8s.io", "v1beta2"
API = f"{GROUP}/{VERSION}"
QUEUE_LABEL, PRIORITY_LABEL = f"{GROUP}/queue-name", f"{GROUP}/priority-class"
# The name of a team's queue in its namespace.
QUEUE = "runs"
# The flavour beside those of places, which have no dot in their names.
TEAM_GPUS, OF_TEAMS = f"{labels.DOMAIN}/team-gpus", f"teams.{labels.DOMAIN}"
CHECK, CHECK_CONTROLLER = "machines", f"{GROUP}/provisioning-request"
FOR_EVER = 2**31 - 1
HOLDS_WEIGHT = 10**9
# Inside a team, and among teams whose shares are equal.
PRIORITIES = {"low": -100, "normal": 0, "high": 100}
USERS = "landbridge:runs"


def wanted(spec: AddOnsSpec) -> bool:
    return bool(team_queues.of_cluster(spec.fleet, spec.cluster.name))


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    places = capacity(spec)
    return [
        *(_flavour(place) for place in places),
        _object("ResourceFlavor", OF_TEAMS, {}),
        *_machines(),
        _object("Cohort", spec.cluster.name, {"resourceGroups": [_places(places)]}),
        *_queues(spec, places),
        *_holds(spec, places),
        *_priorities(),
        *_users(),
    ]


def capacity(spec: AddOnsSpec) -> dict[str, int]:
    """GPUs by place, as many as there can be: sites first, then regions by their pools' priority."""
    pools = [pool for pool in spec.pools if pool.hardware.gpus]
    order = sorted(pools, key=lambda pool: (not pool.site, -spec.fleet.pools[pool.name].priority, pool.name))
    found = dict.fromkeys((pool.place for pool in order), 0)
    for pool in order:
        found[pool.place] += pool.most * pool.hardware.gpus
    return found


def _flavour(place: str) -> Manifest:
    """Who asks for GPUs tolerates their taint by admission, but that knows pods alone. What the autoscaler is asked for
    is a PodTemplate, for which no machine would do.
    """
    return _object(
        "ResourceFlavor", place, {"nodeLabels": {labels.PLACE: place}, "tolerations": [tolerated(labels.GPU_TAINT)]}
    )


def _places(places: Mapping[str, int | None]) -> Manifest:
    """A group of GPUs by place."""
    flavours = [
        {"name": place, "resources": [{"name": labels.GPU_RESOURCE, "nominalQuota": quantity(gpus or 0)}]}
        for place, gpus in places.items()
    ]
    return {"coveredResources": [labels.GPU_RESOURCE], "flavors": flavours}


def _machines() -> list[Manifest]:
    """Before a run begins in a cloud, all its machines are there: bought for it in one scaling group, or not at all."""
    # By itself Kueue gives a run up after three times, and what can't be had today may be had tomorrow.
    again = {"backoffLimitCount": FOR_EVER, "backoffBaseSeconds": 60, "backoffMaxSeconds": 1800}
    config = {
        "provisioningClassName": gangs.CLASS,
        "managedResources": [labels.GPU_RESOURCE],
        "retryStrategy": again,
    }
    parameters = {"apiGroup": GROUP, "kind": "ProvisioningRequestConfig", "name": CHECK}
    return [
        _object("ProvisioningRequestConfig", CHECK, config),
        _object("AdmissionCheck", CHECK, {"controllerName": CHECK_CONTROLLER, "parameters": parameters}),
    ]


def _queues(spec: AddOnsSpec, places: Mapping[str, int]) -> Iterator[Manifest]:
    clouds = [place for place in places if place not in spec.sites]
    for team, own in team_queues.of_cluster(spec.fleet, spec.cluster.name).items():
        quota = {"name": TEAM_GPUS, "nominalQuota": quantity(own.gpus)}
        quota |= {"borrowingLimit": quantity(own.borrows)} if own.borrows is not None else {}
        quota |= {"lendingLimit": quantity(own.lends)} if own.lends is not None else {}
        whole = {"coveredResources": [TEAM_GPUS], "flavors": [{"name": OF_TEAMS, "resources": [quota]}]}
        checks = [{"name": CHECK, "onFlavors": clouds}] if clouds else []
        queue = {
            "cohortName": spec.cluster.name,
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace(team)}},
            # One large run that waits does not stop smaller ones behind it.
            "queueingStrategy": "BestEffortFIFO",
            "resourceGroups": [_places(dict.fromkeys(places)), whole],
            "fairSharing": {"weight": quantity(own.gpus)},
            "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
            "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
            **({"admissionChecksStrategy": {"admissionChecks": checks}} if checks else {}),
        }
        yield _object("ClusterQueue", team, queue)
        yield _object("LocalQueue", QUEUE, {"clusterQueue": team}, namespace(team))


def _holds(spec: AddOnsSpec, places: Mapping[str, int]) -> Iterator[Manifest]:
    """Of maintenance, which takes what is free before any team does: by fair shares it never has too much."""
    if not spec.sites:
        return
    every = {"name": TEAM_GPUS, "nominalQuota": quantity(sum(places.values())), "lendingLimit": "0"}
    whole = {"coveredResources": [TEAM_GPUS], "flavors": [{"name": OF_TEAMS, "resources": [every]}]}
    queue = {
        "cohortName": spec.cluster.name,
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": holds.SPACE}},
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": [_places(dict.fromkeys(place for place in places if place in spec.sites)), whole],
        "fairSharing": {"weight": quantity(HOLDS_WEIGHT)},
    }
    yield _object("ClusterQueue", holds.CLUSTER_QUEUE, queue)
    yield _object("LocalQueue", holds.QUEUE, {"clusterQueue": holds.CLUSTER_QUEUE}, holds.SPACE)


def quantity(number: int) -> str:
    """As Kubernetes writes it: Kueue writes its queues anew, and who changes how a field is written owns it."""
    for sign, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if number and number % size == 0:
            return f"{number // size}{sign}"
    return str(number)


def _priorities() -> Iterator[Manifest]:
    for name, value in PRIORITIES.items():
        yield {"apiVersion": API, "kind": "WorkloadPriorityClass", "metadata": meta(name, ADDON, ""), "value": value}


def _users() -> Iterator[Manifest]:
    """Whoever edits a namespace runs in it, whoever looks into one sees what waits; nobody writes what is admitted."""
    look = ("get", "list", "watch")
    write = ("create", "delete", "patch", "update")
    queued = rule(GROUP, ["localqueues", "workloads"], *look)
    for role, verbs in {"view": look, "edit": (*look, *write)}.items():
        rules = [queued, rule("jobset.x-k8s.io", ["jobsets"], *verbs)]
        aggregated = meta(f"{USERS}-{role}", ADDON, "")
        aggregated["labels"] = {**aggregated["labels"], f"rbac.authorization.k8s.io/aggregate-to-{role}": "true"}
        yield {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": aggregated, "rules": rules}


def _object(kind: str, name: str, spec: Manifest, space: str = "") -> Manifest:
    return {"apiVersion": API, "kind": kind, "metadata": meta(name, ADDON, space), "spec": spec}
