"""One engine for every entry of the tables: create, read, update and delete by what the entry says."""

import re
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any

from .. import sdk_types
from ..codec import Properties
from ..servicer import HalfMade, ProviderError
from . import models
from .arm import Arm, Refused
from .drift import drifted, has, without
from .kinds import Kind
from .shapes import as_inputs, output_types, to_sdk, to_wire

# What Azure answers of itself, which a program that takes a resource over does not say.
OWN = frozenset(("id", "name", "type", "etag"))
WITH_SLASHES = frozenset(("scope", "blobName"))


@cache
def version(token: str) -> str:
    """The API version that the installed SDK uses for a type, which it tells in its documentation."""
    overloads = typing.get_overloads(sdk_types.resource_class(token).__init__)
    found = re.search(r"Uses Azure REST API version ([\w-]+)", "\n".join(one.__doc__ or "" for one in overloads))
    if found is None:
        raise ProviderError(f"{token} has no API version")
    return found[1]


class Engine:
    """Acts on one resource type in one subscription."""

    def __init__(self, token: str, kind: Kind, arm: Arm, subscription: str) -> None:
        self.token, self.kind, self.arm, self.subscription = token, kind, arm, subscription
        self.model = models.model(kind.model) if kind.model else None
        self.answer = models.model(kind.answer) if kind.answer else self.model

    @property
    def version(self) -> str:
        return version(self.token)

    def create(self, inputs: Properties) -> tuple[str, Properties]:
        id_ = self.id_of(inputs)
        if not self.kind.singleton and self.arm.get(id_, self.version):
            raise ProviderError(f"cannot create already existing resource '{id_}'")
        body = self.body(id_, inputs)
        for part in self.kind.subresources:
            if not has(inputs, part.split(".")):
                _put_in(body, self._place(part), [])
        self._put(id_, inputs, body)
        state = self._state(id_)
        if state is None:
            raise ProviderError(f"{id_} was created and is not there")
        return state

    def read(self, id_: str, inputs: Properties, state: Properties) -> tuple[Properties, Properties] | None:
        """Inputs as Azure has them now, and the state; None when the resource is gone."""
        found = self._state(id_)
        if found is None:
            return None
        taken = self._takes()
        before, now = as_inputs(state, taken), as_inputs(found[1], taken)
        if not inputs:  # an import: what Azure says is all there is
            properties = {name: value for name, value in now.items() if name not in OWN}
            return {**properties, **self.path_values(id_), "azureApiVersion": self.version}, found[1]
        # Azure does not tell what the id holds; a state that a killed run has left may have it all the same.
        apart = [[name] for name in self.kind.in_path if name not in now]
        apart += [path for part in self.kind.subresources if not has(inputs, path := part.split("."))]
        for path in apart:
            before, now = without(before, path), without(now, path)
        return drifted(inputs, before, now), found[1]

    def update(self, id_: str, olds: Properties, news: Properties, state: Properties) -> Properties:  # noqa: ARG002
        body = self.body(id_, news)
        unset = [part for part in self.kind.subresources if not has(news, part.split("."))]
        if unset:
            current = self.arm.get(id_, self.version)
            if current is None:
                raise ProviderError(f"{id_} is gone: run a refresh to see what else is")
            for part in unset:
                if (value := _at(current, self._place(part))) is not None:
                    _put_in(body, self._place(part), value)
        self._put(id_, news, body)
        found = self._state(id_)
        if found is None:
            raise ProviderError(f"{id_} is gone: run a refresh to see what else is")
        return found[1]

    def delete(self, id_: str, state: Properties) -> None:  # noqa: ARG002
        """What is already gone is fine. What lives as long as its parent goes back to how that came."""
        if not self.kind.singleton:
            self.arm.delete(id_, self.version)
            return
        try:
            self.arm.put(id_, self.version, {}, {})
        except Refused as refused:
            if refused.status != 404:
                raise

    def id_of(self, inputs: Mapping[str, Any]) -> str:
        """Raises ProviderError for a property of the path that has no value."""
        values = {"subscriptionId": self.subscription}
        for name in self.kind.in_path:
            if not isinstance(inputs.get(name), str) or not inputs[name].strip("/"):
                raise ProviderError(f"{name} is required: it is part of the resource's id")
            values[name] = inputs[name].strip("/")
        return self.kind.path.format(**values)

    def path_values(self, id_: str) -> dict[str, str]:
        """The properties that an id holds. Raises ProviderError for an id of another type."""
        return path_values(self.kind, id_)

    def body(self, id_: str, inputs: Properties) -> dict[str, Any]:
        apart = (*self.kind.in_path, *self.kind.query)
        properties = {name: value for name, value in inputs.items() if name not in apart}
        return dict(_absolute(to_wire(properties, self._takes(), self.model, top=True), id_))

    def outputs(self, found: Mapping[str, Any]) -> Properties:
        return {**to_sdk(found, output_types(self.token), self.answer, top=True), "azureApiVersion": self.version}

    def _takes(self) -> Mapping[str, Any]:
        return sdk_types.input_type(self.token).properties

    def _place(self, part: str) -> tuple[str, ...]:
        """Where a part stands in a body; the first name of a dotted one is on top."""
        first, *rest = part.split(".")
        return (*models.place(self.model, first, top=True).path, *rest)

    def _put(self, id_: str, inputs: Properties, body: dict[str, Any]) -> None:
        query = {name: str(inputs[name]) for name in self.kind.query if inputs.get(name) is not None}
        try:
            self.arm.put(id_, self.version, body, query)
        except Refused as refused:
            if refused.began and (found := self._state(id_)):
                raise HalfMade(str(refused), *found, inputs) from None
            raise

    def _state(self, id_: str) -> tuple[str, Properties] | None:
        """With the id as Azure spells it."""
        found = self.arm.get(id_, self.version)
        return None if found is None else (str(found.get("id", id_)), self.outputs(found))


def path_values(kind: Kind, id_: str) -> dict[str, str]:
    pattern = re.escape(kind.path)
    for name in ("subscriptionId", *kind.in_path):
        pattern = pattern.replace(re.escape(f"{{{name}}}"), f"(?P<{name}>{'.+' if name in WITH_SLASHES else '[^/]+'})")
    found = re.fullmatch(pattern, id_, re.IGNORECASE)
    if found is None:
        raise ProviderError(f"'{id_}' is no id of this type, which are {kind.path}")
    return {name: value for name, value in found.groupdict().items() if name != "subscriptionId"}


def _absolute(value: Any, id_: str) -> Any:
    """$self/PART in an id stands for a part of the resource itself, which has no id yet when it is made."""
    if isinstance(value, dict):
        return {name: _absolute(inner, id_) for name, inner in value.items()}
    if isinstance(value, list):
        return [_absolute(inner, id_) for inner in value]
    return id_ + value.removeprefix("$self") if isinstance(value, str) and value.startswith("$self/") else value


def _put_in(body: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for name in path[:-1]:
        body = body.setdefault(name, {})
    body[path[-1]] = value


def _at(body: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    return body
