"""As much of Pulumi Service's API, over plain HTTP, as the real engine needs to run stacks: what Pulumi Cloud speaks.

It keeps stacks in memory, by ORGANIZATION/PROJECT/STACK, and one environment of Pulumi ESC, of whatever name. What it is to
encrypt it turns about: tests see that it was asked. Requests that it does not know are 404, as the engine expects of older
services.
"""

import base64
import gzip
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
TOKEN = "token of a test"
STACK = r"/api/stacks/(?P<stack>[^/]+/[^/]+/[^/]+)"
ENVIRONMENT = "(?P<name>[^/]+/[^/]+/[^/]+)"
UPDATE = rf"{STACK}/(?P<kind>update|preview|destroy)"


class Service:
    """`environment` is what ESC answers as environment variables; `opened` the YAML or the name that it was to open."""

    def __init__(self) -> None:
        self.stacks: dict[str, Json] = {}
        self.environment: dict[str, str] = {}
        self.opened: list[str] = []
        self.encrypted = 0
        self.url = ""

    def made(self, body: Json, of: str) -> Json:
        state = body.get("state") or {"version": 3, "deployment": {}}
        if self.stacks.setdefault(f"{of}/{body['stackName']}", state) is not state:
            raise Refused(409)
        return {}

    def summary(self, _: Json, stack: str) -> Json:
        organization, project, name = stack.split("/")
        if stack not in self.stacks:
            raise Refused(404)
        return {"orgName": organization, "projectName": project, "stackName": name, "tags": {}, "version": 1}

    def listed(self, _: Json, organization: str = "") -> Json:
        return {"stacks": [self.summary({}, one) for one in self.stacks if one.startswith(f"{organization}/")]}

    def exported(self, _: Json, stack: str) -> Json:
        self.summary({}, stack)
        return self.stacks[stack]

    def saved(self, body: Json, stack: str, kind: str) -> Json:
        assert kind != "preview"
        self.stacks[stack] = {"version": body["version"], "deployment": body["deployment"]}
        return {}

    def renamed(self, body: Json, stack: str) -> Json:
        self.stacks[f"{stack.rpartition('/')[0]}/{body['newName']}"] = self.stacks.pop(stack)
        return {}

    def encrypts(self, body: Json, stack: str) -> Json:
        self.encrypted += len(body["plaintexts"])
        return {"ciphertexts": [turned(text) for text in body["plaintexts"]]}

    def decrypts(self, body: Json, stack: str) -> Json:
        return {"plaintexts": {text: turned(text) for text in body["ciphertexts"]}}

    def opens(self, body: Any, organization: str) -> Json:
        self.opened.append(body)
        return {"id": organization}

    def opens_named(self, _: Any, name: str) -> Json:
        self.opened.append(name)
        return {"id": "1"}

    def open(self, _: Json, **__: str) -> Json:
        trace = {"def": {"begin": {"line": 0, "column": 0, "byte": 0}, "end": {"line": 0, "column": 0, "byte": 0}}}
        values = {name: {"value": value, "secret": True, "trace": trace} for name, value in self.environment.items()}
        return {"properties": {"environmentVariables": {"value": values, "trace": trace}}}


ROUTES: tuple[tuple[str, str, Callable[..., Json]], ...] = (
    ("GET", "/api/user", lambda *_: {"githubLogin": "alice", "name": "Alice", "organizations": []}),
    ("GET", "/api/user/organizations/default", lambda *_: {"GitHubLogin": "alice"}),
    ("GET", "/api/capabilities", lambda *_: {"capabilities": [{"capability": "batch-encrypt", "version": 1}]}),
    ("GET", r"/api/user/stacks\?.*organization=(?P<organization>[^&]+).*", Service.listed),
    ("POST", "/api/stacks/(?P<of>[^/]+/[^/]+)", Service.made),
    ("HEAD", "/api/stacks/[^/]+/[^/]+", lambda *_: {}),
    ("GET", STACK, Service.summary),
    ("GET", f"{STACK}/export.*", Service.exported),
    ("POST", f"{STACK}/rename", Service.renamed),
    ("POST", f"{STACK}/encrypt", lambda _, body, **__: {"ciphertext": turned(body["plaintext"])}),
    ("POST", f"{STACK}/batch-encrypt", Service.encrypts),
    ("POST", f"{STACK}/batch-decrypt", Service.decrypts),
    ("POST", UPDATE, lambda *_, **__: {"updateID": "1"}),
    ("POST", f"{UPDATE}/1", lambda *_, **__: {"version": 1, "token": "lease"}),
    ("PATCH", f"{UPDATE}/1/checkpoint", Service.saved),
    ("POST", f"{UPDATE}/1/(complete|renew_lease|events/batch)", lambda *_, **__: {"token": "lease"}),
    ("POST", r"/api/esc/environments/(?P<organization>[^/]+)/yaml/open\?.*", Service.opens),
    ("GET", "/api/esc/environments/(?P<organization>[^/]+)/yaml/open/.*", Service.open),
    ("POST", rf"/api/esc/environments/{ENVIRONMENT}/open\?.*", Service.opens_named),
    ("GET", f"/api/esc/environments/{ENVIRONMENT}/open/1", Service.open),
)


class Refused(Exception):
    """Ends an answer with a status of HTTP."""


def turned(text: str) -> str:
    return base64.b64encode(base64.b64decode(text)[::-1]).decode()


class Answer(BaseHTTPRequestHandler):
    service: Service

    def answer(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            content = gzip.decompress(content)
        code, told = 200, {}
        try:
            told = self.told(content.decode())
        except Refused as refusal:
            code = refusal.args[0]
            told = {"code": code, "message": f"{self.command} {self.path}"}
        text = json.dumps(told).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    do_GET = do_POST = do_PATCH = do_HEAD = answer  # noqa: N815 - http.server's names

    def told(self, content: str) -> Json:
        if self.headers.get("Authorization") not in (f"token {TOKEN}", "update-token lease"):
            raise Refused(401)
        for method, pattern, act in ROUTES:
            found = re.fullmatch(pattern, self.path)
            if found and method == self.command:
                body = content if "/esc/" in self.path else json.loads(content or "{}")
                return act(self.service, body, **found.groupdict())
        raise Refused(404)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def served() -> Iterator[Service]:
    """One on the loopback, and its URL."""
    service = Service()
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Of", (Answer,), {"service": service})) as server:
        service.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield service
        server.shutdown()
