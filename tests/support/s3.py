"""An S3 of this process, over HTTP: what uses several clients or processes at once sees one bucket."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

# For subprocesses, whose boto3 reads it.
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1"}


@contextmanager
def serving() -> Iterator[str]:
    """Its URL."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line a request
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def client(url: str) -> Any:
    return boto3.client(
        "s3", region_name="us-east-1", endpoint_url=url, aws_access_key_id="x", aws_secret_access_key="x"
    )
