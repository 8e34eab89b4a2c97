"""Proves to the cluster which instance of AWS this is, for attest.py.

The token is a request to AWS STS, "who am I", signed with the instance role's credentials and good for minutes. The
cluster sends it on, and AWS answers with role and instance. The cluster's name is signed with it, so that it is worth
nothing to another cluster. As aws-iam-authenticator and Vault's AWS auth do it.
"""

import base64
import json
from collections.abc import Mapping

from api_aws import XML, Aws
from machine import Text

PREFIX = "landbridge-aws."
BODY = "Action=GetCallerIdentity&Version=2011-06-15"
CLUSTER_HEADER = "x-landbridge-cluster"


def made(told: Mapping[str, object]) -> str:
    """`told` are the node's settings."""
    return token(Aws(str(told["place"])), str(told["cluster"]))


def token(aws: Aws, cluster: str) -> str:
    headers = {"host": f"sts.{aws.region}.amazonaws.com", "content-type": XML, CLUSTER_HEADER: cluster}
    signed = aws.signed("POST", "sts", "/", "", Text(BODY.encode()).digest(), headers)
    told = json.dumps({"region": aws.region, "headers": signed}, sort_keys=True)
    return PREFIX + base64.urlsafe_b64encode(told.encode()).decode().rstrip("=")
