"""What a call needs: actions on resources, with what a policy's conditions may ask about them.

"Service authorization reference": which resource an action is about. A call that is not listed here is about "*", which
no policy for named resources allows: fail closed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .conditions import Context
from .policy import Request


class RequiredAction(NamedTuple):
    """An action on a resource; its own policy, if it has one; whether that must consent to what IAM allows (KMS)."""

    request: Request
    policy: str | None = None
    must_consent: bool = False


class Thing(NamedTuple):
    """A resource of a call."""

    arn: str
    tags: Mapping[str, str] = {}
    policy: str | None = None
    more: Mapping[str, list[str]] = {}


Things = Callable[[Any], Iterable[Thing]]


def required(response: Any, context: Context) -> Iterator[RequiredAction]:
    """What the call that `response` answers needs; `context` is what all calls of its caller have."""
    service, operation = response.boto3_service_name, response._get_action()
    prefix = PREFIXES.get(service, service)
    things = THINGS.get((service, operation), lambda _: [Thing("*")])
    for thing in things(response):
        tagged = {
            f"{name}:resourcetag/{key}".lower(): [value]
            for name in ("aws", prefix)
            for key, value in thing.tags.items()
        }
        request = Request(f"{prefix}:{operation}", thing.arn, {**context, **tagged, **thing.more})
        yield RequiredAction(request, thing.policy, must_consent=service == "kms" and thing.policy is not None)
        if (service, operation) == ("ec2", "AttachVolume") and (key := thing.more.get("key")):
            # EBS user guide, "Required IAM permissions": EBS is lent the key by a grant.
            yield from key_need(response, key[0], "kms:CreateGrant", context, service)
        if service == "secretsmanager" and operation in OPENS and (key := thing.more.get("key")):
            yield from key_need(response, key[0], "kms:Decrypt", context, service)


def key_need(response: Any, name: str, action: str, context: Context, via: str) -> Iterator[RequiredAction]:
    """What a service needs of a key in its caller's name."""
    for thing in _key(response, name):
        more = {
            **thing.more,
            "kms:viaservice": [f"{via}.{response.region}.amazonaws.com"],
            "kms:grantisforawsresource": [str(action == "kms:CreateGrant").lower()],
        }
        yield RequiredAction(Request(action, thing.arn, {**context, **more}), thing.policy, must_consent=True)


def _machine_or(kind: str, found: str) -> Things:
    """The instance and the volume or interface that a call names."""

    def things(response: Any) -> Iterator[Thing]:
        backend = response.ec2_backend
        for name, sort, listed in (
            ("InstanceId", "instance", {i.id: i for i in backend.all_instances()}),
            (f"{found}Id", kind, backend.volumes if kind == "volume" else backend.enis),
        ):
            given = response._get_param(name)
            thing = listed.get(given)
            arn = f"arn:aws:ec2:{response.region}:{response.current_account}:{sort}/{given}"
            if given:
                tags = {tag["key"]: tag["value"] for tag in thing.get_tags()} if thing else {}
                key = getattr(thing, "kms_key_id", None)
                yield Thing(arn, tags, more={"key": [key]} if key else {})

    return things


def _secret(response: Any) -> Iterator[Thing]:
    given = str(response._get_param("SecretId"))
    backend = _backend("secretsmanager", response)
    start = f"arn:aws:secretsmanager:{response.region}:{response.current_account}:secret:"
    for secret in backend.secrets.values():
        if given in (secret.name, secret.arn):
            tags = {tag["Key"]: tag["Value"] for tag in secret.tags or []}
            key = {"key": [secret.kms_key_id]} if secret.kms_key_id else {}
            return iter([Thing(secret.arn, tags, secret.policy, {"secretsmanager:secretid": [given], **key})])
    return iter([Thing(given if given.startswith("arn:") else start + given)])


def _named_key(response: Any) -> Iterator[Thing]:
    given = response._get_param("KeyId")
    if given is None and (blob := response._get_param("CiphertextBlob")):
        given = _key_of(blob)
    return _key(response, str(given))


def _key_of(blob: str | bytes) -> str:
    """moto's ciphertext begins with its key's id."""
    import base64

    start = (blob if isinstance(blob, bytes) else base64.b64decode(blob))[:36]
    return start.decode() if re.fullmatch(rb"[0-9a-f-]{36}", start) else "*"


