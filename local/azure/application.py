"""Azure's services as one WSGI application, told apart by the name that a request is for."""

import json
import logging
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from werkzeug.wrappers import Request as Incoming
from werkzeug.wrappers import Response

from local import changes

from . import federation, outages, requests, tokens
from .blobs import disks
from .blobs import service as blobs
from .errors import ArmError
from .kinds import World
from .names import service_of
from .reads import READS
from .vaults import service as vaults

log = logging.getLogger("local.azure")
Service = Callable[[World, Incoming, str], Response]


class Application:
    """One world. Calls are answered one at a time: nobody sees half of a change."""

    def __init__(self, world: World) -> None:
        self.world, self.lock = world, threading.RLock()

    def __call__(self, environ: Any, start_response: Any) -> Any:
        incoming = Incoming(environ)
        return self.answer(incoming)(environ, start_response)

    def answer(self, incoming: Incoming) -> Response:
        host = incoming.host.partition(":")[0]
        found = service_of(host)
        if found is None:
            return Response(f"{host} is no name of an Azure service that the local cloud has", 421)
        service, of = found
        incoming.get_data(cache=True)  # to its end, so that no slow caller holds up others
        try:
            with self.lock:
                outages.refuse(self.world, service, of, incoming.path)
                answer = SERVICES[service](self.world, incoming, of)
        except ArmError as error:
            answer = refusal(error)
        except Exception:
            log.exception("%s %s failed", incoming.method, incoming.path)
            answer = json_response(
                500, {"error": {"code": "InternalServerError", "message": "The local Azure has failed: see its log."}}
            )
        if incoming.method not in ("GET", "HEAD"):
            changes.changed()
        answer.headers["x-ms-request-id"] = str(uuid.uuid4())
        return answer


def arm(world: World, incoming: Incoming, _: str) -> Response:
    caller = tokens.read(incoming.headers.get("Authorization", ""), tokens.ARM)
    text = incoming.get_data()
    try:
        body = json.loads(text) if text else None
    except ValueError:
        raise ArmError(400, "InvalidRequestContent", "The request content is no JSON.") from None
    headers = {name.lower(): value for name, value in incoming.headers.items()}
    request = requests.Request(incoming.method, incoming.path, incoming.args.to_dict(), headers, body, caller)
    answer = requests.answer(world, request, READS)
    response = json_response(answer.status, answer.body)
    for name, value in answer.headers:
        response.headers[name] = value
    return response


def login(world: World, incoming: Incoming, _: str) -> Response:
    """Token endpoints, v1 and v2, and what clients read before them."""
    path = incoming.path.lower()
    try:
        if path.endswith(("/oauth2/v2.0/token", "/oauth2/token")) and incoming.method == "POST":
            form = incoming.form.to_dict()
            if "client_assertion" in form:
                return json_response(200, federation.sign_in(world, form))
            return json_response(200, tokens.client_credentials(form, path.split("/")[1]))
        if path.endswith("/.well-known/openid-configuration"):
            return json_response(200, _openid(incoming.path.split("/")[1]))
    except ArmError as error:
        return json_response(error.status, {"error": error.code, "error_description": error.message})
    raise ArmError(404, "NotFound", f"The local cloud signs nobody in at {incoming.path}.")


def _openid(tenant: str) -> dict[str, Any]:
    base = f"https://login.microsoftonline.com/{tenant}"
    return {
        "token_endpoint": f"{base}/oauth2/v2.0/token",
        "authorization_endpoint": f"{base}/oauth2/v2.0/authorize",
        "issuer": f"{base}/v2.0",
        "jwks_uri": f"{base}/discovery/v2.0/keys",
        "response_types_supported": ["code", "id_token"],
        "subject_types_supported": ["pairwise"],
        "id_token_signing_alg_values_supported": ["RS256"],
    }


def json_response(status: int, body: Any) -> Response:
    text = "" if body is None else json.dumps(body)
    return Response(text, status, content_type="application/json; charset=utf-8")


def refusal(error: ArmError) -> Response:
    answer = json_response(error.status, {"error": error.as_json()})
    answer.headers["x-ms-error-code"] = error.code
    for name, value in error.headers:
        answer.headers[name] = value
    if error.status == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer authorization_uri="https://login.microsoftonline.com/"'
    return answer


SERVICES: Mapping[str, Service] = {
    "arm": arm,
    "login": login,
    "blob": blobs.serve,
    "disks": disks.serve,
    "vault": vaults.serve,
}
