"""What a machine may do in its cloud account, as plain data: its own bundle, its own disks, and nothing else."""

from typing import Any

from components.boot import people
from components.pools import joining
from fleet.buckets import bucket_arn
from fleet.model import Fleet

from ..backups import copies_place
from ..machines import ClusterSpec, Machine
from ..names import writes

Document = dict[str, Any]
# Lets Systems Manager reach the machine: `access: ssm`.
SSM_POLICY = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"


def trust() -> Document:
    """Machines alone may take the role."""
    statement = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def permissions(
    fleet: Fleet, spec: ClusterSpec, machine: Machine, key_arn: str, copies_key_arn: str | None = None
) -> Document:
    """`key_arn` is the region's key, which encrypts the bucket, the secrets and etcd's disks.

    `copies_key_arn` encrypts the bucket of the region where copies go.
    """
    assert fleet.aws is not None
    account, bucket, prefix = fleet.aws.account_id, bucket_arn(fleet, spec.region), spec.prefix(machine.name)
    statements = [
        _allow("Bundle", "s3:GetObject", f"{bucket}/{prefix}/*"),
        # AWS appends a hyphen and six characters to the name of every secret.
        _allow(
            "Keys",
            "secretsmanager:GetSecretValue",
            f"arn:aws:secretsmanager:{spec.region}:{account}:secret:{prefix}-??????",
        ),
        *_writing(spec, machine, bucket),
        _allow(
            "Key",
            ["kms:Decrypt", "kms:GenerateDataKey"],
            key_arn,
            StringEquals=_via(spec.region, "s3", "secretsmanager"),
        ),
    ]
    if spec.logins:
        statements += people.reading(fleet, spec.region)
    if machine.role == "api":
        statements += joining.permissions(fleet, spec.name)
    if machine.role == "etcd":
        statements += _disks(spec, machine, account, key_arn)
        if spec.copies and copies_key_arn:
            statements += _copying(fleet, spec, spec.copies.region, copies_key_arn)
    return {"Version": "2012-10-17", "Statement": statements}


def _writing(spec: ClusterSpec, machine: Machine, bucket: str) -> list[Document]:
    place = f"{writes(spec, machine)}/*"
    if machine.role == "api":
        return [_allow("Write", "s3:PutObject", f"{bucket}/{place}")]
    return [
        # A snapshot may be too large for one piece, and pieces that lead to nothing are to go.
        _allow("Write", ["s3:PutObject", "s3:AbortMultipartUpload"], f"{bucket}/{place}"),
        # Which snapshots are there: only one member takes each.
        _allow("Find", "s3:ListBucket", bucket, StringLike={"s3:prefix": place}),
    ]


def _copying(fleet: Fleet, spec: ClusterSpec, region: str, key_arn: str) -> list[Document]:
    """To lay copies down, and no more: no machine lists, reads or deletes them."""
    place = f"{bucket_arn(fleet, region)}/{copies_place(spec.region, spec.name)}/*"
    return [
        _allow("Copy", ["s3:PutObject", "s3:AbortMultipartUpload"], place),
        # S3 user guide, "Uploading and copying objects using multipart upload": parts are decrypted to become one.
        _allow("CopyKey", ["kms:Decrypt", "kms:GenerateDataKey"], key_arn, StringEquals=_via(region, "s3")),
    ]


def _disks(spec: ClusterSpec, machine: Machine, account: str, key_arn: str) -> list[Document]:
    own = {
        "aws:ResourceTag/landbridge:fleet": spec.fleet,
        "aws:ResourceTag/landbridge:machine": machine.name,
    }
    ec2 = f"arn:aws:ec2:{spec.region}:{account}"
    return [
        _allow("FindDisks", "ec2:DescribeVolumes", "*"),  # takes no resource
        _allow("TakeDisks", "ec2:AttachVolume", [f"{ec2}:volume/*", f"{ec2}:instance/*"], StringEquals=own),
        # EBS user guide, "How Amazon EBS encryption works": who attaches an encrypted volume lends EBS the key.
        _allow(
            "LendKey",
            "kms:CreateGrant",
            key_arn,
            StringEquals=_via(spec.region, "ec2"),
            Bool={"kms:GrantIsForAWSResource": "true"},
        ),
        _allow("OpenDisks", ["kms:Decrypt", "kms:DescribeKey"], key_arn, StringEquals=_via(spec.region, "ec2")),
    ]


def _via(region: str, *services: str) -> dict[str, list[str]]:
    """Never the key by itself: only where these services use it for the machine."""
    return {"kms:ViaService": [f"{service}.{region}.amazonaws.com" for service in services]}


def _allow(sid: str, actions: str | list[str], resources: str | list[str], **conditions: Any) -> Document:
    statement = {"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resources}
    return {**statement, "Condition": conditions} if conditions else statement
