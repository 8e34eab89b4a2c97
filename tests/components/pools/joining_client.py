"""A caller of the Kubernetes API, for tests of joining: by token, or by certificate."""

import http.client
import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support import waiting


class Said(Exception):
    def __init__(self, status: int, told: Any) -> None:
        super().__init__(f"{status} {told.get('message', told)}")
        self.status = status


@dataclass
class Client:
    """A caller of the API, by token or by certificate; certificates are files."""

    port: int
    authority: Path
    token: str = ""
    certificate: tuple[Path, Path] | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def __call__(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        context = ssl.create_default_context(cafile=str(self.authority))
        if self.certificate:
            context.load_cert_chain(*self.certificate)
        line = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=context)
        headers = {
            "Content-Type": kind,
            **self.headers,
            **({"Authorization": f"Bearer {self.token}"} if self.token else {}),
        }
        try:
            line.request(method, path, None if body is None else json.dumps(body), headers)
            answer = line.getresponse()
            told = json.loads(answer.read())
        finally:
            line.close()
        if answer.status >= 300:
            raise Said(answer.status, told)
        return told


def eventually(what: Callable[[], Any], seconds: float = 90) -> Any:
    return waiting.eventually(what, seconds, (Said, OSError))


PLURALS = {f"{kind}AdmissionPolicy": f"{kind.lower()}admissionpolicies" for kind in ("Mutating", "Validating")}


def apply(client: Client, manifest: dict[str, Any]) -> Any:
    group, kind, meta = manifest["apiVersion"], manifest["kind"], manifest["metadata"]
    root = f"/apis/{group}" if "/" in group else f"/api/{group}"
    space = f"/namespaces/{meta['namespace']}" if "namespace" in meta else ""
    path = f"{root}{space}/{PLURALS.get(kind, kind.lower() + 's')}/{meta['name']}"
    query = "?fieldManager=test&fieldValidation=Strict&force=true"
    return client("PATCH", path + query, manifest, "application/apply-patch+yaml")
