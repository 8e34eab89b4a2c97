"""Azure's Resource Manager for API machines of any cloud: by a token of the cluster's, for which Entra gives its own.

"Workload identity federation": an identity in Azure trusts a service account of the cluster's (cluster_token.py).
"""

import json
import threading
import time
from typing import Any
from urllib.parse import urlencode

from cluster_token import SPACE, token
from machine import EARLY_SECONDS, Refused, Text, patiently, send

from kube_http import Answer, Kube

ARM, LOGIN = "https://management.azure.com", "https://login.microsoftonline.com"
AUDIENCE = "api://AzureADTokenExchange"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
IDENTITY = f"{SPACE}/configmaps/landbridge-joining-azure"
FORM = "application/x-www-form-urlencoded"
FORBIDDEN = (401, 403)


class Arm:
    """For all threads. The line to the API is the caller's."""

    def __init__(self, kube: Kube, tenant: str) -> None:
        self.kube, self.tenant = kube, tenant
        self.lock, self.token, self.ends = threading.Lock(), "", 0.0

    def get(self, path: str) -> Any:
        """`path` begins with / or is a whole address of ARM's. Raises Refused, OSError."""
        url = ARM + path.removeprefix(ARM)
        headers = {"Authorization": f"Bearer {self._token()}"}
        try:
            answer = patiently(lambda: send("GET", url, headers, Text(b""))[0], lambda refused: refused.status >= 500)
        except Refused as refused:
            if refused.status in FORBIDDEN:
                self._forget()
            raise
        return json.loads(answer)

    def _forget(self) -> None:
        """A token is its identity's for a day: one that was made anew since is heard by a new token alone."""
        with self.lock:
            self.ends = 0.0

    def _token(self) -> str:
        with self.lock:
            if time.monotonic() > self.ends - EARLY_SECONDS:
                told = self._exchanged()
                self.token, self.ends = str(told["access_token"]), time.monotonic() + float(told["expires_in"])
            return self.token

    def _exchanged(self) -> Any:
        try:
            client = str((self.kube.ask("GET", IDENTITY).get("data") or {})["client-id"])
        except Answer as refused:
            raise Refused(refused.status, str(refused)) from None
        except KeyError as error:
            raise OSError(f"{IDENTITY} has no {error} yet") from None
        form = {
            "grant_type": "client_credentials",
            "client_id": client,
            "client_assertion_type": ASSERTION,
            "client_assertion": token(self.kube, AUDIENCE),
            "scope": f"{ARM}/.default",
        }
        body, url = Text(urlencode(form).encode()), f"{LOGIN}/{self.tenant}/oauth2/v2.0/token"
        answer, _ = send("POST", url, {"Content-Type": FORM}, body)
        return json.loads(answer)
