"""The `azure-native` plugin: provider configuration, and the way from a token to its table entry."""

from collections.abc import Mapping
from typing import Any

from .. import sdk_types
from ..codec import UNKNOWN, Properties
from ..servicer import ProviderError
from .arm import Arm
from .blobs import BLOB, Blobs
from .engine import Engine, version
from .invokes import invoke
from .kinds import Kind
from .models import known, model
from .names import name_of
from .settings import Settings, settings
from .shapes import foreseen, output_types
from .tables import KINDS
from .transport import Transport
from .vault import IN_VAULT, InVault

GROUPS_VERSION = "2024-03-01"


class Azure:
    """One provider resource: one subscription, as one account."""

    package = "azure-native"

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._settings: Settings | None = None
        self._places: dict[str, str] = {}  # of resource groups

    def configure(self, config: Mapping[str, Any]) -> None:
        self._settings = settings(config)

    @property
    def settings(self) -> Settings:
        if self._settings is None:
            raise ProviderError("the provider was not configured")
        return self._settings

    @property
    def arm(self) -> Arm:
        return Arm(self.transport, self.settings.account)

    def engine(self, token: str) -> Engine:
        kind, one, subscription = self._kind(token), Engine, self.settings.subscription
        if token == BLOB:
            one = Blobs
        elif token in IN_VAULT:
            one = InVault
        return one(token, kind, self.arm, subscription)

    def _kind(self, token: str) -> Kind:
        if token not in KINDS:
            raise ProviderError(f"the local cloud can't build {token} yet")
        return KINDS[token]

    def foreseen(self, token: str, inputs: Properties) -> Properties:
        return foreseen(inputs, output_types(token))

    def check(self, token: str, name: str, olds: Properties, news: Properties, seed: bytes) -> Properties:
        kind, checked = self._kind(token), dict(news)
        if kind.named and checked.get(kind.named) is None:
            checked[kind.named] = name_of(kind, name, olds, seed)
        takes = sdk_types.input_type(token).properties
        if "location" in takes and checked.get("location") is None and (place := self._location(olds, checked)):
            checked["location"] = place
        if token != BLOB:
            checked["azureApiVersion"] = version(token)
        return checked

    def _location(self, olds: Properties, news: Properties) -> str | None:
        """As it was, else the provider's, else the resource group's."""
        group = news.get("resourceGroupName")
        if location := olds.get("location") or self.settings.location:
            return str(location)
        if group is None or group == UNKNOWN:
            return UNKNOWN if group else None
        if group not in self._places:
            id_ = f"/subscriptions/{self.settings.subscription}/resourceGroups/{group}"
            found = self.arm.get(id_, GROUPS_VERSION)
            if found is None:
                return None
            self._places[group] = str(found["location"])
        return self._places[group]

    def replaces(self, token: str) -> frozenset[str]:
        kind = self._kind(token)
        return frozenset((*kind.in_path, *kind.replace, *_fixed(token, kind)))

    def delete_first(self, token: str) -> bool:  # noqa: ARG002
        # The real provider's rule for all that has a name of the program's choice: the name is taken.
        return True

    def create(self, token: str, inputs: Properties) -> tuple[str, Properties]:
        return self.engine(token).create(inputs)

    def read(self, token: str, id_: str, inputs: Properties, state: Properties) -> tuple[Properties, Properties] | None:
        return self.engine(token).read(id_, inputs, state)

    def update(self, token: str, id_: str, olds: Properties, news: Properties, state: Properties) -> Properties:
        return self.engine(token).update(id_, olds, news, state)

    def delete(self, token: str, id_: str, state: Properties) -> None:
        self.engine(token).delete(id_, state)

    def invoke(self, token: str, arguments: Properties) -> Properties:
        return invoke(self, token, arguments)


def _fixed(token: str, kind: Kind) -> list[str]:
    if kind.model is None:
        return []
    of = model(kind.model)
    return [name for name in sdk_types.input_type(token).properties if (at := known(of, name)) and at.fixed]
