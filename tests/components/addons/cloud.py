"""A local AWS in which a cluster's issuer is published and trusted: who has a pod's token may take the pod's role."""

import json
from collections.abc import Callable
from typing import Any

import boto3
from botocore import UNSIGNED
from botocore.config import Config

from components.control_plane.aws.issuer import bucket_policy
from components.control_plane.issuer import documents
from fleet import issuers
from fleet.model import Fleet
from tests.support.apiserver import Server

Client = Callable[..., Any]


def publish(make: Client, server: Server, fleet: Fleet, cluster: str = "main") -> None:
    """What the cluster's stack does: the issuer's documents for all to read, and IAM's trust in it."""
    name, s3 = issuers.bucket(fleet, cluster), make("s3")
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    s3.put_bucket_policy(Bucket=name, Policy=json.dumps(bucket_policy(name, issuers.public(fleet, cluster))))
    for path, text in documents(issuers.url(fleet, cluster), server.accounts_public).items():
        s3.put_object(Bucket=name, Key=path, Body=text.encode())
    made = make("iam").create_open_id_connect_provider(
        Url=issuers.url(fleet, cluster), ClientIDList=[issuers.AUDIENCE], ThumbprintList=[]
    )
    assert made["OpenIDConnectProviderArn"] == issuers.provider_arn(fleet, cluster)


def token(server: Server, space: str, account: str, audience: str = issuers.AUDIENCE) -> str:
    """As the kubelet asks for a pod's: the real API server's."""
    path = f"/api/v1/namespaces/{space}/serviceaccounts/{account}/token"
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"audiences": [audience], "expirationSeconds": 3600},
    }
    return str(server.api.call("POST", path, {}, body)["status"]["token"])


def assume(endpoint: str, role: str, web_identity: str) -> Any:
    """Without any credentials, as SDKs ask. Raises ClientError."""
    config = Config(signature_version=UNSIGNED, retries={"total_max_attempts": 1})
    sts = boto3.client("sts", region_name="us-west-2", endpoint_url=endpoint, config=config)
    return sts.assume_role_with_web_identity(RoleArn=role, RoleSessionName="pod", WebIdentityToken=web_identity)
