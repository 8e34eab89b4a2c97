"""Create, read, update and delete one object, for real or as a dry run."""

import base64
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..codec import Properties, has_unknown
from ..servicer import ProviderError
from . import waiting
from .api import ApiError, Unreachable
from .apply import MANAGER, apply, new_manager, relinquish
from .cluster import Cluster, missing_namespace
from .discovery import Kind
from .fields import applied_by, drifted, extract, held_by_others, without
from .objects import (
    FIELD_MANAGER,
    PATCH_FORCE,
    PROPAGATION,
    READ_ONLY,
    Type,
    annotation,
    as_state,
    at_least_names,
    flag,
    foreseen,
    id_of,
    live_in,
    namespace_of,
    parse_id,
)
from .refusals import exists_already, lacks_the_right, refusal, unknown_kind
from .waiting import NotReady

DEFINITION = "CustomResourceDefinition"


class Unfinished(Exception):
    """The object is there and not ready: the engine keeps its state, and the next update waits again."""

    def __init__(self, text: str, id_: str, state: Properties, inputs: Properties | None = None) -> None:
        super().__init__(text)
        self.id, self.state, self.inputs = id_, state, inputs


class Job(NamedTuple):
    """One resource of the program in one run."""

    urn: str
    type: Type
    timeout: float = 0.0


