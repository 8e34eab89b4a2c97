"""Machines with a name of their own (tag landbridge:machine): who they are, what they may read, that each is alone."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from fleet import laptops, logins
from fleet.buckets import unique_names
from fleet.model import Fleet
from fleet.world import World

from .. import boot
from ..boot import MACHINE, POOL
from ..reading import UNKNOWN, Finding, Item, finding, of_types, tag, undecidable, unknown_in
from .grants import statements
from .role_documents import ATTACHMENT, ROLE, allowed, asks, attached_to, documents, inlined, judged, listed

# Type → property that says who may take a role; a machine's is EC2's alone.
ASSUMED = {ROLE: ("assumeRolePolicy",)}
EC2 = {"Service": "ec2.amazonaws.com"}
# AWS's own policies that a machine's role may have beside its own: the way in by SSM.
MANAGED = {"arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"}
# Type → property of a group of one machine → what it may be; None stands for what is left out.
ALONE: dict[str, dict[str, tuple[Any, ...]]] = {
    "aws:autoscaling/group:Group": {
        "minSize": (1,),
        "maxSize": (1,),
        "desiredCapacity": (1, None),
        "instanceRefresh": (None,),  # machines are replaced by `landbridge cluster roll` alone, one at a time
    }
}
# NAME of a machine → its cluster and its number.
MEMBER = re.compile(r"(?P<cluster>.+)-etcd-(?P<number>\d+)")
NAMED = re.compile(r"(?P<cluster>.+)-(?P<role>etcd|api)-\d+")

OWN, BACKUPS, COPIES, AUDIT, SECRET = "own", "backups", "copies", "audit", "secret"
KEY, COPIES_KEY, GRANT, VOLUME, LIST = "key", "copies key", "grant", "volume", "list"
# Action, in lower case as IAM ignores case → what of ours it may be about. Others of these services are no machine's.
MAY: dict[str, tuple[str, ...]] = {
    "s3:getobject": (OWN, BACKUPS),
    "s3:getobjectversion": (OWN, BACKUPS),
    "s3:putobject": (BACKUPS, COPIES, AUDIT),
    "s3:abortmultipartupload": (BACKUPS, COPIES, AUDIT),
    "s3:listbucket": (LIST,),
    "secretsmanager:getsecretvalue": (SECRET,),
    "secretsmanager:describesecret": (SECRET,),
    "kms:decrypt": (KEY, COPIES_KEY),
    "kms:generatedatakey": (KEY, COPIES_KEY),
    "kms:describekey": (KEY,),
    "kms:creategrant": (GRANT,),
    "ec2:attachvolume": (VOLUME,),
    "ec2:detachvolume": (VOLUME,),
}
JUDGED = re.compile(r"(s3|secretsmanager|kms|iam|sts|ec2|.*[*?].*):.*|\*", re.IGNORECASE)
HARMLESS = re.compile(r"ec2:describe\w*\*?", re.IGNORECASE)
ROLES_OF = {BACKUPS: "etcd", COPIES: "etcd", COPIES_KEY: "etcd", AUDIT: "api", LIST: "etcd"}
INSTANCE = re.compile(r"arn:aws:ec2:[^:]*:[^:]*:instance/")
TAG_KEYS = (f"aws:ResourceTag/{MACHINE}", f"ec2:ResourceTag/{MACHINE}")
FOR_AWS = "kms:GrantIsForAWSResource"
# Secrets Manager ends ARNs with six letters that nobody knows before.
SECRET_ENDS = re.compile(r"\*|\?{6}|[A-Za-z0-9]{6}")
NARROW = "Name what the machine needs: its own prefix, and nothing else"


class Own(NamedTuple):
    """What belongs to one machine, or to all of a pool: kind → beginnings of ARNs.

    `lists` is the pattern of the names that it may list in its buckets.
    """

    machine: str
    begins: dict[str, tuple[str, ...]]
    lists: str = ""


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    yield from boot.findings(found, unique_names(world.fleet))
    yield from _alone(found)
    yield from _roles(found, world)


def _alone(found: list[Item]) -> Iterator[Finding]:
    for item in of_types(found, ALONE):
        machine = tag(item, MACHINE)
        for path, right in ALONE[item.type].items():
            value = item.props.get(path)
            if machine is UNKNOWN or (machine and value is UNKNOWN):
                yield undecidable(item, path if machine else f"tags.{MACHINE}")._replace(path=path)
            elif machine and value not in right and not (value == [] and None in right):
                what = f"{path} of {machine}'s group is {json.dumps(value)}"
                yield finding(item, path, what, "A group of one keeps one machine: 1, without a refresh of its own")


def _roles(found: list[Item], world: World) -> Iterator[Finding]:
    inline = inlined(found)
    attached = [item for item in found if item.type.startswith(ATTACHMENT)]
    for item in (*inline[UNKNOWN], *(other for other in attached if other.props.get("role") is UNKNOWN)):
        yield undecidable(item, "role")
    for role in of_types(found, ASSUMED):
        machine, pool, trust = tag(role, MACHINE), tag(role, POOL), role.props.get("assumeRolePolicy")
        if UNKNOWN in (machine, pool) or unknown_in(trust):
            yield undecidable(role, "assumeRolePolicy")
            continue
        trusted = list(_trusted(trust))
        if not (machine or pool) and EC2 not in trusted:
            continue  # no machine's role: grants.py judges who may take it
        if any(who != EC2 for who in trusted):
            what = f"the role of {machine or pool or 'a machine'} may be taken by others than EC2"
            yield finding(role, "assumeRolePolicy", what, "Allow sts:AssumeRole to ec2.amazonaws.com alone")
        own = _of_pool(world.fleet, str(pool)) if pool else _of_machine(world.fleet, str(machine))
        if own is None:
            what = f"EC2 may take the role, and its tag names no machine ({machine}) and no pool ({pool})"
            remedy = f"Set tag {MACHINE} to the machine's name, such as main-etcd-1, or {POOL} to the pool's"
            yield finding(role, "tags", what, remedy)
            continue
        for arn in (*(role.props.get("managedPolicyArns") or ()), *attached_to(attached, role)):
            yield from _managed(role, own, arn)
        for item, path, document in documents(role, inline):
            yield from judge(item, path, document, own)


def _of_machine(fleet: Fleet, machine: str) -> Own | None:
    if own := _of_laptops(fleet, machine):
        return own
    named = NAMED.fullmatch(machine)
    if named is None:
        return None
    cluster = named["cluster"]
    return Own(machine, _begins(fleet, cluster, machine, named["role"]), f"backups/{cluster}/*")


def _of_laptops(fleet: Fleet, machine: str) -> Own | None:
    """A server for laptops reads its bundle, its keys and the list of revoked certificates, not the authority's key."""
    for region in fleet.regions:
        for server in laptops.servers(fleet, region):
            if machine == laptops.machine(region, server):
                account, prefix = fleet.aws.account_id if fleet.aws else "", f"{fleet.fleet}/{laptops.PLACE}/{server}"
                own = f"{bucket(fleet, region)}/{prefix}/"
                reads = (own, f"{bucket(fleet, region)}/{laptops.REVOKED}", *_lists(fleet, region))
                secret = f"arn:aws:secretsmanager:{region}:{account}:secret:{prefix}-"
                return Own(machine, {OWN: reads, SECRET: (secret,), KEY: (f"arn:aws:kms:{region}:{account}:key/",)})
    return None


