"""Clients of AWS, by the role of the recorder's pod. boto3 makes them in one thread at a time."""

import threading
from typing import Any

LOCK = threading.Lock()


def client(service: str, region: str | None = None, *, attempts: int) -> Any:
    import boto3
    from botocore.config import Config

    retries = {"mode": "standard", "total_max_attempts": attempts}
    config = Config(connect_timeout=5, read_timeout=20, retries=retries)
    with LOCK:
        return boto3.client(service, region_name=region, config=config)
