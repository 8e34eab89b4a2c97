"""Pulumi's provider protocol, the same for every plugin of the local cloud; a `Backend` does the work behind it."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, NoReturn, Protocol

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

from . import sdk_types
from .codec import UNKNOWN, Properties, decode, encode, has_unknown
from .compare import changed_paths


class ProviderError(Exception):
    """What the user reads when an operation fails."""


class HalfMade(ProviderError):
    """Something is there, and is not as it was asked for: the engine keeps it in state and tries again next time."""

    def __init__(self, text: str, id_: str, state: Properties, inputs: Properties | None = None) -> None:
        super().__init__(text)
        self.id, self.state, self.inputs = id_, state, inputs


class Backend(Protocol):
    """What a plugin does. Properties are plain values by wire name; `token` is the resource type."""

    package: str

    def configure(self, config: Mapping[str, Any]) -> None: ...
    def check(self, token: str, name: str, olds: Properties, news: Properties, seed: bytes) -> Properties: ...
    def replaces(self, token: str) -> frozenset[str]: ...
    def delete_first(self, token: str) -> bool: ...
    def create(self, token: str, inputs: Properties) -> tuple[str, Properties]: ...
    def read(
        self, token: str, id_: str, inputs: Properties, state: Properties
    ) -> tuple[Properties, Properties] | None: ...
    def update(self, token: str, id_: str, olds: Properties, news: Properties, state: Properties) -> Properties: ...
    def delete(self, token: str, id_: str, state: Properties) -> None: ...
    def invoke(self, token: str, arguments: Properties) -> Properties: ...


Foresee = Callable[[str, Properties], Properties]


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """One provider resource of a program: it has a configuration of its own."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        # What a preview tells of a resource: its inputs, but for a cloud whose answers have another form.
        self.foreseen: Foresee = getattr(backend, "foreseen", lambda _token, inputs: inputs)

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802
        return plugin_pb2.PluginInfo(version=version(sdk_types.PACKAGES[self.backend.package].replace("_", "-")))

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802
        return empty_pb2.Empty()

    def CheckConfig(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802
        config = decode(request.news)
        failures = [
            provider_pb2.CheckFailure(property=mistake.path, reason=mistake.reason)
            for mistake in sdk_types.provider_mistakes(self.backend.package, _parsed(config))
        ]
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802
        changed = changed_paths(decode(request.old_inputs), decode(request.news))
        # A provider of another region or account is another provider: its resources must be made anew.
        replaces = [name for name in changed if name in ("region", "allowedAccountIds")]
        return _diff_response(changed, replaces, delete_first=False)

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802
        with _failures(context, "provider"):
            self.backend.configure(_parsed(decode(request.args)))
        return provider_pb2.ConfigureResponse(
            acceptSecrets=False, supportsPreview=True, acceptResources=False, acceptOutputs=False
        )

    def Check(self, request: Any, context: Any) -> Any:  # noqa: N802
        token, name = request.type or _token(request.urn), request.name or request.urn.rpartition("::")[2]
        news, olds = decode(request.news), decode(request.olds)
        with _failures(context, f"{token} {name}"):
            mistakes = sdk_types.mistakes(token, news)
            failures = [provider_pb2.CheckFailure(property=m.path, reason=f"{token}: {m.reason}") for m in mistakes]
            checked = news if failures else self.backend.check(token, name, olds, news, request.randomSeed)
        return provider_pb2.CheckResponse(inputs=encode(checked), failures=failures)

    def Diff(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802
        token = _token(request.urn)
        changed = changed_paths(decode(request.old_inputs), decode(request.news))
        ignored = tuple(request.ignoreChanges)
        changed = {path: kind for path, kind in changed.items() if path.partition(".")[0] not in ignored}
        replacing = self.backend.replaces(token)
        replaces = [path for path in changed if path.replace("[", ".").partition(".")[0] in replacing]
        return _diff_response(changed, replaces, delete_first=self.backend.delete_first(token))

    def Create(self, request: Any, context: Any) -> Any:  # noqa: N802
        token, inputs = _token(request.urn), decode(request.properties)
        if request.preview:
            return provider_pb2.CreateResponse(id="", properties=encode(self.foreseen(token, inputs)))
        with _failures(context, _what(request.urn)):
            id_, state = self.backend.create(token, inputs)
        return provider_pb2.CreateResponse(id=id_, properties=encode(state))

    def Read(self, request: Any, context: Any) -> Any:  # noqa: N802
        with _failures(context, _what(request.urn)):
            inputs, state = decode(request.inputs), decode(request.properties)
            found = self.backend.read(_token(request.urn), request.id, inputs, state)
        if found is None:
            return provider_pb2.ReadResponse(id="")
        inputs, state = found
        return provider_pb2.ReadResponse(id=request.id, properties=encode(state), inputs=encode(inputs))

    def Update(self, request: Any, context: Any) -> Any:  # noqa: N802
        state, news = decode(request.olds), decode(request.news)
        if request.preview:
            foreseen = self.foreseen(_token(request.urn), news)
            return provider_pb2.UpdateResponse(properties=encode({**state, **foreseen}))
        with _failures(context, _what(request.urn)):
            olds = decode(request.old_inputs)
            updated = self.backend.update(_token(request.urn), request.id, olds, news, state)
        return provider_pb2.UpdateResponse(properties=encode(updated))

    def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802
        with _failures(context, _what(request.urn)):
            self.backend.delete(_token(request.urn), request.id, decode(request.properties))
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Any) -> Any:  # noqa: N802
        arguments = decode(request.args)
        with _failures(context, request.tok):
            result = {} if has_unknown(arguments) else self.backend.invoke(request.tok, arguments)
        return provider_pb2.InvokeResponse(**{"return": encode(result)})


def _parsed(config: Properties) -> Properties:
    """Provider configuration arrives with everything but text as JSON text."""

    def parse(value: Any) -> Any:
        if isinstance(value, str) and value != UNKNOWN and value[:1] in '[{"tfn0123456789':
            try:
                parsed = json.loads(value)
            except ValueError:
                return value
            return value if isinstance(parsed, int | float) and not isinstance(parsed, bool) else parsed
        return value

    return {key: parse(value) for key, value in config.items()}


def _token(urn: str) -> str:
    """The type in a URN, without those of its parents."""
    return urn.split("::")[2].rpartition("$")[2]


def _what(urn: str) -> str:
    return f"{_token(urn)} {urn.rpartition('::')[2]}"


def _diff_response(changed: Mapping[str, str], replaces: list[str], *, delete_first: bool) -> Any:
    kinds = provider_pb2.PropertyDiff.Kind
    detailed = {}
    for path, kind in changed.items():
        name = f"{kind}_REPLACE" if path in replaces else kind
        detailed[path] = provider_pb2.PropertyDiff(kind=kinds.Value(name), inputDiff=True)
    return provider_pb2.DiffResponse(
        changes=provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE,
        diffs=sorted({path.replace("[", ".").partition(".")[0] for path in changed}),
        replaces=replaces,
        deleteBeforeReplace=bool(replaces) and delete_first,
        detailedDiff=detailed,
        hasDetailedDiff=True,
    )


@contextmanager
def _failures(context: Any, what: str) -> Iterator[None]:
    """Turns a failure into the one line that the user reads."""
    try:
        yield
    except HalfMade as half:
        abort_half_made(context, what, half)
    except ProviderError as error:
        _abort(context, f"{what}: {error}")


def abort_half_made(context: Any, what: str, half: Any) -> NoReturn:
    """`half` has id, state and inputs, and its text is what the user reads."""
    detail = provider_pb2.ErrorResourceInitFailed(
        id=half.id,
        properties=encode(half.state),
        reasons=[str(half)],
        inputs=None if half.inputs is None else encode(half.inputs),
    )
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=f"{what}: {half}")
    status.details.add().Pack(detail)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    _abort(context, f"{what}: {half}")


def _abort(context: Any, message: str) -> NoReturn:
    context.abort(grpc.StatusCode.UNKNOWN, message)
    raise AssertionError  # abort raises
