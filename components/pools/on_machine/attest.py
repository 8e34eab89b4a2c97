"""Proves to the cluster which instance this is: prints an exec credential for the kubelet's first request.

The token is a request to AWS STS, "who am I", signed with the instance role's credentials and good for minutes. The
cluster sends it on, and AWS answers with role and instance. The cluster's name is signed with it, so that it is worth
nothing to another cluster. As aws-iam-authenticator and Vault's AWS auth do it.
"""

import base64
import json
import sys
from datetime import UTC, datetime, timedelta

from aws import XML, Aws
from machine import Text, settings

PREFIX = "landbridge-aws."
BODY = "Action=GetCallerIdentity&Version=2011-06-15"
CLUSTER_HEADER = "x-landbridge-cluster"
# AWS takes a signature for five minutes: a new token is made before that.
MINUTES = 4


def token(aws: Aws, cluster: str) -> str:
    headers = {"host": f"sts.{aws.region}.amazonaws.com", "content-type": XML, CLUSTER_HEADER: cluster}
    signed = aws.signed("POST", "sts", "/", "", Text(BODY.encode()).digest(), headers)
    told = json.dumps({"region": aws.region, "headers": signed}, sort_keys=True)
    return PREFIX + base64.urlsafe_b64encode(told.encode()).decode().rstrip("=")


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
    told = settings("node")
    made = token(Aws(str(told["place"])), str(told["cluster"]))
    sys.stdout.write(json.dumps(credential(made, datetime.now(UTC))) + "\n")


if __name__ == "__main__":
    main()
