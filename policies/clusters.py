"""Clusters as a whole: etcd's members, the way in to the API, snapshots, certificates and tokens."""

import base64
import binascii
import datetime
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from fleet.world import World

from .aws.machines import BACKUPS as SNAPSHOTS
from .aws.machines import COPIES, MEMBER, writes
from .azure import roles as azure_roles
from .boot import MACHINE
from .reading import AZURE, UNKNOWN, Finding, Item, finding, of_types, tag, undecidable, unknown_in, values

DISK = "landbridge:disk"
VOLUME, GROUP, INTERFACE = (
    "aws:ebs/volume:Volume",
    "aws:autoscaling/group:Group",
    "aws:ec2/networkInterface:NetworkInterface",
)
# What every etcd member has one of, with its volumes told apart by their tag.
MEMBER_RESOURCES = ("volume etcd-main", "volume etcd-events", "scaling group", "network interface")
PART_OF = ((GROUP, "scaling group"), (INTERFACE, "network interface"))
# The same in Azure, where a machine stands by itself: scale sets give no planned addresses.
AZURE_MEMBER_RESOURCES = ("volume etcd-main", "volume etcd-events", "machine", "network interface")
DISK_OF_AZURE, MACHINE_OF_AZURE, INTERFACE_OF_AZURE = (
    "azure-native:compute:Disk",
    "azure-native:compute:VirtualMachine",
    "azure-native:network:NetworkInterface",
)
AZURE_PART_OF = ((MACHINE_OF_AZURE, "machine"), (INTERFACE_OF_AZURE, "network interface"))
COUNTS = (3, 5)
# Type → where it says in which region it stands.
STANDS = {
    VOLUME: ("availabilityZone", "region"),
    GROUP: ("availabilityZones", "region"),
    INTERFACE: ("region",),
    DISK_OF_AZURE: ("location",),
    MACHINE_OF_AZURE: ("location",),
    INTERFACE_OF_AZURE: ("location",),
}
ZONE = re.compile(r"([a-z]{2}(?:-[a-z]+)+-\d+)[a-z]?")
API_PORT = 6443
# Type → what keeps a balancer inside.
INSIDE = {"aws:lb/loadBalancer:LoadBalancer": ("internal",), "aws:alb/loadBalancer:LoadBalancer": ("internal",)}
# Type → what must be off for targets that call the balancer themselves.
CLIENT_ADDRESS = {
    "aws:lb/targetGroup:TargetGroup": ("preserveClientIp",),
    "aws:alb/targetGroup:TargetGroup": ("preserveClientIp",),
}
HAIRPIN = (
    "Set preserveClientIp to false: an API server that reaches itself through the balancer gets no answer otherwise"
)
HOURS, RENEWAL = "validityPeriodHours", "earlyRenewalHours"
CERTIFICATES = {
    "tls:index/locallySignedCert:LocallySignedCert": (HOURS, RENEWAL),
    "tls:index/selfSignedCert:SelfSignedCert": (HOURS, RENEWAL),
}
YEAR_HOURS, AUTHORITY_HOURS = 366 * 24, 10 * 366 * 24
# Type → where a bootstrap token says when it ends; `data` in base64.
TOKENS = {"kubernetes:core/v1:Secret": ("stringData.expiration", "data.expiration")}
TOKEN_TYPE = "bootstrap.kubernetes.io/token"  # noqa: S105
# Type → rules that delete objects.
LIFECYCLES = {"aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": ("rules",)}
BACKUPS, LEAST_DAYS = "backups/", 7
PROTECTED_PREFIXES = (BACKUPS, "copies/", "nfs/")


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    members = [
        (item, match) for item in of_types(found, STANDS) if (match := MEMBER.fullmatch(str(tag(item, MACHINE))))
    ]
    for item in of_types(found, STANDS):
        if tag(item, MACHINE) is UNKNOWN:
            yield undecidable(item, f"tags.{MACHINE}")
    there = [(item, match) for item, match in members if item.type.startswith(AZURE)]
    here = [(item, match) for item, match in members if not item.type.startswith(AZURE)]
    yield from _counts(here, MEMBER_RESOURCES, PART_OF)
    yield from _counts(there, AZURE_MEMBER_RESOURCES, AZURE_PART_OF)
    yield from _regions(members, world)
    yield from _snapshots(found, {match[0]: item for item, match in here}, world)
    yield from azure_roles.snapshots(found, {match["cluster"]: item for item, match in there}, world)
    for item in of_types(found, LIFECYCLES):
        yield from _lifecycle(item, "rules")
    for item in of_types(found, INSIDE):
        yield from _balancer(item, "internal", world)
    for item in of_types(found, CLIENT_ADDRESS):
        yield from _targets(item, "preserveClientIp")
    for item in of_types(found, CERTIFICATES):
        yield from _certificate(item)
    for item in of_types(found, TOKENS):
        yield from _token(item)


