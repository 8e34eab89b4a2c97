"""What a team's pods may do in the cloud, as plain data: S3, in the team's own folders and in buckets the fleet adds.
They read what recorders saw of the team, too: people of the team look at that by the same role.

The role is for one service account of one cluster, whose issuer vouches for it. Only the issuer that the cluster has
now is trusted: after a rebuild tokens of the former one end within the hour (pod_tokens.SECONDS), and its documents lie
in the region that was lost. The role's name has no region: pods that ran through the rebuild have it in their
environment.
"""

from collections.abc import Iterator
from typing import Any

from fleet import issuers, recorder, team_storage
from fleet.model import Fleet, TeamBucket

from ..owners import of_team

Document = dict[str, Any]
ROLE = 64  # IAM's bound of a name
READ = ["s3:GetObject"]
WRITE = ["s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"]


def role_name(fleet: Fleet, cluster: str, team: str) -> str:
    return of_team(fleet, cluster, team).name(f"{team_storage.ACCOUNT}-{team}", ROLE)


def role_arn(fleet: Fleet, cluster: str, team: str) -> str:
    """Known before there is a role: pods get it by admission."""
    return arn(fleet, role_name(fleet, cluster, team))


def arn(fleet: Fleet, role: str) -> str:
    """Of any role of the fleet's account, by its name."""
    assert fleet.aws is not None
    return f"arn:aws:iam::{fleet.aws.account_id}:role/{role}"


def trust(fleet: Fleet, cluster: str, team: str) -> Document:
    """Who may take the role: the team's service account in this cluster, with a token that is meant for AWS."""
    return trusted(fleet, cluster, team_storage.subject(team))


def trusted(fleet: Fleet, cluster: str, subject: str) -> Document:
    """A role's trust in one service account of one cluster."""
    issuer = issuers.url(fleet, cluster).removeprefix("https://")
    statement = {
        "Sid": "Pods",
        "Effect": "Allow",
        "Principal": {"Federated": issuers.provider_arn(fleet, cluster)},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": {f"{issuer}:aud": issuers.AUDIENCE, f"{issuer}:sub": subject}},
    }
    return {"Version": "2012-10-17", "Statement": [statement]}


def permissions(fleet: Fleet, team: str) -> Document:
    """No versions: what a pod deletes or writes over comes back by hand of those who keep the bucket."""
    return {"Version": "2012-10-17", "Statement": [*_folders(fleet, team), *_buckets(fleet.teams[team].buckets)]}


def _folders(fleet: Fleet, team: str) -> Iterator[Document]:
    assert fleet.aws is not None
    folder, arns = f"{team_storage.FOLDER}/{team}/*", team_storage.bucket_arns(fleet)
    records = recorder.read_by(team)
    regions = team_storage.regions(fleet)
    yield allow("Folder", [*READ, *WRITE], [f"{arn}/{folder}" for arn in arns])
    yield allow("Records", READ, [f"{arn}/{records}" for arn in arns])
    yield allow("FolderList", ["s3:ListBucket"], arns, StringLike={"s3:prefix": [folder, records]})
    yield allow(
        "FolderKeys",
        ["kms:Decrypt", "kms:GenerateDataKey"],
        [f"arn:aws:kms:{region}:{fleet.aws.account_id}:key/*" for region in regions],
        # Never a key by itself: only where a fleet bucket's S3 uses it for the pod.
        **{
            "StringEquals": {"kms:ViaService": [f"s3.{region}.amazonaws.com" for region in regions]},
            "ForAnyValue:StringEquals": {"kms:ResourceAliases": team_storage.key_aliases(fleet)},
        },
    )


def _buckets(buckets: list[TeamBucket]) -> Iterator[Document]:
    """All in few statements: IAM bounds a role's policies at 10,240 characters."""
    written = [bucket for bucket in buckets if bucket.write]
    for sid, actions, of in (("Read", READ, buckets), ("Write", WRITE, written)):
        if of:
            yield allow(f"Buckets{sid}", actions, [f"arn:aws:s3:::{bucket.name}/*" for bucket in of])
    if buckets:
        yield allow("BucketsList", ["s3:ListBucket"], [f"arn:aws:s3:::{bucket.name}" for bucket in buckets])
    for sid, action, of in (("Open", "kms:Decrypt", buckets), ("Seal", "kms:GenerateDataKey", written)):
        if keys := sorted({bucket.key for bucket in of if bucket.key}):
            via = sorted({f"s3.{key.split(':')[3]}.amazonaws.com" for key in keys})
            yield allow(f"Buckets{sid}", [action], keys, StringEquals={"kms:ViaService": via})


def allow(sid: str, actions: list[str], resources: list[str], **conditions: Any) -> Document:
    statement = {"Sid": sid, "Effect": "Allow", "Action": [*actions], "Resource": resources}
    return {**statement, "Condition": conditions} if conditions else statement
