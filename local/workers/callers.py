"""Who asks at the kubelet's port, and whether they may: a certificate or a token tells it, and the API server decides.

As the real kubelet does with `authentication: {webhook: …}` and `authorization: {mode: Webhook}`, and with the same
rights: each node may ask for reviews.
"""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from kube_http import Kube

REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
AUTHENTICATED = "system:authenticated"
TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
# For so long an answer counts.
KNOWN_SECONDS = 60.0
# What a path needs of `nodes`, any of these: the page "Kubelet authentication/authorization". Logs of containers are
# part of all that has no name of its own, and so are commands in them.
HEALTH, METRICS, OTHER = ("healthz", "proxy"), ("metrics",), ("proxy",)
# Of calls, as the API has them.
VERBS = {"GET": "get", "POST": "create"}


class Caller(NamedTuple):
    name: str
    groups: tuple[str, ...]


def of_certificate(told: Mapping[str, Any] | None) -> Caller | None:
    """Whom a verified certificate names, as Python tells it; None if there is none."""
    parts = [pair for part in (told or {}).get("subject", ()) for pair in part]
    names = [value for name, value in parts if name == "commonName"]
    groups = tuple(value for name, value in parts if name == "organizationName")
    return Caller(names[0], groups) if names else None


class Callers:
    def __init__(self, api: Kube, node: str) -> None:
        self.api, self.node = api, node
        self.known: dict[tuple[Caller, str, str], tuple[bool, float]] = {}
        self.tokens: dict[str, tuple[Caller | None, float]] = {}

    def of_token(self, token: str) -> Caller | None:
        """Whose the API server says it is. Raises OSError, Answer."""
        now = time.monotonic()
        who, until = self.tokens.get(token, (None, 0.0))
        if until < now:
            body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
            told = self.api.ask("POST", TOKENS, body)["status"]
            user = told.get("user") or {}
            who = Caller(user["username"], tuple(user.get("groups") or ())) if told.get("authenticated") else None
            fresh = {one: value for one, value in self.tokens.copy().items() if value[1] >= now}
            self.tokens = {**fresh, token: (who, now + KNOWN_SECONDS)}
        return who

    def may(self, who: Caller, verb: str, needed: tuple[str, ...]) -> bool:
        """Raises OSError, Answer."""
        return any(self.has(who, verb, one) for one in needed)

    def has(self, who: Caller, verb: str, subresource: str) -> bool:
        now, key = time.monotonic(), (who, verb, subresource)
        verdict, until = self.known.get(key, (False, 0.0))
        if until < now:
            verdict = self.review(who, verb, subresource)
            fresh = {one: value for one, value in self.known.copy().items() if value[1] >= now}
            self.known = {**fresh, key: (verdict, now + KNOWN_SECONDS)}
        return verdict

    def review(self, who: Caller, verb: str, subresource: str) -> bool:
        what = {"verb": verb, "version": "v1", "resource": "nodes", "subresource": subresource, "name": self.node}
        spec = {"user": who.name, "groups": sorted({*who.groups, AUTHENTICATED}), "resourceAttributes": what}
        head = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
        return bool(self.api.ask("POST", REVIEWS, {**head, "spec": spec})["status"]["allowed"])
