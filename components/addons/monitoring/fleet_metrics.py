"""What Prometheus can't ask itself, and only clouds and buckets know: how old snapshots are, when a restore was last
tested, what differs from what was built, how links are, and what shares hold.

One pod: what it reads is in the clouds, and while it moves nothing is lost.
"""

from collections.abc import Iterator
from ipaddress import IPv4Network

from components.control_plane.api import NODE_MASK
from components.control_plane.backups import GRACE_MINUTES
from components.control_plane.rings import MAIN, RINGS
from components.links.connections import connection_name
from components.pools.names import Names, zone_name
from components.storage.azure.spec import CONTAINER
from components.storage.mounts import Files
from components.tags import Owner
from fleet import autoscaler, fleet_metrics, image_names, quotas
from fleet.address import sizes
from fleet.buckets import bucket_name, in_azure
from fleet.image_names import RESOLVE
from fleet.model import Fleet

from ..aws import fleet_metrics_role as aws_role
from ..aws import pod_role as aws_pod_role
from ..azure import fleet_metrics_role as azure_role
from ..azure import pod_role as azure_pod_role
from ..manifests import Manifest, compact, config_map, deployment, meta
from ..spec import AddOnsSpec
from ..system_pods import alive, ours, system_pod

ADDON = fleet_metrics.ACCOUNT
SETTINGS, FOLDER = "fleet-metrics-settings", "/etc/landbridge"
# Its metrics and its health: one that no other program of ours has.
PORT = 8091
READ_MINUTES = 5
# How long ago the last drill of a restore may be. Drills restore main alone: events begin anew, empty.
RESTORE_DAYS, RESTORED = 90, (MAIN,)
# The stack of all links, in names of what it makes: stacks/catalogue.py.
LINKS = "links"
# In Azure of each of its gateway's two instances: tunnels with AWS are of one of them.
INSTANCES = 2


def wanted(spec: AddOnsSpec) -> bool:
    return spec.fleet.monitoring is not None


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    config = {"settings.json": compact(settings(spec))}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta(ADDON, ADDON)}
    return [
        # It asks the API nothing: its tokens are for clouds.
        {**account, "automountServiceAccountToken": False},
        config_map(SETTINGS, ADDON, config),
        deployment(ADDON, ADDON, 1, pod(spec), config),
    ]


def settings(spec: AddOnsSpec) -> Manifest:
    fleet, name = spec.fleet, spec.cluster.name
    return {
        "backups": [*_backups(fleet, name)],
        "restores": [*_restores(fleet, name)],
        "drift": [_drift(fleet, name)],
        "connections": [*connections(fleet, name)],
        "peers": [*_peers(spec)],
        "quotas": [*_quotas(fleet, name)],
        "images": [*_images(fleet, name)],
        "shares": [*_shares(spec)],
        "nodes_most": {
            "": 2 ** (NODE_MASK - IPv4Network(spec.cluster.pods_cidr).prefixlen),
            **dict(_zones(spec)),
        },
    }


def _backups(fleet: Fleet, cluster: str) -> Iterator[Manifest]:
    for folder in fleet_metrics.snapshots(fleet, cluster):
        for ring in RINGS:
            yield {
                "ring": ring.name,
                "where": folder.where,
                "region": folder.region,
                "into": _bucket(fleet, folder.region),
                "folder": f"{folder.prefix}{ring.name}/",
                # One that came just after a reading is seen by the next.
                "due_seconds": 60 * (ring.backup_minutes + GRACE_MINUTES + READ_MINUTES),
            }


def _restores(fleet: Fleet, cluster: str) -> Iterator[Manifest]:
    folder = fleet_metrics.restores(fleet, cluster)
    for ring in RESTORED:
        yield {
            "ring": ring.name,
            "region": folder.region,
            "into": _bucket(fleet, folder.region),
            "folder": f"{folder.prefix}{ring.name}/",
            "due_seconds": RESTORE_DAYS * 86_400,
        }


def _drift(fleet: Fleet, cluster: str) -> Manifest:
    folder = fleet_metrics.drift(fleet, cluster)
    return {"region": folder.region, "into": _bucket(fleet, folder.region), "folder": folder.prefix}


def _bucket(fleet: Fleet, region: str) -> str:
    bucket = bucket_name(fleet, region)
    in_blob = in_azure(fleet, region)
    return f"https://{bucket}.blob.core.windows.net/{CONTAINER}" if in_blob else f"s3://{bucket}"


def connections(fleet: Fleet, cluster: str) -> Iterator[Manifest]:
    """Of the cluster's places with each other, by regions."""
    there = fleet_metrics.places(fleet, cluster)
    far = sorted(there & fleet.sites.keys())
    for region in fleet_metrics.linked(fleet, cluster, "aws"):
        beyond = [name for name in sorted(there) if in_azure(fleet, name)]
        yield from _of_sites(fleet, region, far)
        for other in beyond:
            # Whichever of the two the cluster has its home in, it is the other one that is cut off.
            place = region if other == fleet.clusters[cluster].region else other
            for number in range(1, INSTANCES + 1):
                yield _connection(fleet, region, other, place, number)
    for region in fleet_metrics.linked(fleet, cluster, "azure"):
        yield from _of_sites(fleet, region, far)


