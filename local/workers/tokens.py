"""Tokens of service accounts, as a kubelet asks for them: bound to a pod of its node."""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from kube_http import Json, Kube

LIFE_SECONDS = 3600
# Where add-ons are.
SYSTEM = "kube-system"
# "Launch a Pod using service account token projection": renewed when 80 % of its life, or a day, has passed.
RENEWED_AT, MOST_SECONDS = 0.8, 24 * 3600.0


class Token(NamedTuple):
    """`renewal` is when to ask for the next, in seconds since 1970."""

    text: str
    renewal: float


NONE = Token("", 0.0)


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


class Borrowed:
    """The token of an add-on's pod on this node: a kubelet may have it, and hands it to that pod on a real one.

    `found`: such a pod has been there.
    """

    def __init__(self, api: Kube, node: str, account: str) -> None:
        self.api, self.node, self.account = api, node, account
        self.token, self.found = NONE, False

    def forget(self) -> None:
        self.token = NONE

    def current(self) -> str:
        """Raises OSError, Answer."""
        token = self.token
        if time.time() >= token.renewal:
            token = self.token = request(self.api, self.pod())
        return token.text

    def pod(self) -> Json:
        """Raises OSError, Answer."""
        query = urlencode({"fieldSelector": f"spec.nodeName={self.node}"})
        for pod in self.api.ask("GET", f"/api/v1/namespaces/{SYSTEM}/pods?{query}")["items"]:
            if pod["spec"].get("serviceAccountName") == self.account and "deletionTimestamp" not in pod["metadata"]:
                self.found = True
                return dict(pod)
        raise OSError(f"no pod of {SYSTEM}/{self.account} is on this node, whose right it takes to know them")
