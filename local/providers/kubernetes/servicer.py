"""The `kubernetes` plugin on the wire: the shared protocol, and what objects of an API need beyond it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2

from .. import sdk_types
from ..codec import Properties, decode, encode, has_unknown
from ..compare import changed_paths
from ..servicer import ProviderError, Servicer, _abort, _diff_response, _parsed, _token, _what, abort_half_made
from . import check
from .api import Unreachable
from .check import Autonaming, Naming
from .cluster import Cluster
from .diff import IDENTITY, differences, documented_replacements, guilty, immutable_fields, within
from .log import Log
from .objects import AUTONAMED, PACKAGE, Type, flag, live_in, name_of, namespace_of, parse_id, type_of
from .settings import Settings, plain, replaces, settings
from .work import Job, Unfinished, Work

GONE_FOR_GOOD = (
    "Bring the cluster up, or correct the provider's kubeconfig. If the cluster is gone for good, set "
    "delete_unreachable=True on the provider: its objects then leave the state with a refresh or destroy"
)


class _Package:
    package = PACKAGE


class KubernetesServicer(Servicer):
    """One provider resource: one cluster, as one user. `engine` is the address for messages."""

    def __init__(self, engine: str | None = None) -> None:
        super().__init__(_Package())  # type: ignore[arg-type]
        self.log = Log(engine)
        self.cluster = Cluster(Settings(access=None), self.log)

    @property
    def work(self) -> Work:
        return Work(self.cluster)

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802
        self.cluster.cancelled.set()
        return empty_pb2.Empty()

    def CheckConfig(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802
        found = sdk_types.provider_mistakes(PACKAGE, plain(_parsed(decode(request.news))))
        failures = [provider_pb2.CheckFailure(property=one.path, reason=one.reason) for one in found]
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802
        olds, news = decode(request.old_inputs), decode(request.news)
        changed = changed_paths(olds, news)
        return _diff_response(changed, replaces(_parsed(olds), _parsed(news), changed), delete_first=False)

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802
        with _aborting_on_error(context, "provider"):
            self.cluster = Cluster(settings(_parsed(decode(request.args))), self.log)
        return provider_pb2.ConfigureResponse(
            acceptSecrets=False, supportsPreview=True, supports_autonaming_configuration=True
        )

    def Check(self, request: Any, context: Any) -> Any:  # noqa: N802
        token, name = _token(request.urn), request.urn.rpartition("::")[2]
        news, olds = decode(request.news), decode(request.olds)
        mistakes = check.mistakes(token, news)
        if mistakes:
            failures = [provider_pb2.CheckFailure(property=m.path, reason=f"{token}: {m.reason}") for m in mistakes]
            return provider_pb2.CheckResponse(inputs=request.news, failures=failures)
        disabled = request.autonaming.mode == Autonaming.Mode.Value("DISABLE")
        naming = Naming(name, request.randomSeed, request.autonaming.proposed_name, disabled)
        default = self.cluster.settings.namespace
        with _aborting_on_error(context, _what(request.urn)):
            namespaced = lambda thing: self.cluster.namespaced(request.urn, thing)  # noqa: E731
            checked = check.filled(token, olds, news, naming, default, namespaced)
        return provider_pb2.CheckResponse(inputs=encode(checked))

    def Diff(self, request: Any, context: Any) -> Any:  # noqa: N802
        olds, news, state = decode(request.old_inputs), decode(request.news), decode(request.olds)
        changed = differences(olds, news)
        ignored = tuple(request.ignoreChanges)
        changed = {path: kind for path, kind in changed.items() if not any(within(path, one) for one in ignored)}
        if not changed:
            return _diff_response({}, [], delete_first=False)
        job = _job(request, news)
        with _aborting_on_error(context, _what(request.urn)):
            replacing = self._replacing(job, request.id, news, state, list(changed))
        namespace, name = parse_id(request.id)
        same = name_of(news) == name and (namespace_of(news) or namespace or "default") == (namespace or "default")
        return _diff_response(changed, replacing, delete_first=same and not flag(news, AUTONAMED))

    def _replacing(self, job: Job, id_: str, news: Properties, state: Properties, changed: list[str]) -> list[str]:
        """Those of the changed paths that need a new object."""
        # The namespace that is named when none is: naming it in the program is no move.
        moved = (namespace_of(news) or "default") != (parse_id(id_)[0] or "default")
        found = [path for path in changed if path in IDENTITY and (moved or path != "metadata.namespace")]
        if "metadata" in changed:
            found.append("metadata")
        known = self.cluster.settings
        listed = documented_replacements(news, config_maps=known.mutable_config_maps, secrets=known.mutable_secrets)
        if not job.type.patch:
            found += [path for path in changed if any(within(path, one) for one in listed)]
        if found or has_unknown(news):
            return found
        fields = immutable_fields(self.work.refused_as_immutable(job, id_, news, state))
        return guilty(changed, fields) if fields else []

    def Create(self, request: Any, context: Any) -> Any:  # noqa: N802
        inputs = decode(request.properties)
        with _aborting_on_error(context, _what(request.urn)):
            job = _job(request, inputs, request.timeout)
            if request.preview:
                return provider_pb2.CreateResponse(id="", properties=encode(self.work.preview_create(job, inputs)))
            id_, state = self.work.create(job, inputs)
        return provider_pb2.CreateResponse(id=id_, properties=encode(state))

    def Read(self, request: Any, context: Any) -> Any:  # noqa: N802
        inputs, state = decode(request.inputs), decode(request.properties)
        with _aborting_on_error(context, _what(request.urn), hint=GONE_FOR_GOOD):
            if self._given_up(request.urn):
                return provider_pb2.ReadResponse(id="")
            found = self.work.read(_job(request, inputs or state), request.id, inputs, state)
        if found is None:
            return provider_pb2.ReadResponse(id="")
        id_, inputs, state = found
        return provider_pb2.ReadResponse(id=id_, properties=encode(state), inputs=encode(inputs))

    def Update(self, request: Any, context: Any) -> Any:  # noqa: N802
        state, news = decode(request.olds), decode(request.news)
        ignored = list(request.ignoreChanges)
        with _aborting_on_error(context, _what(request.urn)):
            job = _job(request, news, request.timeout)
            update = self.work.preview_update if request.preview else self.work.update
            updated = update(job, request.id, news, state, ignored)
        return provider_pb2.UpdateResponse(properties=encode(updated))

    def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802
        inputs, state = decode(request.old_inputs), decode(request.properties)
        with _aborting_on_error(context, _what(request.urn), hint=GONE_FOR_GOOD):
            if not self._given_up(request.urn):
                job = _job(request, inputs or live_in(state), request.timeout)
                self.work.delete(job, request.id, inputs, state)
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Any) -> Any:  # noqa: N802
        with _aborting_on_error(context, request.tok):
            raise ProviderError(f"the local cloud can't answer {request.tok} yet")

    def _given_up(self, urn: str) -> bool:
        return self.cluster.settings.delete_unreachable and not self.cluster.answers(urn)


def _job(request: Any, inputs: Properties, timeout: float = 0.0) -> Job:
    type_ = type_of(_token(request.urn), inputs)
    if type_ is None:
        raise ProviderError(f"{_token(request.urn)} is no kind of the API")
    return Job(request.urn, Type(*type_), timeout)


@contextmanager
def _aborting_on_error(
    context: Any, what: str, hint: str = "Bring the cluster up, or correct the provider's kubeconfig"
) -> Iterator[None]:
    """Turns a failure into what the user reads, and an unfinished object into state that the engine keeps."""
    try:
        yield
    except Unreachable as error:
        _abort(context, f"{what}: {error}. {hint}")
    except ProviderError as error:
        _abort(context, f"{what}: {error}")
    except Unfinished as unfinished:
        abort_half_made(context, what, unfinished)
