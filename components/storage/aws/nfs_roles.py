"""What a site's NFS server may do in the cloud, as plain data: bring backups and read them, and never delete one.

It has no key of its own. IAM Roles Anywhere takes the certificate by which the host is a node of its cluster, days
long and renewed by its kubelet, and gives an hour's rights for it: docs/decisions, "A site's NFS server".
"""

from typing import Any

from components.pools.site.enrolment import node_name
from fleet.buckets import bucket_arn
from fleet.model import Fleet

from ..site.nfs_spec import NfsSpec

SERVICE = "rolesanywhere.amazonaws.com"
SESSION_SECONDS = 3600


def trust(spec: NfsSpec, trust_anchor_arn: str) -> dict[str, Any]:
    """Who may take the role: the node of this name, vouched for by this cluster's authority."""
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "Host",
                "Effect": "Allow",
                "Principal": {"Service": SERVICE},
                "Action": ["sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity"],
                "Condition": {
                    "StringEquals": {
                        "aws:PrincipalTag/x509Subject/CN": f"system:node:{node_name(spec.site, spec.host)}",
                        "aws:PrincipalTag/x509Subject/O": "system:nodes",
                    },
                    "ArnEquals": {"aws:SourceArn": trust_anchor_arn},
                },
            }
        ],
    }


def permissions(fleet: Fleet, spec: NfsSpec, key_arn: str) -> dict[str, Any]:
    """`key_arn` is the key of the bucket's region. Raises ValueError where the fleet wants no backups."""
    if spec.backup is None:
        raise ValueError(f"site {spec.site} has no backups")
    arn, region = bucket_arn(fleet, spec.backup.region), spec.backup.region
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "Backups",
                "Effect": "Allow",
                "Action": ["s3:PutObject", "s3:AbortMultipartUpload", "s3:GetObject"],
                "Resource": f"{arn}/{spec.backup.prefix}/*",
            },
            {
                "Sid": "List",
                "Effect": "Allow",
                "Action": "s3:ListBucket",
                "Resource": arn,
                "Condition": {"StringLike": {"s3:prefix": f"{spec.backup.prefix}/*"}},
            },
            {
                "Sid": "Key",
                "Effect": "Allow",
                "Action": ["kms:GenerateDataKey", "kms:Decrypt"],
                "Resource": key_arn,
                "Condition": {"StringEquals": {"kms:ViaService": f"s3.{region}.amazonaws.com"}},
            },
        ],
    }
