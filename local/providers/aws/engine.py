"""One engine for every entry of the tables: create, read, update and delete by what the entry says."""

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import jmespath
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from local.waiting import persist

from ..codec import Properties
from ..compare import changed_paths
from ..servicer import ProviderError
from .drift import overlay
from .kinds import Added, Arn, Call, Each, Found, Kind, Marker, Out, P, Removed, Template

GONE = ("NotFound", "NotFoundException", "NoSuchEntity", "ResourceNotFoundException")
# The official provider waits a quarter of an hour and more for what holds a security group, a subnet or a gateway.
HELD, HELD_SECONDS, HELD_PAUSE_SECONDS = "DependencyViolation", 120.0, 0.5


class Engine:
    """Acts on one resource type in one region and account. `client` is boto3's."""

    def __init__(self, kind: Kind, client: Any, region: str, account: str) -> None:
        self.kind, self.client, self.region, self.account = kind, client, region, account

    def create(self, inputs: Properties) -> tuple[str, Properties]:
        kind, properties = self.kind, inputs
        inputs = {"region": self.region, **inputs}
        asks = kind.create._replace(params={**kind.create.params, **self._tagged(inputs)})
        answer = self._call(asks, {"inputs": inputs, "token": _token(inputs)})
        if kind.failure and (message := jmespath.search(kind.failure, answer)):
            raise ProviderError(str(message))
        taken = _take(kind.create.take, answer, {**inputs, "id": ""})
        id_ = kind.make_id(taken, inputs) if kind.make_id else str(taken)
        context = {"inputs": inputs, "id": id_, "olds": {}, "state": inputs}
        try:
            for call in kind.after_create:
                with suppress(_Gone):  # they take away what the cloud put there, and it need not have
                    self._call(call, context)
            for change in kind.changes:
                if change.on_create and any(inputs.get(name) is not None for name in change.properties):
                    self._calls(change.calls, context)
            found = self.describe(id_, inputs)
            if found and kind.tagging and inputs.get("tags") and found["tags"] != inputs["tags"]:
                self._call(kind.tagging.add, {**context, "tags": self._tag_list(inputs["tags"])})
                found = self.describe(id_, inputs)
        except ProviderError:
            # Half a resource would be known to nobody: take it back before saying what went wrong.
            self.delete(id_, inputs)
            raise
        if found is None:
            raise ProviderError(f"{id_} was created and is not there")
        return id_, {**properties, **found}

    def read(self, id_: str, inputs: Properties, state: Properties) -> tuple[Properties, Properties] | None:
        """Inputs as the cloud has them now, and the state; None when the resource is gone."""
        found = self.describe(id_, {**state, **inputs})
        if found is None:
            return None
        known = inputs or {name: found[name] for name in found if name in self.kind.outputs}
        current = {name: overlay(value, found[name]) if name in found else value for name, value in known.items()}
        return {name: value for name, value in current.items() if value is not None}, {**state, **found}

    def update(self, id_: str, olds: Properties, news: Properties, state: Properties) -> Properties:
        changed = {path.replace("[", ".").partition(".")[0] for path in changed_paths(olds, news)}
        context = {"inputs": news, "id": id_, "olds": olds, "state": state}
        for change in self.kind.changes:
            if changed & set(change.properties):
                self._calls(change.calls, context)
        if "tags" in changed and self.kind.tagging:
            self._retag(context, olds.get("tags") or {}, news.get("tags") or {})
        found = self.describe(id_, news)
        if found is None:
            raise ProviderError(f"{id_} is gone: run a refresh to see what else is")
        return {**news, **found}

    def delete(self, id_: str, state: Properties) -> None:
        """What is already gone is fine."""
        if self.kind.clear:
            self.kind.clear(self.client, id_, state)
        for call in self.kind.delete:
            with suppress(_Gone):
                self._patiently(call, {"inputs": state, "id": id_, "state": state, "olds": {}})

    def _patiently(self, call: Call, context: Mapping[str, Any]) -> None:
        """As the real provider: what holds a resource may be on its way out, such as machines of a deleted group."""
        persist(lambda: self._call(call, context), HELD_SECONDS, HELD_PAUSE_SECONDS, _InUse)

    def describe(self, id_: str, inputs: Properties) -> Properties | None:
        """Every output that the table names, as the cloud has it; None when the resource is gone."""
        kind, context = self.kind, {"inputs": inputs, "id": id_, "olds": {}, "state": inputs}
        try:
            main = self._taken(kind.read, context)
            if main is None:
                return None
            answer = {**main} if isinstance(main, dict) else {"value": main}
            answer |= {name: self._taken(call, context) for name, call in kind.more.items()}
        except _Gone:
            return None
        found = Found(id_, self.region, self.account, inputs, answer)
        values = {
            name: output(found) if callable(output) else jmespath.search(output, answer)
            for name, output in kind.outputs.items()
        }
        if kind.tagging:
            values["tags"] = values["tagsAll"] = self._tags(answer, context)
        return {**values, "region": self.region}

    def _tags(self, answer: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, str]:
        tagging = self.kind.tagging
        assert tagging is not None
        listed = self._taken(tagging.read, context) if tagging.read else answer.get("Tags")
        if isinstance(listed, dict):
            return listed
        tags = {tag[tagging.key]: tag[tagging.value] for tag in listed or []}
        return {key: value for key, value in tags.items() if not key.startswith("aws:")}

    def _tag_list(self, tags: Mapping[str, str]) -> Any:
        assert self.kind.tagging is not None
        if self.kind.tagging.as_map:
            return dict(tags)
        return [{self.kind.tagging.key: key, self.kind.tagging.value: value} for key, value in tags.items()]

    def _tagged(self, inputs: Properties) -> dict[str, Any]:
        """What makes a creation tag what it creates."""
        tagging, tags = self.kind.tagging, inputs.get("tags")
        type_ = tagging and tagging.created.get(self.kind.create.operation)
        if not (type_ and tags):
            return {}
        return {"TagSpecifications": [{"ResourceType": type_, "Tags": self._tag_list(tags)}]}

    def _retag(self, context: Mapping[str, Any], olds: Mapping[str, str], news: Mapping[str, str]) -> None:
        assert self.kind.tagging is not None
        if gone := sorted(olds.keys() - news.keys()):
            plain = [{self.kind.tagging.key: key} for key in gone]
            self._call(self.kind.tagging.remove, {**context, "tag_keys": gone, "tags": plain})
        if news:
            self._call(self.kind.tagging.add, {**context, "tags": self._tag_list(news)})

    def _calls(self, calls: tuple[Call, ...], context: Mapping[str, Any]) -> None:
        for call in calls:
            params = render(call.params, context)
            # A change of lists is one call each way, and only what changed is sent.
            if _has_lists(call.params) and not any(params.get(name) for name in _list_names(call.params)):
                continue
            self._call(call, context)

    def _taken(self, call: Call, context: Mapping[str, Any]) -> Any:
        try:
            answer = self._call(call, context)
        except _Gone:
            if call.optional:
                return None
            raise
        return _take(call.take, answer, {**context["inputs"], "id": context.get("id", "")})

    def _call(self, call: Call, context: Mapping[str, Any]) -> Any:
        source = context.get("state") or context["inputs"]
        if call.when and not (context["inputs"].get(call.when) or source.get(call.when)):
            return {}
        if call.when_recorded and not (context.get("state") or {}).get(call.when_recorded):
            return {}
        params = render(call.params, {**context, "region": self.region, "account": self.account})
        try:
            return getattr(self.client, call.operation)(**params)
        except ClientError as error:
            details = error.response["Error"]
            code = details.get("Code", "Unknown")
            if code in self.kind.missing or code.endswith(GONE):
                raise _Gone(f"{code}: {details.get('Message', '')}") from None
            refused = _InUse if code == HELD else ProviderError
            raise refused(f"{code}: {details.get('Message', '')} ({call.operation})") from None
        except ParamValidationError as error:
            raise ProviderError(f"{call.operation}: {_without_values(str(error))}") from None
        except BotoCoreError as error:
            raise ProviderError(f"the local cloud did not answer {call.operation}: {error}") from None