def _of_sites(fleet: Fleet, region: str, sites: list[str]) -> Iterator[Manifest]:
    for site in sites:
        for number, _ in enumerate(fleet.sites[site].gateways, 1):
            yield _connection(fleet, region, site, site, number)


def _connection(fleet: Fleet, region: str, other: str, place: str, number: int) -> Manifest:
    name, owner = connection_name(region, other, number), Owner(fleet.fleet, fleet.owner, LINKS)
    return {
        "link": f"{other}/{region}",
        "place": place,
        "region": region,
        "connection": name,
        "named": azure_role.connection(fleet, region, owner.name(name, 80))
        if in_azure(fleet, region)
        else owner.tags(name)["Name"],
    }


def _peers(spec: AddOnsSpec) -> Iterator[Manifest]:
    """Of Azure's gateways, in the connections of which it tells. In AWS the state of tunnels is that of BGP."""
    addresses = {one.name: one.bgp_address for one in spec.peers}
    for one in connections(spec.fleet, spec.cluster.name):
        if peer := addresses.get(one["connection"]):
            yield {**one, "peer": peer, "named": azure_role.gateway(spec.fleet, one["region"])}


def _quotas(fleet: Fleet, cluster: str) -> Iterator[Manifest]:
    """Those that the cluster's pools count in, whoever else does: a cloud counts the account's machines together."""
    for region in autoscaler.regions(fleet, cluster):
        cloud = fleet.regions[region].cloud
        own = {name for name, pool in fleet.pools.items() if pool.cluster == cluster}
        for place, pools in quotas.grown(fleet, region).items():
            if own & pools.keys():
                name = quotas.cloud_name(cloud, place)
                yield {
                    "region": region,
                    "quota": place[-1],
                    "named": f"{azure_role.usages(fleet, region)}/{name}" if cloud == "azure" else name,
                    "planned_vcpus": sum(pools.values()),
                }


def _images(fleet: Fleet, cluster: str) -> Iterator[Manifest]:
    """By regions. All groups of a pool start from one."""
    pools = autoscaler.pools(fleet, cluster).items()
    for name, pool in sorted(pools, key=lambda one: (one[1].region or "", one[0])):
        region = pool.region or ""
        yield {
            "pool": name,
            "region": region,
            "named": azure_role.scale_set(fleet, region, Names(fleet).groups(name)[0])
            if in_azure(fleet, region)
            else f"{RESOLVE}{image_names.of_pool(fleet, name)}",
            "due_seconds": fleet.images.max_age_days * 86_400,
        }


def _shares(spec: AddOnsSpec) -> Iterator[Manifest]:
    """By regions. A file system of AWS has all of them; in a preview before it is there nobody knows its id."""
    for region, files in sorted(spec.file_systems.items()):
        if isinstance(files, Files):
            for share in spec.fleet.storage.shares:
                yield {"region": region, "share": share, "named": azure_role.share(spec.fleet, region, share)}
        elif ids := {one.partition("::")[0] for one in files.shares.values() if isinstance(one, str)}:
            yield {"region": region, "share": "", "named": min(ids)}


def _zones(spec: AddOnsSpec) -> Iterator[tuple[str, int]]:
    """Nodes that a zone's private subnet has room for, beside what stands at planned addresses there."""
    for pool in spec.pools:
        for zone in pool.zones:
            private = sizes.REGIONS[spec.fleet.regions[pool.place].size].private
            room = 2 ** (sizes.ADDRESS - private) - 2 ** (sizes.ADDRESS - sizes.FIXED)
            yield zone_name(spec.fleet, pool.place, zone), room


def pod(spec: AddOnsSpec) -> Manifest:
    fleet, cluster = spec.fleet, spec.cluster.name
    known, mounts, volumes, more = list[Manifest](), list[Manifest](), list[Manifest](), list[str]()
    if aws_role.wanted(fleet, cluster):
        known += aws_pod_role.variables(spec, aws_role.role_arn(fleet, cluster))
        mounts.append(aws_pod_role.mount())
        volumes.append(aws_pod_role.volume())
    if azure_role.wanted(fleet, cluster):
        known += azure_pod_role.variables(fleet, ADDON)
        mounts.append(azure_pod_role.mount())
        volumes.append(azure_pod_role.volume(ADDON))
        more += azure_pod_role.arguments()
    reader = ours(
        ADDON,
        "10m",
        "128Mi",
        [
            "python3",
            "-m",
            "services.fleet_metrics",
            f"--settings={FOLDER}/settings.json",
            f"--metrics=:{PORT}",
            f"--read-seconds={READ_MINUTES * 60}",
            *more,
        ],
        env=known,
        **alive(PORT),
        volumeMounts=[{"name": "settings", "mountPath": FOLDER, "readOnly": True}, *mounts],
    )
    return system_pod(
        ADDON,
        automountServiceAccountToken=False,
        containers=[reader],
        volumes=[{"name": "settings", "configMap": {"name": SETTINGS}}, *volumes],
    )
