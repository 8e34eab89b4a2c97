"""What a server may do in its cloud account: read its own bundle, its own keys and the list of revoked certificates."""

from typing import Any

from components.boot import people
from fleet import laptops
from fleet.buckets import bucket_arn
from fleet.model import Fleet

from ..spec import LaptopsSpec, Server


def permissions(fleet: Fleet, spec: LaptopsSpec, server: Server, key_arn: str) -> dict[str, Any]:
    """`key_arn` is the region's key, which encrypts bucket and secrets. It writes nowhere, and signs nothing."""
    bucket, prefix = bucket_arn(fleet, spec.region), spec.prefix(server.name)
    services = [f"{name}.{spec.region}.amazonaws.com" for name in ("s3", "secretsmanager")]
    statements = [
        _allow("Bundle", "s3:GetObject", f"{bucket}/{prefix}/*"),
        _allow("Revoked", "s3:GetObject", f"{bucket}/{laptops.REVOKED}"),
        # AWS appends a hyphen and six characters to the name of every secret.
        _allow(
            "Keys",
            "secretsmanager:GetSecretValue",
            f"arn:aws:secretsmanager:{spec.region}:{spec.account}:secret:{prefix}-??????",
        ),
        *(people.reading(fleet, spec.region) if spec.logins else []),
        # Never the key by itself: only where these services use it for the machine.
        {**_allow("Key", "kms:Decrypt", key_arn), "Condition": {"StringEquals": {"kms:ViaService": services}}},
    ]
    return {"Version": "2012-10-17", "Statement": statements}


def _allow(sid: str, action: str, resource: str) -> dict[str, Any]:
    return {"Sid": sid, "Effect": "Allow", "Action": action, "Resource": resource}
