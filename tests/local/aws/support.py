"""What several tests of the local AWS ask it."""

from collections.abc import Callable
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError


def refused(call: Callable[..., Any], **given: Any) -> str:
    """The code of the client error that a call ends with."""
    with pytest.raises(ClientError) as caught:
        call(**given)
    error = caught.value.response
    assert 400 <= error["ResponseMetadata"]["HTTPStatusCode"] < 500
    return str(error["Error"]["Code"])


def with_keys(endpoint: str, given: dict[str, Any], service: str, region: str) -> Any:
    """A client that signs with a role's credentials, as an STS answer has them."""
    return boto3.client(
        service,
        region_name=region,
        endpoint_url=endpoint,
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
        config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
    )


@cache
def image(ec2: Any) -> str:
    """An image to start; asked once a client, as the list is long."""
    return str(ec2.describe_images()["Images"][0]["ImageId"])