def _counts(
    members: list[tuple[Item, re.Match[str]]], own: tuple[str, ...], part_of: tuple[tuple[str, str], ...]
) -> Iterator[Finding]:
    """Three or five of each part, and the same members for all."""
    clusters: dict[str, dict[str, dict[str, Item]]] = defaultdict(lambda: defaultdict(dict))
    for item, match in members:
        disk = tag(item, DISK)
        part = dict(part_of).get(item.type, f"volume {disk}")
        resources = clusters[match["cluster"]][part]
        if disk is UNKNOWN:
            yield undecidable(item, f"tags.{DISK}")
        elif part not in own:
            what = f"the volume of {match[0]} has the tag {DISK} {disk}"
            yield finding(item, "tags", what, "Set it to etcd-main or etcd-events")
        elif match[0] in resources:
            yield finding(
                item, "tags", f"{match[0]} has a {part} already: {resources[match[0]].name}", "Remove one of the two"
            )
        else:
            resources[match[0]] = item
    for cluster, parts in clusters.items():
        known = {machine: item for resources in parts.values() for machine, item in resources.items()}
        if known and len(known) not in COUNTS:
            what = f"cluster {cluster} has {len(known)} etcd members"
            yield finding(known[min(known)], "tags", what, "etcd needs 3 or 5: other numbers lose more than they bear")
        for machine, item in known.items():
            if lacking := [part for part in own if machine not in parts.get(part, {})]:
                what = f"etcd member {machine} lacks its own {', '.join(lacking)}"
                yield finding(item, "tags", what, f"Make it, with tag {MACHINE} {machine}")


def _regions(members: list[tuple[Item, re.Match[str]]], world: World) -> Iterator[Finding]:
    home = {name: cluster.region for name, cluster in world.fleet.clusters.items()}
    for item, match in members:
        for path in STANDS[item.type]:
            for place in values(item.props, path):
                if place is UNKNOWN:
                    yield undecidable(item, path)
                elif place:
                    region = found[1] if (found := ZONE.fullmatch(str(place))) else str(place)
                    if region != home.setdefault(match["cluster"], region):
                        what = f"etcd member {match[0]} stands in {place}, and its cluster in {home[match['cluster']]}"
                        yield finding(
                            item, path, what, "One etcd cluster stands in one region: its quorum can't wait longer"
                        )


def _snapshots(found: list[Item], members: dict[str, Item], world: World) -> Iterator[Finding]:
    may = {kind: writes(found, world.fleet, kind) for kind in (SNAPSHOTS, COPIES)}
    for machine, item in sorted(members.items()):
        cluster = machine.rpartition("-etcd-")[0]
        wanted = [("snapshots", may[SNAPSHOTS].get(machine, False), f"the fleet bucket's {BACKUPS}{cluster}/*")]
        if (known := world.fleet.clusters.get(cluster)) and known.copies:
            place = f"the fleet bucket's copies/{known.region}/{cluster}/* in {known.copies}"
            wanted.append(("copies of snapshots", may[COPIES].get(machine, False), place))
        if any(allowed is None for _, allowed, _ in wanted):
            yield undecidable(item, f"the policy of {machine}'s role")
            continue
        for what, allowed, place in wanted:
            if not allowed:
                remedy = f"Allow its role s3:PutObject on {place}"
                yield finding(item, "tags", f"{what} are off: {machine} may write none", remedy)


