"""What the recorder may do in AWS, as plain data: of a cluster that is at home there, write what it saw to the home
region's fleet bucket and read the audit log there; of one that has machines there, read what became of them.

The role is for one service account of one cluster, as teams' roles are (team_roles.py).
"""

from typing import Any

from components.storage.places import AUDIT
from fleet import autoscaler, recorder
from fleet.buckets import bucket_arn, in_azure, key_alias
from fleet.model import Fleet

from ..owners import of_cluster
from .team_roles import READ, ROLE, Document, allow, arn, trusted

# None of its files is so large that it would come in parts.
WRITE = ["s3:PutObject", "s3:DeleteObject"]
DESCRIBE = [
    "ec2:DescribeInstances",
    "ec2:DescribeInstanceStatus",
    "autoscaling:DescribeScalingActivities",
]
KEYS = ["kms:Decrypt", "kms:GenerateDataKey"]


def wanted(fleet: Fleet, cluster: str) -> bool:
    return not in_azure(fleet, fleet.clusters[cluster].region) or bool(autoscaler.regions(fleet, cluster, "aws"))


def role_name(fleet: Fleet, cluster: str) -> str:
    return of_cluster(fleet, cluster).name("recorder", ROLE)


def role_arn(fleet: Fleet, cluster: str) -> str:
    """Known before there is a role: the pod names it."""
    return arn(fleet, role_name(fleet, cluster))


def trust(fleet: Fleet, cluster: str) -> Document:
    """Who may take the role: the recorder's service account in this cluster, with a token that is meant for AWS."""
    return trusted(fleet, cluster, recorder.SUBJECT)


def permissions(fleet: Fleet, cluster: str) -> Document:
    asked = autoscaler.regions(fleet, cluster, "aws")
    statements = [
        *([] if in_azure(fleet, fleet.clusters[cluster].region) else _at_home(fleet, cluster)),
        # What became of machines; AWS has these of no machine in particular.
        *([allow("Machines", DESCRIBE, ["*"], StringEquals={"aws:RequestedRegion": asked})] if asked else []),
    ]
    return {"Version": "2012-10-17", "Statement": statements}


def _at_home(fleet: Fleet, cluster: str) -> list[Document]:
    assert fleet.aws is not None
    region = fleet.clusters[cluster].region
    bucket, audit, own = bucket_arn(fleet, region), f"{AUDIT}/{cluster}/*", recorder.written(cluster)
    by_s3: dict[str, Any] = {
        "StringEquals": {"kms:ViaService": f"s3.{region}.amazonaws.com"},
        "ForAnyValue:StringEquals": {"kms:ResourceAliases": key_alias(fleet, region)},
    }
    return [
        allow("Records", [*READ, *WRITE], [f"{bucket}/{pattern}" for pattern in own]),
        allow("Audit", READ, [f"{bucket}/{audit}"]),
        allow("List", ["s3:ListBucket"], [bucket], StringLike={"s3:prefix": [*own, audit]}),
        # Every key there, of which the alias leaves the fleet bucket's.
        allow("Keys", KEYS, [f"arn:aws:kms:{region}:{fleet.aws.account_id}:key/*"], **by_s3),
    ]