def _key(response: Any, given: str) -> Iterator[Thing]:
    """A key that the local AWS has; an AWS managed one lets every caller of its service use it."""
    backend = _backend("kms", response)
    name = given.rpartition("alias/")[2]
    if "alias/" in given and name.startswith("aws/"):
        return
    key_id = backend.get_key_id_from_alias(f"alias/{name}") if "alias/" in given else given.rpartition("/")[2]
    key = backend.keys.get(key_id)
    if key is None:
        yield Thing(given if given.startswith("arn:") else f"arn:aws:kms:{response.region}::key/{given}")
        return
    tags = {tag["TagKey"]: tag["TagValue"] for tag in backend.list_resource_tags(key_id).get("Tags", [])}
    more = {"kms:calleraccount": [response.current_account], "kms:resourcealiases": sorted(key.aliases)}
    yield Thing(key.arn, tags, key.policy, more)


def _parameters(response: Any) -> Iterator[Thing]:
    start = f"arn:aws:ssm:{response.region}:{response.current_account}:parameter"
    names = response._get_param("Names") or [response._get_param("Name") or response._get_param("Path")]
    for name in names:
        plain = str(name).partition(":")[0] if not str(name).startswith("arn:") else str(name)
        yield Thing(plain if plain.startswith("arn:") else f"{start}/{plain.removeprefix('/')}")


def _command(response: Any) -> Iterator[Thing]:
    """SendCommand is about its document, which is AWS's own, and about each instance."""
    yield Thing(f"arn:aws:ssm:{response.region}::document/{response._get_param('DocumentName')}")
    known = {i.id: i for i in _backend("ec2", response).all_instances()}
    for name in response._get_param("InstanceIds", []):
        tags = {tag["key"]: tag["value"] for tag in known[name].get_tags()} if name in known else {}
        yield Thing(f"arn:aws:ec2:{response.region}:{response.current_account}:instance/{name}", tags)
    if response._get_param("Targets"):  # whichever instances those may be
        yield Thing("*")


def _role(response: Any) -> Iterator[Thing]:
    yield Thing(str(response._get_param("RoleArn")))


def _scaling_group(response: Any) -> Iterator[Thing]:
    backend = _backend("autoscaling", response)
    name, instance = response._get_param("AutoScalingGroupName"), response._get_param("InstanceId")
    for group in backend.autoscaling_groups.values():
        if group.name == name or instance in [state.instance.id for state in group.instance_states]:
            yield Thing(group.arn, {tag["Key"]: tag["Value"] for tag in group.tags})
            return
    yield Thing("*")


def _backend(service: str, response: Any) -> Any:
    from moto.backends import get_backend

    backends: Any = get_backend(service)
    return backends[response.current_account][response.region]


PREFIXES = {"elbv2": "elasticloadbalancing", "efs": "elasticfilesystem", "service-quotas": "servicequotas"}
OPENS = ("GetSecretValue",)
THINGS: dict[tuple[str, str], Things] = {
    ("ec2", "AttachVolume"): _machine_or("volume", "Volume"),
    ("ec2", "DetachVolume"): _machine_or("volume", "Volume"),
    ("ec2", "AttachNetworkInterface"): _machine_or("network-interface", "NetworkInterface"),
    **dict.fromkeys(
        [
            ("secretsmanager", name)
            for name in (
                "GetSecretValue",
                "DescribeSecret",
                "PutSecretValue",
                "DeleteSecret",
                "ReplicateSecretToRegions",
                "RemoveRegionsFromReplication",
                "StopReplicationToReplica",
            )
        ],
        _secret,
    ),
    **dict.fromkeys(
        [("kms", name) for name in ("Decrypt", "Encrypt", "GenerateDataKey", "DescribeKey", "Sign", "Verify")],
        _named_key,
    ),
    **dict.fromkeys(
        [("ssm", name) for name in ("GetParameter", "GetParameters", "GetParametersByPath", "PutParameter")],
        _parameters,
    ),
    ("ssm", "SendCommand"): _command,
    **dict.fromkeys([("sts", name) for name in ("AssumeRole",)], _role),
    **dict.fromkeys(
        [
            ("autoscaling", name)
            for name in (
                "SetDesiredCapacity",
                "TerminateInstanceInAutoScalingGroup",
                "SetInstanceHealth",
                "CompleteLifecycleAction",
                "UpdateAutoScalingGroup",
                "DetachInstances",
            )
        ],
        _scaling_group,
    ),
}