def _of_pool(fleet: Fleet, name: str) -> Own | None:
    """Its bundle, in its region alone. It writes nowhere, and has no secret but what it shows to people's clients."""
    pool = fleet.pools.get(name)
    if pool is None or pool.region is None or fleet.aws is None:
        return None
    key = f"arn:aws:kms:{pool.region}:{fleet.aws.account_id}:key/"
    bundle = f"{bucket(fleet, pool.region)}/{fleet.fleet}/{pool.cluster}/{name}/"
    own: dict[str, tuple[str, ...]] = {OWN: (bundle,), KEY: (key,)}
    if pool.kind == "ssh" and logins.by_certificate(fleet):
        place = f"{fleet.fleet}/{pool.cluster}/{name}"
        secret = f"arn:aws:secretsmanager:{pool.region}:{fleet.aws.account_id}:secret:{place}-"
        own = {**own, OWN: (bundle, *_lists(fleet, pool.region)), SECRET: (secret,)}
    return Own(f"pool {name}", own)


def _lists(fleet: Fleet, region: str) -> tuple[str, ...]:
    """The list of people's revoked certificates, where these let people in."""
    return (f"{bucket(fleet, region)}/{logins.REVOKED}",) if logins.served(fleet, region) else ()


def _trusted(document: Any) -> Iterator[Any]:
    try:
        found = statements(document or "{}")
    except ValueError:
        yield None
        return
    for statement in found:
        if statement.get("Effect") == "Allow":
            yield statement.get("Principal")


def _managed(role: Item, own: Own, arn: Any) -> Iterator[Finding]:
    if arn is UNKNOWN:
        yield undecidable(role, "managedPolicyArns")
    elif arn not in MANAGED:
        what = f"the role of {own.machine} has the policy {arn}"
        remedy = f"Write what it needs into the role itself; beside that only {', '.join(sorted(MANAGED))}"
        yield finding(role, "managedPolicyArns", what, remedy)


