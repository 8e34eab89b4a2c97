"""What a pool's machines may do in their cloud account, as plain data: read their bundle, and nothing else.

Joining needs no right: a machine signs a question to STS, which everybody may ask.
"""

from typing import Any

from components.boot import people
from fleet.buckets import bucket_arn
from fleet.model import Fleet

from ..spec import PoolSpec


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
            *(people.reading(fleet, spec.place) if spec.logins else []),
            *(_shown(fleet, spec) if people.shows(fleet, spec.logins) else []),
            {
                "Sid": "Key",
                "Effect": "Allow",
                "Action": "kms:Decrypt",
                "Resource": key_arn,
                # Never the key by itself: only where these use it for the machine.
                "Condition": {"StringEquals": {"kms:ViaService": _services(fleet, spec)}},
            },
        ],
    }


def _services(fleet: Fleet, spec: PoolSpec) -> str | list[str]:
    """Where its bundle lies, and its secret if it has one."""
    bucket, secrets = f"s3.{spec.place}.amazonaws.com", f"secretsmanager.{spec.place}.amazonaws.com"
    return [bucket, secrets] if people.shows(fleet, spec.logins) else bucket


def _shown(fleet: Fleet, spec: PoolSpec) -> list[dict[str, str]]:
    """The key of what its machines show to people's clients."""
    assert fleet.aws is not None
    # AWS appends a hyphen and six characters to the name of every secret.
    place = f"arn:aws:secretsmanager:{spec.place}:{fleet.aws.account_id}:secret:{spec.prefix}-??????"
    return [{"Sid": "Keys", "Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Resource": place}]
