"""What a machine of AWS shows when it joins: judged before it goes to AWS STS, and what STS answers. Decides only.

A token is a request to STS that the machine has signed (attest_aws.py makes it). It is sent exactly as it was signed,
so everything in it is compared with what may stand there: another host, header or body would be somebody else's
request, one for another cluster could be played back here. As aws-iam-authenticator and Vault's AWS auth do it.
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from xml.etree import ElementTree

from api_aws import XML
from attest_aws import BODY, CLUSTER_HEADER, PREFIX

# Session tokens of AWS take 2 KB, and may grow ("Comparing AWS STS API operations": no fixed size).
MOST_CHARACTERS = 16 << 10
# AWS itself takes a signature for five minutes ("Signature Version 4": how old a request may be); clocks may differ.
MAX_AGE = timedelta(minutes=5)
SIGNED = ("content-type", "host", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token", CLUSTER_HEADER)
AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=[A-Z0-9]{16,128}/(\d{8})/([a-z0-9-]+)/sts/aws4_request, "
    r"SignedHeaders=([a-z0-9;-]+), Signature=[0-9a-f]{64}"
)
# ASCII that can end no line; nothing before and after it, which a library would strip.
VALUE = re.compile(r"[!-~]([ -~]*[!-~])?")
ARN = re.compile(r"arn:aws:sts::(\d{12}):assumed-role/([\w+=,.@-]{1,64})/(i-[0-9a-f]{8,17})", re.ASCII)
GROUPS = ("system:bootstrappers", "landbridge:joining")
USER = "system:bootstrappers:landbridge"
POOL_EXTRA, INSTANCE_EXTRA, VM_EXTRA = "landbridge.dev/pool", "landbridge.dev/instance", "landbridge.dev/vm"


class BadToken(ValueError):
    """Why a token is worth nothing: for the log, never for whoever showed it."""


class IdentityRequest(NamedTuple):
    """The request to STS; after `ends` it is worth nothing."""

    host: str
    headers: dict[str, str]
    ends: datetime


class Machine(NamedTuple):
    """`instance` is the node's name, too; `vm` is the machine's number in Azure, none in AWS."""

    pool: str
    instance: str
    vm: str = ""


def is_ours(token: str) -> bool:
    return token.startswith(PREFIX)


def read(token: str, cluster: str, regions: Collection[str], now: datetime) -> IdentityRequest:
    """Raises BadToken."""
    if len(token) > MOST_CHARACTERS:
        raise BadToken(f"{len(token)} characters are more than {MOST_CHARACTERS}")
    region, headers = _decoded(token)
    if region not in regions:
        raise BadToken(f"its region {shown(region)} is none of the cluster's pools'")
    _check(headers, region, cluster)
    made = _moment(headers["x-amz-date"])
    if abs(now - made) > MAX_AGE:
        raise BadToken(f"it was made at {made:%FT%TZ}, which is not within {MAX_AGE} of now, {now:%FT%TZ}")
    found = AUTHORIZATION.fullmatch(headers["authorization"])
    if not found:
        raise BadToken("its header authorization is no signature of version 4 for STS")
    if found.groups() != (f"{made:%Y%m%d}", region, ";".join(sorted(SIGNED))):
        raise BadToken(f"it is signed for {shown(found.groups())}, not for its own day and region and all its headers")
    return IdentityRequest(headers["host"], headers, made + MAX_AGE)


def _check(headers: Mapping[str, str], region: str, cluster: str) -> None:
    """Exactly those that attest.py sends: another one could lead the request elsewhere, or confuse who reads it."""
    wanted = {*SIGNED, "authorization"}
    if headers.keys() != wanted:
        raise BadToken(f"its headers are {shown(sorted(headers))}, not just {sorted(wanted)}")
    for name, value in headers.items():
        if not VALUE.fullmatch(value):
            raise BadToken(f"its header {name} is no line of ASCII")
    exact = {
        "host": f"sts.{region}.amazonaws.com",
        "content-type": XML,
        CLUSTER_HEADER: cluster,
        "x-amz-content-sha256": hashlib.sha256(BODY.encode()).hexdigest(),
    }
    for name, value in exact.items():
        if headers[name] != value:
            raise BadToken(f"its header {name} is {shown(headers[name])}, not {value}")


def decoded_once(text: str) -> dict[str, Any]:
    """A token's table, in which no name stands twice. Raises BadToken."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", text, re.ASCII):
        raise BadToken("it is not base64url")
    try:
        told = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), object_pairs_hook=_once)
    except (binascii.Error, RecursionError, UnicodeDecodeError, ValueError) as error:
        raise BadToken(f"it is no JSON in base64url: {str(error)[:80]}") from None
    return told if isinstance(told, dict) else {}


def _decoded(token: str) -> tuple[str, dict[str, str]]:
    told = decoded_once(token.removeprefix(PREFIX))
    if told.keys() != {"region", "headers"}:
        raise BadToken("it is not just a region and headers")
    region, headers = told["region"], told["headers"]
    if not isinstance(region, str) or not isinstance(headers, dict):
        raise BadToken("its region is no text, or its headers are no table")
    if not all(isinstance(value, str) for value in headers.values()):
        raise BadToken("not all of its headers are texts")
    return region, headers


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A name that stands twice means one thing to one reader and another to the next."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands in it twice")
    return found


def _moment(text: str) -> datetime:
    try:
        if re.fullmatch(r"\d{8}T\d{6}Z", text, re.ASCII):
            return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        pass
    raise BadToken(f"its date is {shown(text)}, not like 20260102T030405Z")


def who(answer: bytes, account: str, roles: Mapping[str, str]) -> Machine:
    """Out of STS's answer; `roles` are those of the pools' machines, role → pool. Raises BadToken."""
    try:
        arn = ElementTree.fromstring(answer).findtext("{*}GetCallerIdentityResult/{*}Arn")  # noqa: S314  (AWS itself)
    except ElementTree.ParseError as error:
        raise BadToken(f"STS answers what is no XML: {error}") from None
    found = ARN.fullmatch(arn or "")
    if not found:
        raise BadToken(f"it is of {shown(arn)}, which is no instance with a role")
    owner, role, instance = found.groups()
    if owner != account:
        raise BadToken(f"it is of {instance} in account {owner}, not in the fleet's")
    if role not in roles:
        raise BadToken(f"it is of {instance} with the role {role}, which is no pool's")
    return Machine(roles[role], instance)


def user(machine: Machine) -> dict[str, Any]:
    """UserInfo of a TokenReview."""
    return {
        "username": f"{USER}:{machine.pool}:{machine.instance}",
        "groups": list(GROUPS),
        "extra": {
            POOL_EXTRA: [machine.pool],
            INSTANCE_EXTRA: [machine.instance],
            **({VM_EXTRA: [machine.vm]} if machine.vm else {}),
        },
    }


def shown(what: object) -> str:
    """Safe for a log: quoted, and not long."""
    return ascii(what)[:120]
