"""What a bucket shows to everybody is there for callers without any credentials, also under /.well-known/."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

BUCKET = "issuer-of-tokens"
PUBLIC = (".well-known/openid-configuration", ".well-known/jwks.json", "openid/v1/jwks")


@pytest.fixture(scope="module", autouse=True)
def bucket(client: Callable[..., Any]) -> None:
    s3 = client("s3")
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    resources = [f"arn:aws:s3:::{BUCKET}/{name}" for name in PUBLIC]
    allow = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": resources}
    s3.put_bucket_policy(Bucket=BUCKET, Policy=json.dumps({"Version": "2012-10-17", "Statement": [allow]}))
    for name in (*PUBLIC, "private"):
        s3.put_object(Bucket=BUCKET, Key=name, Body=name.encode())


def fetch(url: str, host: str | None = None) -> str:
    asked = urllib.request.Request(url, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(asked) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        return str(error.code)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_document_is_read_by_path_and_by_host(endpoint: str, name: str) -> None:
    assert fetch(f"{endpoint}/{BUCKET}/{name}") == name
    assert fetch(f"{endpoint}/{name}", f"{BUCKET}.s3.us-west-2.amazonaws.com") == name


def test_another_object_is_not(endpoint: str) -> None:
    assert fetch(f"{endpoint}/{BUCKET}/private") == "403"
