"""Buckets: closed, versioned, TLS only and encrypted, which AWS keeps in resources beside them."""

from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from ..reading import UNKNOWN, Finding, Item, finding, of_types, undecidable, unknown_in, values
from .grants import everybody, statements

BUCKET = "aws:s3/bucket:Bucket"
# Type → what hands a bucket out.
ACLS = {BUCKET: ("acl",)}
PRIVATE = {"private", "bucket-owner-full-control", "bucket-owner-read", "log-delivery-write"}
BLOCKS = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")


class Companion(NamedTuple):
    """What must hold of a resource beside every bucket; `paths` are those that `good` looks at."""

    paths: tuple[str, ...]
    good: Callable[[dict[str, Any]], bool]
    what: str
    remedy: str
    public: Callable[[dict[str, Any]], bool] | None = None  # what must hold beside a bucket with public documents


def _closed(props: dict[str, Any]) -> bool:
    return all(props.get(name) is True for name in BLOCKS)


def _closed_to_lists(props: dict[str, Any]) -> bool:
    """Only the bucket's policy, which grants.py judges, may open it."""
    return props.get("blockPublicAcls") is True and props.get("ignorePublicAcls") is True


def _versioned(props: dict[str, Any]) -> bool:
    return bool((props.get("versioningConfiguration") or {}).get("status") == "Enabled")


def _tls_only(props: dict[str, Any]) -> bool:
    try:
        found = statements(props.get("policy") or "{}")
    except ValueError:
        return False
    return any(
        statement.get("Effect") == "Deny"
        and everybody(statement)
        and "NotPrincipal" not in statement
        and statement.get("Condition", {}).get("Bool", {}).get("aws:SecureTransport") in ("false", False)
        for statement in found
    )


ALGORITHM = "rules.applyServerSideEncryptionByDefault.sseAlgorithm"


def _encrypted(props: dict[str, Any]) -> bool:
    found = list(values(props, ALGORITHM))
    return bool(found) and all(found)


COMPANIONS = {
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": Companion(
        BLOCKS,
        _closed,
        "it is not closed to the public",
        "Add a BucketPublicAccessBlock, all four true",
        public=_closed_to_lists,
    ),
    "aws:s3/bucketVersioning:BucketVersioning": Companion(
        ("versioningConfiguration.status",),
        _versioned,
        "replaced objects are lost",
        "Add a BucketVersioning with status Enabled",
    ),
    "aws:s3/bucketPolicy:BucketPolicy": Companion(
        ("policy",), _tls_only, "it answers without TLS", "Add a BucketPolicy that denies aws:SecureTransport false"
    ),
}
SSE = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
AT_REST = {
    SSE: Companion(
        (ALGORITHM,), _encrypted, "it is not encrypted", "Add a BucketServerSideEncryptionConfiguration for it"
    )
}


def findings(found: list[Item], companions: dict[str, Companion], public: Collection[str] = ()) -> Iterator[Finding]:
    """What is wrong with buckets' companions; `public` are names. A finding's path is the companion's type."""
    for item in of_types(found, {BUCKET}):
        name = item.props.get("bucket")
        for type_, companion in companions.items():
            good = companion.public if companion.public and name in public else companion.good
            beside = list(of_types(found, {type_}))
            mine = [other for other in beside if other.props.get("bucket") == name]
            unsure = [other for other in beside if other.props.get("bucket") is UNKNOWN]
            if name is UNKNOWN or name is None:
                yield undecidable(item, "bucket")._replace(path=type_)
            elif not mine and unsure:
                yield undecidable(unsure[0], "bucket")
            elif hidden := [path for path in companion.paths for o in mine if unknown_in(list(values(o.props, path)))]:
                yield undecidable(mine[0], hidden[0])
            elif not any(good(other.props) for other in mine):
                yield finding(item, type_, companion.what, companion.remedy)


def acls(found: list[Item]) -> Iterator[Finding]:
    for item in of_types(found, ACLS):
        for path in ACLS[item.type]:
            value = item.props.get(path)
            if value is UNKNOWN:
                yield undecidable(item, path)
            elif value and value not in PRIVATE:
                yield finding(item, path, f"{path} is {value}", "Leave acl out: the owner is enforced")
