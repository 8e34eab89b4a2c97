"""A real server of the local AWS on a free port of this machine's loopback."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config

from local.providers.host import free_port


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    yield from served()


def served() -> Iterator[str]:
    """The URL of a server, which ends with the generator."""
    port = free_port()
    server = subprocess.Popen([sys.executable, "-m", "local.aws.server", "--port", str(port)])
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 180
        while True:
            try:
                urllib.request.urlopen(f"{url}/landbridge-api/inventory").close()
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        server.wait(60)


@pytest.fixture(scope="session")
def client(endpoint: str) -> Callable[..., Any]:
    return clients(endpoint)


def clients(endpoint: str) -> Callable[..., Any]:
    def make(service: str, region: str = "us-west-2", attempts: int = 1) -> Any:
        retries = {"total_max_attempts": attempts}
        # A first answer takes 4 s on an idle machine, and took more than botocore's 60 s on a busy one.
        config = Config(retries=retries, s3={"addressing_style": "path"}, read_timeout=300)
        keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
        return boto3.client(service, region_name=region, endpoint_url=endpoint, config=config, **keys)

    return make


@pytest.fixture(scope="session")
def own(endpoint: str) -> Callable[..., Any]:
    """Asks the local AWS's own API: own("clock", {"advance": 60}) posts, own("clock") gets."""
    return asker(endpoint)


def asker(endpoint: str) -> Callable[..., Any]:
    def ask(name: str, body: Any = None, method: str | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{endpoint}/landbridge-api/{name}", data, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    return ask