class Work:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.log = cluster, cluster.log

    def preview_create(self, job: Job, thing: Properties) -> Properties:
        """Outputs as far as they can be told."""
        kind = self._kind_for_dry_run(job, thing)
        if kind is None or job.type.patch:
            return thing
        try:
            return self._dry_create(job, kind, thing)
        except ApiError as error:
            if missing_namespace(error):
                return thing  # made in the same run
            if lacks_the_right(error):
                return self._undecided(job, error, thing)
            raise refusal(error, thing, "create") from None

    def _dry_create(self, job: Job, kind: Kind, thing: Properties) -> Properties:
        there = self.cluster.get(kind, thing)
        if there is not None and not self.cluster.settings.upsert:
            # A replacement's old object is still there; its managers bear our name.
            managers = [entry["manager"] for entry in there["metadata"].get("managedFields") or []]
            if not any(manager.startswith(MANAGER) for manager in managers):
                self.log.warn(job.urn, f"{exists_already(thing)}. `up` will fail")
            return thing
        return foreseen(self._apply(job, kind, thing, new_manager(), dry=True), thing)

    def _undecided(self, job: Job, error: ApiError, outputs: Properties) -> Properties:
        """A preview by somebody who may look and not touch, as in a pipeline, goes on."""
        self.log.warn(job.urn, f"{error}. The preview goes on without a dry run")
        return outputs

    def create(self, job: Job, thing: Properties) -> tuple[str, Properties]:
        manager = annotation(thing, FIELD_MANAGER) or new_manager()
        kinds: list[Kind] = []

        def attempt() -> dict[str, Any] | None:
            kind = self.cluster.kind(thing)
            if kind is None:
                return None
            kinds[:] = [kind]
            if not (job.type.patch or self.cluster.settings.upsert) and self.cluster.get(kind, thing) is not None:
                raise exists_already(thing)
            return self._apply(job, kind, thing, manager, dry=False)

        try:
            live = self.cluster.in_order(attempt, lambda text: self.log.status(job.urn, text))
        except ApiError as error:
            raise refusal(error, thing, "create") from None
        if live is None:
            raise unknown_kind(thing, "create")
        return id_of(live), self._awaited(job, kinds[0], thing, live, manager)

    def preview_update(self, job: Job, id_: str, news: Properties, state: Properties, ignored: list[str]) -> Properties:
        kind = self._kind_for_dry_run(job, news)
        if kind is None:
            return {**state, **news}
        manager = str(state.get("__fieldManager") or MANAGER)
        try:
            live, thing = self._old(kind, id_, news, ignored, manager)
            if live is None:
                return {**state, **news}
            dry = self._apply(job, kind, thing, manager, dry=True)
        except ApiError as error:
            if lacks_the_right(error):
                return self._undecided(job, error, {**state, **news})
            raise refusal(error, news, "update") from None
        return as_state(dry, manager, state.get("__applied") or {})

    def refused_as_immutable(self, job: Job, id_: str, news: Properties, state: Properties) -> list[Mapping[str, Any]]:
        """Causes of an update's refusal as invalid; none when it passes, or nobody can tell."""
        kind = self._kind_for_dry_run(job, news)
        if kind is None or job.type.patch:
            return []
        manager = str(state.get("__fieldManager") or MANAGER)
        try:
            live, thing = self._old(kind, id_, news, [], manager)
            if live is None:
                return []
            apply(self.cluster.api, kind, thing, manager, dry=True, force=True)
        except ApiError as error:
            return error.causes if error.code == 422 else []
        return []

    def update(self, job: Job, id_: str, news: Properties, state: Properties, ignored: list[str]) -> Properties:
        kind = self.cluster.kind(news)
        if kind is None:
            raise unknown_kind(news, "update")
        old = str(state.get("__fieldManager") or new_manager())
        manager = annotation(news, FIELD_MANAGER) or old
        try:
            live, thing = self._old(kind, id_, news, ignored, manager)
            if live is None:
                raise ProviderError(f"{at_least_names(news)} is gone from the cluster: `up --refresh` makes it anew")
            live = self._apply(job, kind, thing, manager, dry=False)
            if manager != old:
                relinquish(self.cluster.api, kind, live, old)
        except ApiError as error:
            raise refusal(error, news, "update") from None
        return self._awaited(job, kind, thing, live, manager)

    def read(
        self, job: Job, id_: str, inputs: Properties, state: Properties
    ) -> tuple[str, Properties, Properties] | None:
        """id, inputs with what has drifted, state; None when it is gone."""
        namespace, name = parse_id(id_)
        known = inputs or {"apiVersion": job.type.api_version, "kind": job.type.kind}
        thing = {**known, "metadata": {"name": name, "namespace": namespace}}
        try:
            kind = self.cluster.kind(thing)
            live = self.cluster.get(kind, thing) if kind else None
        except ApiError as error:
            raise refusal(error, thing, "read") from None
        if live is None:
            return None
        manager = str(state.get("__fieldManager") or new_manager())
        applied = state.get("__applied") or applied_by(live, manager)
        current = as_state(live, manager, applied)
        if not inputs:
            return id_of(live), _as_inputs(live), current
        then, now = (extract(_readable(one, inputs), applied) for one in (live_in(state), live))
        laid = drifted(inputs, then, now) if applied else inputs
        found = waiting.verdict(self.cluster.api, inputs, live)
        if not found.ready and not job.type.patch:
            raise Unfinished(f"{at_least_names(live)} is not ready: {found.text}", id_, current, laid)
        return id_, laid, current

    def delete(self, job: Job, id_: str, inputs: Properties, state: Properties) -> None:
        """What is gone already is fine."""
        live = live_in(state)
        namespace, name = parse_id(id_)
        thing = {**live, "metadata": {**(live.get("metadata") or {}), "name": name, "namespace": namespace}}
        try:
            kind = self.cluster.kind(thing)
            there = self.cluster.get(kind, thing) if kind else None
            if kind is None or there is None:
                return None
            if job.type.patch:
                return relinquish(self.cluster.api, kind, there, str(state.get("__fieldManager")))
            how = annotation(inputs, PROPAGATION).capitalize() or "Foreground"
            options = {"propagationPolicy": how, "preconditions": {"uid": there["metadata"]["uid"]}}
            path = kind.path(namespace, name)
            self.cluster.api.call("DELETE", path, body={"apiVersion": "v1", "kind": "DeleteOptions", **options})
        except ApiError as error:
            if error.code == 404:
                return None
            raise refusal(error, thing, "delete") from None
        try:
            tell = lambda text: self.log.status(job.urn, text)  # noqa: E731
            waiting.until_gone(self.cluster.api, path, inputs, there, job.timeout, tell)
        except NotReady as failure:
            raise ProviderError(f"{at_least_names(thing)}: {failure}") from None
        finally:
            if live.get("kind") == DEFINITION:
                self.cluster.discovery.forget()

    def _kind_for_dry_run(self, job: Job, thing: Properties) -> Kind | None:
        """The kind, when a dry run can be made of the manifest at all."""
        if has_unknown(thing) or self.cluster.settings.access is None or not self.cluster.answers(job.urn):
            return None
        return self.cluster.kind(thing)

    def _apply(self, job: Job, kind: Kind, thing: Properties, manager: str, *, dry: bool) -> dict[str, Any]:
        settings = self.cluster.settings
        force = settings.force or flag(thing, PATCH_FORCE)
        warn = None if settings.quiet else lambda text: self.log.warn(job.urn, text)
        return apply(self.cluster.api, kind, thing, manager, dry=dry, force=force, warn=warn)

    def _old(
        self, kind: Kind, id_: str, news: Properties, ignored: list[str], manager: str
    ) -> tuple[dict[str, Any] | None, Properties]:
        """The live object, and the manifest without those ignored fields that are somebody else's by now."""
        namespace, name = parse_id(id_)
        live = self.cluster.get(kind, {"metadata": {"name": name, "namespace": namespace}})
        thing = news
        for path in ignored if live else []:
            if held_by_others(live or {}, manager, path):
                thing = without(thing, path)
        if kind.namespaced and not namespace_of(thing):
            thing = {**thing, "metadata": {**thing["metadata"], "namespace": namespace}}
        return live, thing

    def _awaited(self, job: Job, kind: Kind, thing: Properties, live: Mapping[str, Any], manager: str) -> Properties:
        """The state once it is ready. Raises Unfinished."""
        applied = applied_by(live, manager)
        try:
            if not job.type.patch:
                tell = lambda text: self.log.status(job.urn, text)  # noqa: E731
                live = waiting.until_ready(self.cluster.api, kind, thing, live, job.timeout, tell)
        except NotReady as failure:
            text = f"{at_least_names(thing)} is in the cluster, but not ready: {failure}"
            raise Unfinished(text, id_of(live), as_state(failure.live, manager, applied)) from None
        except (ApiError, Unreachable) as error:
            text = f"{at_least_names(thing)} is in the cluster, but could not be waited for: {error}"
            raise Unfinished(text, id_of(live), as_state(live, manager, applied)) from None
        if live.get("kind") == DEFINITION:
            self.cluster.discovery.forget()
        return as_state(live, manager, applied)


def _as_inputs(live: Mapping[str, Any]) -> Properties:
    """An imported object: what it is, less what only the server says."""
    inputs = {key: value for key, value in live.items() if key != "status"}
    inputs["metadata"] = {key: value for key, value in live["metadata"].items() if key not in READ_ONLY}
    return inputs


def _readable(live: Mapping[str, Any], inputs: Properties) -> Mapping[str, Any]:
    """A Secret's stringData is never given back, though managedFields know it: its text is found in data."""
    texts, data = inputs.get("stringData"), live.get("data") or {}
    if live.get("kind") != "Secret" or not isinstance(texts, dict):
        return live
    decoded = {key: base64.b64decode(data[key]).decode(errors="replace") for key in texts if key in data}
    return {**live, "stringData": decoded}
