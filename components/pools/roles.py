"""What a pool's machines may do in their cloud account, as plain data: read their bundle, and nothing else.

Joining needs no right: a machine signs a question to STS, which everybody may ask.
"""

from typing import Any

from fleet.buckets import bucket_arn
from fleet.model import Fleet

from .spec import PoolSpec


def permissions(fleet: Fleet, spec: PoolSpec, key_arn: str) -> dict[str, Any]:
    """`key_arn` is the key of the pool's region, which encrypts the bucket. No secret: a pool's bundle has no keys."""
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "Bundle",
                "Effect": "Allow",
                "Action": "s3:GetObject",
                "Resource": f"{bucket_arn(fleet, spec.place)}/{spec.prefix}/*",
            },
            {
                "Sid": "Key",
                "Effect": "Allow",
                "Action": "kms:Decrypt",
                "Resource": key_arn,
                # Never the key by itself: only where the bucket uses it for the machine.
                "Condition": {"StringEquals": {"kms:ViaService": f"s3.{spec.place}.amazonaws.com"}},
            },
        ],
    }
