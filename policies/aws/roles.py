"""Roles that pods take by a token of their cluster's issuer: a team's opens that team's storage alone, that of a
cluster's autoscaler sizes that cluster's pools alone, that of its recorder keeps that cluster's records alone, as that
of its joining service instances are looked at, and that of its fleet metrics lists that cluster's snapshots.

Any other service account gets no role: whoever gives it one says here what it may.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from fleet import autoscaler, fleet_metrics, issuers, joining, recorder, team_storage
from fleet.buckets import bucket_arn, key_alias
from fleet.model import Fleet
from fleet.world import World

from ..reading import UNKNOWN, Finding, Item, finding, of_types, undecidable, unknown_in
from .role_documents import ATTACHMENT, ROLE, allowed, asks, attached_to, documents, inlined, judged, listed

# Type → property that says who may take a role.
TAKEN = {ROLE: ("assumeRolePolicy",)}
ACTION = "sts:AssumeRoleWithWebIdentity"
READ = {"s3:getobject"}
KEEP = {"s3:putobject", "s3:deleteobject"}
WRITE = {*KEEP, "s3:abortmultipartupload", "s3:listmultipartuploadparts"}
LIST = "s3:listbucket"
OPENS, SEALS = "kms:decrypt", "kms:generatedatakey"
MACHINES = {"ec2:describeinstances", "ec2:describeinstancestatus", "autoscaling:describescalingactivities"}
INSTANCES = {"ec2:describeinstances"}
# EC2's own word of VPN connections has the keys of their tunnels in it.
LINKS = {"ec2:describetags", "cloudwatch:getmetricdata"}
POOLS = {"servicequotas:getservicequota", "cloudwatch:getmetricdata", "ec2:describeimages"}
FILES = {"cloudwatch:getmetricdata"}
CHANNELS = {"ssm:getparameters"}
DESCRIBE_ACTIONS = {"autoscaling:describeautoscalinggroups", "autoscaling:describescalingactivities"}
SIZES = {
    "autoscaling:setdesiredcapacity",
    "autoscaling:terminateinstanceinautoscalinggroup",
    "autoscaling:completelifecycleaction",
}
NARROW = "Name what the team has: its folder of the fleet buckets, and its buckets in the fleet file"
GROUPS = "Take components/addons/aws/autoscaler_role.py's: the cluster's own groups by name and tags, in its regions"
RECORDS = "Take components/addons/aws/recorder_role.py's: the cluster's own records, and its audit log to read"
LOOKS = "Take components/addons/aws/joining_role.py's: to look at instances in the cluster's regions"
METRICS = "Take components/addons/aws/fleet_metrics_role.py's: to list the cluster's snapshots, and no right to read"
TRUST = "Trust components/addons/aws/team_roles.py's: one issuer, one service account, one audience"
# Whether a statement may have one of a resource.
Fits = Callable[[str, dict[str, Any]], bool]


class Own(NamedTuple):
    """What one service account may: sets of actions, each with whether a statement may have one of a resource.

    `remedy` is what to do about what it may not.
    """

    who: str
    remedy: str
    may: tuple[tuple[set[str], Fits], ...]


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    if world.fleet.aws is None:
        return
    inline, attached = inlined(found), [item for item in found if item.type.startswith(ATTACHMENT)]
    for role in of_types(found, TAKEN):
        trust = role.props.get("assumeRolePolicy")
        if unknown_in(trust):
            yield undecidable(role, "assumeRolePolicy")
            continue
        federated = list(_federated(trust))
        if not federated:
            continue  # grants.py and machines.py judge the others
        subjects = {subject for statement in federated for subject in _subjects(statement, world.fleet)}
        own = _own(world.fleet, subjects, {cluster for one in federated if (cluster := _cluster(one, world.fleet))})
        if own is None:
            ours = f"{autoscaler.ACCOUNT}, {recorder.ACCOUNT}, {fleet_metrics.ACCOUNT} or {joining.ACCOUNT}"
            whose = f"not one cluster's {ours} and no team's {team_storage.ACCOUNT}"
            what = f"pods may take the role that are {whose}: {', '.join(sorted(subjects))}"
            yield finding(role, "assumeRolePolicy", what, TRUST)
            continue
        yield from _judge_all(role, own, inline, attached)


def _own(fleet: Fleet, subjects: set[str], clusters: set[str]) -> Own | None:
    """Whose role it is, by those who may take it and by the clusters that vouch for them."""
    for team in fleet.teams:
        if subjects == {team_storage.subject(team)}:
            return _of_team(fleet, team)
    services = {
        autoscaler.SUBJECT: _of_autoscaler,
        recorder.SUBJECT: _of_recorder,
        joining.SUBJECT: _of_joining,
        fleet_metrics.SUBJECT: _of_fleet_metrics,
    }
    found = [of for subject, of in services.items() if subjects == {subject} and len(clusters) == 1]
    return found[0](fleet, *clusters) if found else None


def _cluster(statement: dict[str, Any], fleet: Fleet) -> str | None:
    """Whose issuer a statement trusts."""
    named = statement["Principal"].get("Federated")
    return next((name for name in fleet.clusters if issuers.provider_arn(fleet, name) == named), None)


def _federated(document: Any) -> Iterator[dict[str, Any]]:
    """Statements that name identity providers; grants.py tells of a document that can't be read."""
    try:
        found = list(allowed(document))
    except ValueError:
        return
    for statement in found:
        principal = statement.get("Principal")
        if isinstance(principal, dict) and principal.get("Federated"):
            yield statement


