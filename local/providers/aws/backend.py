"""The `aws` plugin: provider configuration, clients, and the way from a token to its table entry."""

import threading
from collections.abc import Mapping
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from .. import sdk_types
from ..codec import Properties
from ..naming import autoname
from ..servicer import ProviderError
from .engine import Engine
from .invokes import INVOKES
from .kinds import Kind, known_properties
from .tables import KINDS

DEFAULT_ACCOUNT = "123456789012"
# What the local cloud honours, or what has no meaning where there are no credentials.
CONFIGURED = {"region", "allowedAccountIds", "version", "skipCredentialsValidation", "skipRegionValidation"}
_making_clients = threading.Lock()  # boto3 sessions are not safe to share while they make clients


@cache
def _session() -> Any:
    """One for all clients: each reads 2 MB of endpoints anew, half of what this process does while a fleet comes up."""
    return boto3.session.Session("local", "local", region_name="us-east-1")


@cache
def _client(endpoint: str, service: str, region: str, account: str) -> Any:
    with _making_clients:
        config = Config(
            retries={"total_max_attempts": 2, "mode": "standard"},
            max_pool_connections=64,
            s3={"addressing_style": "path"},
            proxies={},
        )
        client = _session().client(service, region_name=region, endpoint_url=endpoint, config=config)
    # moto's way to be many accounts at once.
    client.meta.events.register("before-send.*", lambda request, **_: _set_account(request, account))
    return client


def _set_account(request: Any, account: str) -> None:
    request.headers["x-moto-account-id"] = account


class Aws:
    """One provider resource: one region, one account."""

    package = "aws"

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.region: str | None = None
        self.account = DEFAULT_ACCOUNT

    def configure(self, config: Mapping[str, Any]) -> None:
        if strange := sorted(config.keys() - CONFIGURED):
            raise ProviderError(f"the local cloud does not know the setting {', '.join(strange)}: leave it out")
        self.region = config.get("region")
        accounts = config.get("allowedAccountIds") or [DEFAULT_ACCOUNT]
        self.account = str(accounts[0])

    def client(self, service: str, region: str | None = None) -> Any:
        """A boto3 client that reaches the local cloud and nothing else."""
        region = region or self.region
        if region is None:
            raise ProviderError("the provider has no region: set region on the aws.Provider")
        return _client(self.endpoint, service, region, self.account)

    def _kind(self, token: str) -> Kind:
        if token not in KINDS:
            raise ProviderError(f"the local cloud can't build {token} yet")
        return KINDS[token]

    def _engine(self, token: str, properties: Mapping[str, Any]) -> Engine:
        kind, region = self._kind(token), properties.get("region") or self.region
        return Engine(kind, self.client(kind.service, region), str(region), self.account)

    def check(self, token: str, name: str, olds: Properties, news: Properties, seed: bytes) -> Properties:
        kind = self._kind(token)
        if strange := sorted(key for key in news.keys() - known_properties(kind) if not key.startswith("__")):
            raise ProviderError(f"the local cloud does not act on {', '.join(strange)} yet")
        checked = dict(news)
        if kind.autoname and checked.get(kind.autoname) is None:
            checked[kind.autoname] = olds.get(kind.autoname) or autoname(name, seed)
        return checked

    def replaces(self, token: str) -> frozenset[str]:
        return self._kind(token).replace | {"region"}

    def delete_first(self, token: str) -> bool:
        return self._kind(token).delete_first

    def create(self, token: str, inputs: Properties) -> tuple[str, Properties]:
        return self._engine(token, inputs).create(inputs)

    def read(self, token: str, id_: str, inputs: Properties, state: Properties) -> tuple[Properties, Properties] | None:
        found = self._engine(token, inputs or state).read(id_, inputs, state)
        if found is None or inputs:
            return found
        # An import: what the cloud says is all there is, as far as a program could say it too.
        takes = sdk_types.input_type(token).properties
        return {name: value for name, value in found[0].items() if name in takes and name != "region"}, found[1]

    def update(self, token: str, id_: str, olds: Properties, news: Properties, state: Properties) -> Properties:
        return self._engine(token, news).update(id_, olds, news, state)

    def delete(self, token: str, id_: str, state: Properties) -> None:
        self._engine(token, state).delete(id_, state)

    def invoke(self, token: str, arguments: Properties) -> Properties:
        if token not in INVOKES:
            raise ProviderError(f"the local cloud can't answer {token} yet")
        return INVOKES[token](self, arguments)
