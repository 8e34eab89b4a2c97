"""What several tests of the local AWS ask it."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from botocore.exceptions import ClientError


def refused(call: Callable[..., Any], **given: Any) -> str:
    """The code of the client error that a call ends with."""
    with pytest.raises(ClientError) as caught:
        call(**given)
    error = caught.value.response
    assert 400 <= error["ResponseMetadata"]["HTTPStatusCode"] < 500
    return str(error["Error"]["Code"])


@cache
def image(ec2: Any) -> str:
    """An image to start; asked once a client, as the list is long."""
    return str(ec2.describe_images()["Images"][0]["ImageId"])
