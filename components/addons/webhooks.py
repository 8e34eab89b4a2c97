"""Webhooks of upstream's controllers: who is asked, and about what alone.

They fail closed, for a run that passed unseen would be in no queue. So they ask about nothing but what is theirs: while
a controller is away, everything else is created as ever. Controllers make their certificates themselves, keep them in
a Secret, and write the authority into what stands here.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from .manifests import Manifest, chosen, meta

GROUP = "admissionregistration.k8s.io"
Verb = Literal["CREATE", "UPDATE"]


class Hook(NamedTuple):
    """`only` is a selector of objects; without one all of the resource are asked about."""

    name: str
    group: str
    version: str
    resource: str
    verbs: tuple[Verb, ...]
    only: Manifest | None = None

    def path(self, verb: str) -> str:
        """As controller-runtime serves it."""
        return f"/{verb}-{self.group.replace('.', '-')}-{self.version}-{self.name}"


class Server(NamedTuple):
    """`port` is that of pods, on their node's address: API servers are no nodes, and find no pod's address. `metrics`
    is another, or 0: it tells nothing.
    """

    addon: str
    space: str
    port: int
    metrics: int = 0

    @property
    def service(self) -> str:
        return f"{self.addon}-webhook-service"

    @property
    def secret(self) -> str:
        return f"{self.addon}-webhook-server-cert"

    def client(self, path: str) -> Manifest:
        return {"service": {"name": self.service, "namespace": self.space, "path": path, "port": 443}}


def manifests(server: Server, hooks: Mapping[str, Sequence[Hook]]) -> list[Manifest]:
    """`hooks` are those that mutate, and those that validate."""
    labels = chosen(server.addon, server.addon)
    ports = [{"name": "webhooks", "port": 443, "targetPort": server.port}]
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": meta(server.service, server.addon, server.space),
            "spec": {"selector": labels, "ports": ports},
        },
        {"apiVersion": "v1", "kind": "Secret", "metadata": meta(server.secret, server.addon, server.space)},
        *(_configuration(server, kind, found) for kind, found in hooks.items()),
    ]


def _configuration(server: Server, kind: str, hooks: Sequence[Hook]) -> Manifest:
    verb = {"mutating": "mutate", "validating": "validate"}[kind]
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": f"{kind.title()}WebhookConfiguration",
        # The name by which the controller looks for it.
        "metadata": meta(f"{server.addon}-{kind}-webhook-configuration", server.addon, ""),
        "webhooks": [_webhook(server, verb, hook) for hook in hooks],
    }


def _webhook(server: Server, verb: str, hook: Hook) -> Manifest:
    verbs = ["CREATE"] if verb == "mutate" else list(hook.verbs)
    return {
        "name": f"{verb[0]}{hook.name}.kb.io",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "clientConfig": server.client(hook.path(verb)),
        "rules": [
            {
                "apiGroups": [hook.group],
                "apiVersions": [hook.version],
                "operations": verbs,
                "resources": [hook.resource],
            }
        ],
        **({"objectSelector": hook.only} if hook.only else {}),
    }