def _subjects(statement: dict[str, Any], fleet: Fleet) -> Iterator[str]:
    """Whom a statement lets in, in full: a cluster's own issuer must say so, in a token that is for AWS alone."""
    principal, equals = statement["Principal"], (statement.get("Condition") or {}).get("StringEquals") or {}
    cluster = _cluster(statement, fleet)
    if cluster is None or set(principal) != {"Federated"}:
        yield f"those of {principal}"
        return
    issuer = issuers.url(fleet, cluster).removeprefix("https://")
    if listed(statement.get("Action")) != [ACTION] or listed(equals.get(f"{issuer}:aud")) != [issuers.AUDIENCE]:
        yield f"those whose token is not for {issuers.AUDIENCE}"
    yield from listed(equals.get(f"{issuer}:sub") or "anybody")


def _of_team(fleet: Fleet, team: str) -> Own:
    arns, folder = team_storage.bucket_arns(fleet), f"{team_storage.FOLDER}/{team}/"
    records, regions = recorder.read_by(team), team_storage.regions(fleet)
    buckets = {f"arn:aws:s3:::{bucket.name}": bucket for bucket in fleet.teams[team].buckets}
    written = {arn for arn, bucket in buckets.items() if bucket.write}
    keys = {bucket.key: bucket.write for bucket in buckets.values() if bucket.key}
    keys |= {bucket.key: True for bucket in buckets.values() if bucket.key and bucket.write}

    def folders(resource: str, _: dict[str, Any]) -> bool:
        return any(resource.startswith(f"{arn}/{folder}") for arn in arns)

    def seen(resource: str, _: dict[str, Any]) -> bool:
        return resource in {f"{arn}/{records}" for arn in arns}

    def inside(known: Any) -> Fits:
        return lambda resource, _: any(resource.startswith(f"{arn}/") for arn in known)

    def lists(resource: str, statement: dict[str, Any]) -> bool:
        return resource in buckets or (
            resource in arns and _only(statement, "StringLike", "s3:prefix", {f"{folder}*", records}.__contains__)
        )

    def opens(resource: str, statement: dict[str, Any]) -> bool:
        return resource in keys or _fleet_key(fleet, regions, resource, statement)

    def seals(resource: str, statement: dict[str, Any]) -> bool:
        return keys.get(resource, False) or _fleet_key(fleet, regions, resource, statement)

    return Own(
        f"team {team}",
        NARROW,
        (
            (READ | WRITE, folders),
            (READ, seen),
            (READ, inside(buckets)),
            (WRITE, inside(written)),
            ({LIST}, lists),
            ({OPENS}, _in_s3(opens)),
            ({SEALS}, _in_s3(seals)),
        ),
    )


def _of_autoscaler(fleet: Fleet, cluster: str) -> Own:
    arns, tags = autoscaler.group_arns(fleet, cluster), autoscaler.group_tags(fleet, cluster)
    regions = set(autoscaler.regions(fleet, cluster, "aws"))

    def describes(_: str, statement: dict[str, Any]) -> bool:
        return _only(statement, "StringEquals", "aws:RequestedRegion", regions.__contains__)

    def sizes(resource: str, statement: dict[str, Any]) -> bool:
        tagged = all(asks(statement, "StringEquals", f"aws:ResourceTag/{key}", value) for key, value in tags.items())
        return resource in arns and tagged

    return Own(f"the autoscaler of {cluster}", GROUPS, ((DESCRIBE_ACTIONS, describes), (SIZES, sizes)))