class _Gone(ProviderError):
    pass


class _InUse(ProviderError):
    pass


def render(template: Template, context: Mapping[str, Any]) -> Any:
    """The template with its markers filled in; entries without a value are left out."""
    if isinstance(template, P):
        value = context["inputs"].get(template.name)
        value = template.default if value is None else value
        return template.convert(value) if template.convert and value is not None else value
    if isinstance(template, Out):
        return context["state"].get(template.name)
    if isinstance(template, Marker):
        return context.get(template.name)
    if isinstance(template, Arn):
        return template.form.format(**{key: context.get(key) for key in ("region", "account", "id")})
    if isinstance(template, Added | Removed):
        news, olds = context["inputs"].get(template.name) or [], context["olds"].get(template.name) or []
        more, less = (news, olds) if isinstance(template, Added) else (olds, news)
        return [item for item in more if item not in less] or None
    if isinstance(template, Each):
        items = render(template.only(template.name), context) or []
        return [template.convert(item, context["id"]) for item in items] or None
    if isinstance(template, Mapping):
        rendered = {key: render(value, context) for key, value in template.items()}
        return {key: value for key, value in rendered.items() if value is not None and value != {}}
    if isinstance(template, list):
        return [value for item in template if (value := render(item, context)) is not None]
    return template


def _has_lists(params: Mapping[str, Template]) -> bool:
    return bool(_list_names(params))


def _list_names(params: Mapping[str, Template]) -> list[str]:
    return [name for name, template in params.items() if isinstance(template, Added | Removed | Each)]


def _take(path: str, answer: Any, names: Mapping[str, Any]) -> Any:
    filled = re.sub(r"\$(\w+)", lambda match: str(names.get(match[1], "")), path)
    return jmespath.search(filled, answer)


def _token(inputs: Properties) -> str:
    return hashlib.sha256(repr(sorted(inputs.items())).encode()).hexdigest()[:32]


def _without_values(message: str) -> str:
    """Boto quotes the offending value, which may be a secret."""
    return re.sub(r"value: .*?, type:", "type:", message.replace("\n", " "))
