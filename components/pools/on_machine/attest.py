"""Proves to the cluster which machine of a cloud this is: prints an exec credential for the kubelet's first request."""

import json
import sys
from datetime import UTC, datetime, timedelta
from importlib import import_module

from cloud import named
from machine import settings

# AWS takes a signature for five minutes, and a cluster Azure's document for as long: a new token is made before that.
MINUTES = 4


def credential(made: str, now: datetime) -> dict[str, object]:
    """An ExecCredential (client.authentication.k8s.io/v1)."""
    return {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {
            "token": made,
            "expirationTimestamp": (now + timedelta(minutes=MINUTES)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        },
    }


def main() -> None:
    # A bundle has the module of its own cloud alone.
    made = import_module(f"attest_{named()}").made(settings("node"))
    sys.stdout.write(json.dumps(credential(made, datetime.now(UTC))) + "\n")


if __name__ == "__main__":
    main()