def _of_recorder(fleet: Fleet, cluster: str) -> Own:
    """At home elsewhere it has no bucket in S3, and may nothing there."""
    homes = [name for name in team_storage.regions(fleet) if name == fleet.clusters[cluster].region]
    arns = [bucket_arn(fleet, home) for home in homes]
    own, audit = recorder.written(cluster), f"audit/{cluster}/*"

    def below(patterns: list[str]) -> Fits:
        return lambda resource, _: resource in {f"{arn}/{pattern}" for arn in arns for pattern in patterns}

    def lists(resource: str, statement: dict[str, Any]) -> bool:
        return resource in arns and _only(statement, "StringLike", "s3:prefix", {*own, audit}.__contains__)

    def keys(resource: str, statement: dict[str, Any]) -> bool:
        return _fleet_key(fleet, homes, resource, statement)

    regions = set(autoscaler.regions(fleet, cluster, "aws"))

    def describes(_: str, statement: dict[str, Any]) -> bool:
        return bool(regions) and _only(statement, "StringEquals", "aws:RequestedRegion", regions.__contains__)

    machines = (MACHINES, describes)
    may = (machines, (KEEP, below(own)), (READ, below([*own, audit])), ({LIST}, lists), ({OPENS, SEALS}, _in_s3(keys)))
    return Own(f"the recorder of {cluster}", RECORDS, may)


def _of_joining(fleet: Fleet, cluster: str) -> Own:
    regions = set(joining.regions(fleet, cluster, "aws"))

    def looks(_: str, statement: dict[str, Any]) -> bool:
        return _only(statement, "StringEquals", "aws:RequestedRegion", regions.__contains__)

    return Own(f"the joining service of {cluster}", LOOKS, ((INSTANCES, looks),))


def _of_fleet_metrics(fleet: Fleet, cluster: str) -> Own:
    """It lists what lies below a few prefixes, is told of tunnels, quotas and file systems in the cluster's regions,
    and reads nothing.
    """
    there = team_storage.regions(fleet)
    folders = {
        (bucket_arn(fleet, one.region), f"{one.prefix}*")
        for one in fleet_metrics.folders(fleet, cluster)
        if one.region in there
    }
    linked = set(fleet_metrics.linked(fleet, cluster, "aws"))
    grown = set(autoscaler.regions(fleet, cluster, "aws"))
    filed = set(fleet_metrics.filed(fleet, cluster, "aws"))

    def lists(resource: str, statement: dict[str, Any]) -> bool:
        below = {prefix for bucket, prefix in folders if bucket == resource}
        return _only(statement, "StringLike", "s3:prefix", below.__contains__)

    def within(regions: set[str]) -> Fits:
        return lambda _, statement: _only(statement, "StringEquals", "aws:RequestedRegion", regions.__contains__)

    channels = fleet_metrics.channel_arns(fleet, cluster)
    named = (CHANNELS, lambda resource, _: resource in channels)
    may = (({LIST}, lists), (LINKS, within(linked)), (POOLS, within(grown)), (FILES, within(filed)), named)
    return Own(f"the fleet metrics of {cluster}", METRICS, may)


def _fleet_key(fleet: Fleet, regions: list[str], resource: str, statement: dict[str, Any]) -> bool:
    """Any key of such a region, of which the alias leaves the fleet bucket's."""
    assert fleet.aws is not None
    every = {f"arn:aws:kms:{region}:{fleet.aws.account_id}:key/*" for region in regions}
    aliases = {key_alias(fleet, region) for region in regions}
    return resource in every and _only(
        statement, "ForAnyValue:StringEquals", "kms:ResourceAliases", aliases.__contains__
    )


def _in_s3(fits: Fits) -> Fits:
    return lambda resource, statement: _by_s3(statement) and fits(resource, statement)


def _by_s3(statement: dict[str, Any]) -> bool:
    return _only(statement, "StringEquals", "kms:ViaService", lambda via: via.startswith("s3."))


def _only(statement: dict[str, Any], operator: str, key: str, good: Callable[[str], bool]) -> bool:
    """Whether a statement holds only where the key has one of some good values."""
    named = listed(((statement.get("Condition") or {}).get(operator) or {}).get(key) or [])
    return bool(named) and all(good(one) for one in named)


def _judge_all(role: Item, own: Own, inline: dict[Any, list[Item]], attached: list[Item]) -> Iterator[Finding]:
    if role.props.get("name") is UNKNOWN:  # nobody can tell then which policies are the role's
        yield undecidable(role, "name")
    for arn in (*(role.props.get("managedPolicyArns") or ()), *attached_to(attached, role)):
        what = f"the role of {own.who} has the policy {arn}"
        yield finding(role, "managedPolicyArns", what, own.remedy)
    for item, path, document in documents(role, inline):
        yield from _judge(item, path, document, own)


def _judge(item: Item, path: str, document: Any, own: Own) -> Iterator[Finding]:
    def judge(statement: dict[str, Any]) -> Iterator[Finding]:
        for action in listed(statement.get("Action")):
            for resource in listed(statement.get("Resource")):
                if not any(action.lower() in actions and fits(resource, statement) for actions, fits in own.may):
                    yield finding(item, path, f"{own.who} may {action} of {resource}", own.remedy)

    yield from judged(item, path, document, own.who, own.remedy, judge)
