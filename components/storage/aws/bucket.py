"""The fleet bucket of a region and its key, as plain data: names and policies."""

from typing import Any

from components.alarms.aws.access import key_statement
from fleet.buckets import bucket_arn
from fleet.model import Fleet

from ..places import EXPIRY_DAYS, FLOW_LOGS

# An upload in parts that nobody finished: the longest snapshot takes minutes.
ABORT_DAYS = 2
# Delivers flow logs; AWS's guide "Publish flow logs to Amazon S3" lists what it needs.
DELIVERY = {"Service": "delivery.logs.amazonaws.com"}
Policy = dict[str, Any]


def tls_only(arn: str) -> dict[str, Any]:
    """Nobody does anything with the bucket of this ARN but over TLS."""
    return {
        "Sid": "TlsOnly",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [arn, f"{arn}/*"],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }


def bucket_policy(fleet: Fleet, region: str) -> Policy:
    """TLS only, no object that is not encrypted by KMS, and flow logs may come in from this account alone."""
    assert fleet.aws is not None
    arn, account = bucket_arn(fleet, region), fleet.aws.account_id
    from_here = {
        "StringEquals": {"aws:SourceAccount": account},
        "ArnLike": {"aws:SourceArn": f"arn:aws:logs:{region}:{account}:*"},
    }
    return {
        "Version": "2012-10-17",
        "Statement": [
            tls_only(arn),
            {
                "Sid": "KmsOnly",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:PutObject",
                "Resource": f"{arn}/*",
                # A missing header means the bucket's default, which is KMS: only another value is refused.
                "Condition": {
                    "Null": {"s3:x-amz-server-side-encryption": "false"},
                    "StringNotEquals": {"s3:x-amz-server-side-encryption": "aws:kms"},
                },
            },
            {
                "Sid": "FlowLogs",
                "Effect": "Allow",
                "Principal": DELIVERY,
                "Action": "s3:PutObject",
                "Resource": f"{arn}/{FLOW_LOGS}/*",
                "Condition": from_here,
            },
            {
                "Sid": "FlowLogsCheck",
                "Effect": "Allow",
                "Principal": DELIVERY,
                "Action": ["s3:GetBucketAcl", "s3:ListBucket"],
                "Resource": arn,
                "Condition": from_here,
            },
        ],
    }


def lifecycle(fleet: Fleet) -> list[dict[str, Any]]:
    """What goes by itself, and when. Expired objects are replaced versions from then on: a mistake can be undone."""
    replaced = {
        "id": "replaced-versions",
        "status": "Enabled",
        "filter": {"prefix": ""},
        "noncurrent_version_expiration": {"noncurrent_days": fleet.storage.noncurrent_days},
        "abort_incomplete_multipart_upload": {"days_after_initiation": ABORT_DAYS},
    }
    expiring = (
        {"id": place, "status": "Enabled", "filter": {"prefix": f"{place}/"}, "expiration": {"days": days}}
        for place, days in EXPIRY_DAYS.items()
    )
    return [replaced, *expiring]


def key_policy(fleet: Fleet, region: str) -> Policy:
    """The account's own IAM decides who uses the key; beside it only the delivery of flow logs may encrypt, and, where
    somebody is told of them, the fleet's alarms.
    """
    assert fleet.aws is not None
    account = fleet.aws.account_id
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "Account",
                "Effect": "Allow",
                "Principal": {"AWS": f"arn:aws:iam::{account}:root"},
                "Action": "kms:*",
                "Resource": "*",
            },
            {
                "Sid": "FlowLogs",
                "Effect": "Allow",
                "Principal": DELIVERY,
                # AWS's guide "Amazon S3 bucket server-side encryption" of vended logs lists these five.
                "Action": ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"],
                "Resource": "*",
                "Condition": {"StringEquals": {"aws:SourceAccount": account}},
            },
            *([key_statement(fleet, region)] if fleet.cloud_alarms else []),
        ],
    }
