"""Clients of AWS, by the role of the service's pod, and how they fail."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from ..errors import CloudError


@cache
def client(service: str, region: str | None = None) -> Any:
    import boto3
    from botocore.config import Config

    # What is not told now is asked for again in minutes.
    config = Config(connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 2})
    return boto3.client(service, region_name=region, config=config)


@contextmanager
def errors(what: str) -> Iterator[None]:
    """Raises CloudError."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError, OSError) as error:
        raise CloudError(f"{what}: {error}") from None
