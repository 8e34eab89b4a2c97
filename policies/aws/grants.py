"""Policy documents that let everybody in: whom a statement allows, and which conditions narrow that down."""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from ..reading import Finding, Item, finding, of_types, undecidable, unknown_in

# Type → property with a policy document that says who may.
GRANTS: dict[str, tuple[str, ...]] = {
    "aws:s3/bucket:Bucket": ("policy",),
    "aws:s3/bucketPolicy:BucketPolicy": ("policy",),
    "aws:efs/fileSystemPolicy:FileSystemPolicy": ("policy",),
    "aws:kms/key:Key": ("policy",),
    "aws:kms/keyPolicy:KeyPolicy": ("policy",),
    "aws:secretsmanager/secret:Secret": ("policy",),
    "aws:secretsmanager/secretPolicy:SecretPolicy": ("policy",),
    "aws:sqs/queue:Queue": ("policy",),
    "aws:sqs/queuePolicy:QueuePolicy": ("policy",),
    "aws:sns/topicPolicy:TopicPolicy": ("policy",),
    "aws:ecr/repositoryPolicy:RepositoryPolicy": ("policy",),
    "aws:iam/role:Role": ("assumeRolePolicy",),
}
STRINGS = {"StringEquals", "StringEqualsIgnoreCase", "StringLike"}
ARNS = {*STRINGS, "ArnEquals", "ArnLike"}
# Condition key in lower case, as AWS ignores case → operators under which it narrows. Their negations name everybody
# but one, …IfExists and ForAllValues hold for a request without the key; how a request travels (aws:SecureTransport)
# or what it may name (sts:ExternalId) says nothing about who sends it.
NARROWING: dict[str, set[str]] = {
    "aws:sourceaccount": STRINGS,  # the account for which an AWS service acts
    "aws:sourcearn": ARNS,  # the resource for which an AWS service acts
    "aws:principalorgid": STRINGS,  # the caller's organization
    "aws:principalaccount": STRINGS,  # the caller's account
    "aws:principalarn": ARNS,  # the caller
    "aws:sourcevpce": STRINGS,  # the endpoint, in a network of ours, through which the request comes
    "aws:sourcevpc": STRINGS,  # the network from which the request comes
    "elasticfilesystem:accessedviamounttarget": {"Bool"},  # its security group decides then
}
# What a token says that an identity provider signs: without both, whoever has an account there may come in.
TOKEN = ("sub", "aud")
ACCOUNT = re.compile(r"\d{12}")


def findings(found: list[Item], public: Collection[str] = ()) -> Iterator[Finding]:
    """`public` are the objects that everybody may read."""
    for item in of_types(found, GRANTS):
        for path in GRANTS[item.type]:
            document = item.props.get(path)
            if unknown_in(document):
                yield undecidable(item, path)
            elif document:
                yield from _judge(item, path, document, public)


def _judge(item: Item, path: str, document: Any, public: Collection[str]) -> Iterator[Finding]:
    try:
        found = statements(document)
    except ValueError as error:
        yield finding(item, path, f"{path} can't be read: {error}", "Make it with json.dumps")
        return
    for statement in found:
        if statement.get("Effect") != "Allow":
            continue
        what = f"statement {statement.get('Sid', '')} allows {statement.get('Action')} to"
        if everybody(statement) and not _narrowed(statement) and not _reads(statement, public):
            yield finding(item, path, f"{what} everybody", "Name principals, or add a condition that says who may")
        elif _federated(statement) and not all(_claims(statement, claim) for claim in TOKEN):
            remedy = "Add StringEquals conditions on the token's subject (:sub) and audience (:aud), without wildcards"
            yield finding(item, path, f"{what} every user of an identity provider", remedy)


def statements(document: Any) -> list[dict[str, Any]]:
    """The statements of a policy document, text or not. Raises ValueError."""
    read = json.loads(document) if isinstance(document, str) else document
    listed: list[Any] = _list(read.get("Statement") or [] if isinstance(read, dict) else None)
    if not all(isinstance(statement, dict) for statement in listed):
        raise ValueError("it has no list of statements")
    return listed


def everybody(statement: dict[str, Any]) -> bool:
    """Whether a statement is about everybody, or about all but some."""
    principal = statement.get("Principal")
    named = principal.values() if isinstance(principal, dict) else [principal]
    return "NotPrincipal" in statement or any("*" in _list(value) for value in named)


def _reads(statement: dict[str, Any], public: Collection[str]) -> bool:
    """Whether all that a statement allows is to read some of these objects."""
    named = _list(statement.get("Resource"))
    return _list(statement.get("Action")) == ["s3:GetObject"] and all(str(arn) in public for arn in named)


def _federated(statement: dict[str, Any]) -> bool:
    principal = statement.get("Principal")
    return isinstance(principal, dict) and bool(principal.get("Federated"))


def _narrowed(statement: dict[str, Any]) -> bool:
    return any(
        operator in NARROWING.get(key.lower(), ()) and _narrow(operator, named)
        for operator, key, named in _conditions(statement)
    )


def _claims(statement: dict[str, Any], claim: str) -> bool:
    return any(
        operator in STRINGS and key.lower().endswith(f":{claim}") and _narrow(operator, named)
        for operator, key, named in _conditions(statement)
    )


def _conditions(statement: dict[str, Any]) -> Iterator[tuple[str, str, list[Any]]]:
    for operator, keys in (statement.get("Condition") or {}).items():
        for key, named in (keys if isinstance(keys, dict) else {}).items():
            yield operator, key, _list(named)


def _narrow(operator: str, named: list[Any]) -> bool:
    """Whether every value (any one of them is enough for AWS) names somebody."""
    if operator == "Bool":
        return named in (["true"], [True])
    return bool(named) and all(_somebody(str(value)) for value in named)


def _somebody(value: str) -> bool:
    """Not if it is taken from the request itself, nor with a wildcard, unless that is within one account's ARNs."""
    if not value or "${" in value:
        return False
    account = value.split(":")[4:5] if value.startswith("arn:") else []
    return not ({"*", "?"} & set(value)) or any(ACCOUNT.fullmatch(part) for part in account)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
