"""Tokens of service accounts, as a kubelet asks for them: bound to a pod of its node."""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from kube_http import Kube

LIFE_SECONDS = 3600
# "Launch a Pod using service account token projection": renewed when 80 % of its life, or a day, has passed.
RENEWED_AT, MOST_SECONDS = 0.8, 24 * 3600.0


class Token(NamedTuple):
    """`renewal` is when to ask for the next, in seconds since 1970."""

    text: str
    renewal: float


def request(
    api: Kube, pod: Mapping[str, Any], audiences: Sequence[str] = (), life_seconds: int = LIFE_SECONDS
) -> Token:
    """Of the pod's account. Raises OSError, Answer."""
    meta = pod["metadata"]
    spec = {
        "audiences": list(audiences),
        "expirationSeconds": life_seconds,
        "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]},
    }
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    account = pod["spec"].get("serviceAccountName") or "default"
    status = api.ask("POST", f"/api/v1/namespaces/{meta['namespace']}/serviceaccounts/{account}/token", body)["status"]
    begin = time.time()
    left = datetime.fromisoformat(status["expirationTimestamp"]).timestamp() - begin
    return Token(status["token"], begin + min(RENEWED_AT * left, MOST_SECONDS))