def writes(found: list[Item], fleet: Fleet, kind: str) -> dict[str, bool | None]:
    """Etcd machine → whether its role may write what is of the kind; None: not known before the update.

    Machines of clusters that have nothing of the kind are left out.
    """
    inline = inlined(found)
    may: dict[str, bool | None] = {}
    for role in of_types(found, (ROLE,)):
        machine = tag(role, MACHINE)
        if machine is UNKNOWN or not (named := MEMBER.fullmatch(str(machine))):
            continue
        begins = _begins(fleet, named["cluster"], str(machine), "etcd")[kind]
        if not begins:
            continue
        texts = [document for _, _, document in documents(role, inline)]
        if unknown_in(texts):
            may[str(machine)] = None
            continue
        may[str(machine)] = any(
            "s3:putobject" in (action.lower() for action in listed(statement.get("Action")))
            and any(r.startswith(begins) for r in _resources(statement))
            for document in texts
            for statement in allowed(document)
        )
    return may


def _begins(fleet: Fleet, cluster: str, machine: str, role: str) -> dict[str, tuple[str, ...]]:
    account, prefix = fleet.aws.account_id if fleet.aws else "", f"{fleet.fleet}/{cluster}/{machine}"
    every = [bucket(fleet, region) for region in fleet.regions]
    known = fleet.clusters.get(cluster)
    second = [known.copies] if known and known.copies else []
    begins = {
        OWN: (*(f"{one}/{prefix}/" for one in every), *(_lists(fleet, known.region) if known else ())),
        BACKUPS: tuple(f"{one}/backups/{cluster}/" for one in every),
        COPIES: tuple(f"{bucket(fleet, region)}/copies/{known.region}/{cluster}/" for region in second if known),
        AUDIT: tuple(f"{one}/audit/{cluster}/" for one in every),
        LIST: tuple(every),
        SECRET: tuple(f"arn:aws:secretsmanager:{region}:{account}:secret:{prefix}-" for region in fleet.regions),
        KEY: tuple(f"arn:aws:kms:{r}:{account}:key/" for r in ([known.region] if known else fleet.regions)),
        COPIES_KEY: tuple(f"arn:aws:kms:{region}:{account}:key/" for region in second),
    }
    return {kind: begun for kind, begun in begins.items() if ROLES_OF.get(kind, role) == role}


def bucket(fleet: Fleet, region: str) -> str:
    return f"arn:aws:s3:::{fleet.fleet}-{region}-{fleet.aws.account_id if fleet.aws else ''}"


def judge(item: Item, path: str, document: Any, own: Own) -> Iterator[Finding]:
    def of(statement: dict[str, Any]) -> Iterator[Finding]:
        for action in listed(statement.get("Action")):
            if not JUDGED.fullmatch(action) or HARMLESS.fullmatch(action):
                continue
            kinds = MAY.get(action.lower())
            if kinds is None:
                yield finding(item, path, f"{own.machine} may {action}, which no machine needs", NARROW)
                continue
            for resource in _resources(statement):
                if not any(_fits(kind, resource, own, statement) for kind in kinds):
                    yield finding(item, path, f"{own.machine} may {action} of {resource}", NARROW)

    yield from judged(item, path, document, own.machine, NARROW, of)


def _fits(kind: str, resource: str, own: Own, statement: dict[str, Any]) -> bool:
    if kind == VOLUME:  # an instance's ARN stands beside the volume's, which the tag must narrow
        tagged = any(asks(statement, "StringEquals", key, own.machine) for key in TAG_KEYS)
        return tagged or bool(INSTANCE.match(resource))
    if kind == GRANT:  # lent to a service of AWS alone, as EBS needs it for encrypted volumes
        return asks(statement, "Bool", FOR_AWS, "true") and _fits(KEY, resource, own, statement)
    begins = own.begins.get(kind, ())
    if kind == LIST:  # of a whole bucket, narrowed to one beginning of names, as the machine's own snapshots have
        return resource in begins and asks(statement, "StringLike", "s3:prefix", own.lists)
    if kind == SECRET:
        ends = [resource.removeprefix(begun) for begun in begins if resource.startswith(begun)]
        return any(SECRET_ENDS.fullmatch(end) for end in ends)
    if kind in (KEY, COPIES_KEY) and re.search(r"[*?$]", resource):
        return False
    if kind == COPIES_KEY:  # where copies go, a machine writes into the bucket and does nothing else
        via = f"s3.{resource.split(':')[3]}.amazonaws.com" if resource.startswith(begins) else ""
        return bool(via) and asks(statement, "StringEquals", "kms:ViaService", via)
    # A beginning has no wildcard, so that all a resource may stand for begins so.
    return resource.startswith(begins)


def _resources(statement: dict[str, Any]) -> list[str]:
    return listed(statement.get("Resource"))
