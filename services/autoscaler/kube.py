"""The Kubernetes API as a pod's own service account."""

import http.client
import json
import os
import ssl
import urllib.parse
from pathlib import Path
from typing import Any

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
SECONDS = 30


class KubeError(Exception):
    """The API refused (`status`) or did not answer (0). The text says what and why."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status


class Kube:
    """`account` is the folder with the token, which is renewed there, and the API's authority. Raises OSError."""

    def __init__(self, account: Path = ACCOUNT) -> None:
        self.token = account / "token"
        self.host = os.environ.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
        self.port = int(os.environ.get("KUBERNETES_SERVICE_PORT", "443"))
        self.context = ssl.create_default_context(cafile=str(account / "ca.crt"))

    def call(self, method: str, path: str, body: Any = None, accept: str = "application/json", **query: str) -> Any:
        """The answer's document. Raises KubeError."""
        line = http.client.HTTPSConnection(self.host, self.port, timeout=SECONDS, context=self.context)
        about = f"{method} {path}"
        try:
            headers = {"Authorization": f"Bearer {self.token.read_text().strip()}", "Accept": accept}
            if body is not None:
                headers["Content-Type"] = "application/json"
            asked = f"{path}?{urllib.parse.urlencode(query)}" if query else path
            line.request(method, asked, None if body is None else json.dumps(body), headers)
            answer = line.getresponse()
            status, content = answer.status, answer.read()
            told = json.loads(content)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise KubeError(f"{about}: {error}") from None
        finally:
            line.close()
        if status >= 300:
            raise KubeError(f"{about}: {told.get('message', status)}", status)
        return told

    def find(self, path: str) -> dict[str, Any] | None:
        """None for what is not there. Raises KubeError."""
        try:
            return dict(self.call("GET", path))
        except KubeError as error:
            if error.status == 404:
                return None
            raise