def _lifecycle(item: Item, path: str) -> Iterator[Finding]:
    for rule in values(item.props, path):
        if unknown_in(rule):
            yield undecidable(item, path)
        elif isinstance(rule, dict) and rule.get("status") == "Enabled":
            within = rule.get("filter") or {}
            prefix = rule.get("prefix") or within.get("prefix") or (within.get("and") or {}).get("prefix") or ""
            days = (rule.get("expiration") or {}).get("days")
            touched = [place for place in PROTECTED_PREFIXES if prefix.startswith(place) or place.startswith(prefix)]
            if touched and days and days < LEAST_DAYS:
                what = f"rule {rule.get('id')} deletes snapshots after {days} days"
                yield finding(item, path, what, f"Keep {' and '.join(touched)} for {LEAST_DAYS} days at least")


def _balancer(item: Item, path: str, world: World) -> Iterator[Finding]:
    value = item.props.get(path)
    if value is UNKNOWN:
        yield undecidable(item, path)
    elif value is not True:
        listed = [rule.cidr for rule in world.fleet.ingress if rule.port == API_PORT and rule.cidr != "0.0.0.0/0"]
        guards = item.props.get("securityGroups")
        if not listed or not guards:
            lacks = "no security groups" if listed else "no allow-list"
            remedy = f"Make it internal, or declare port {API_PORT} under `ingress` and give it security groups"
            yield finding(item, path, f"the balancer is open to the internet with {lacks}", remedy)


def _targets(item: Item, path: str) -> Iterator[Finding]:
    port, kind, value = (item.props.get(name) for name in ("port", "targetType", path))
    if port is UNKNOWN or (port == API_PORT and value is UNKNOWN):
        yield undecidable(item, "port" if port is UNKNOWN else path)._replace(path=path)
    elif port == API_PORT and value not in (False, "false"):
        on = value not in (None, "")
        by_itself = kind in (None, "", "instance") or item.props.get("protocol") not in ("TCP", "TLS")
        if not on and UNKNOWN in (kind, item.props.get("protocol")):
            yield undecidable(item, "targetType")._replace(path=path)
        elif on or by_itself:
            how = "is on" if on else "is on by itself for such targets"
            yield finding(item, path, f"{path} {how}", HAIRPIN)


def _certificate(item: Item) -> Iterator[Finding]:
    hours, early, authority = (item.props.get(name) for name in (HOURS, RENEWAL, "isCaCertificate"))
    for path, value in ((HOURS, hours), (RENEWAL, early)):
        if UNKNOWN in (value, authority):
            yield undecidable(item, path)
    if unknown_in([hours, early, authority]):
        return
    most = AUTHORITY_HOURS if authority else YEAR_HOURS
    if not hours or hours > most:
        what = f"{HOURS} is {hours}"
        yield finding(item, HOURS, what, f"{'An authority' if authority else 'A certificate'} may last {most} hours")
    if not authority and not 0 < (early or 0) < (hours or 0):
        what = f"{RENEWAL} is {early}: the certificate {'is never renewed' if not early else 'is always due'}"
        yield finding(item, RENEWAL, what, "Renew it before its end, as 90 days (2160 hours)")


def _token(item: Item) -> Iterator[Finding]:
    kind = item.props.get("type")
    texts, data = item.props.get("stringData"), item.props.get("data")
    path = "data.expiration" if data and not texts else "stringData.expiration"
    if kind not in (TOKEN_TYPE, UNKNOWN):
        return
    end = _expiration(texts, data)
    if UNKNOWN in (kind, end):
        yield undecidable(item, path)
    elif not isinstance(end, datetime.datetime):
        what = "the bootstrap token never ends" if end is None else f"the bootstrap token's expiration is {end!r}"
        yield finding(item, path, what, "Give it an expiration such as 2027-01-31T12:00:00Z, a day ahead at most")


def _expiration(texts: Any, data: Any) -> Any:
    """When a token ends, None when it does not say, or what can't be read."""
    for written, plain in ((texts, True), (data, False)):
        value: Any = written if written is UNKNOWN else (written or {}).get("expiration")
        if value is UNKNOWN:
            return UNKNOWN
        if value:
            try:
                text = value if plain else base64.b64decode(value, validate=True).decode()
                return datetime.datetime.fromisoformat(text)
            except (ValueError, binascii.Error):
                return value
    return None
