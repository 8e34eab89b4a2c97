"""What answers at NAME.vault.azure.net: secrets, for whom a role or the vault's own policies let in."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from werkzeug.wrappers import Request as Incoming
from werkzeug.wrappers import Response

from .. import access, directories, firewall, tokens
from ..errors import ArmError
from ..kinds import World
from ..resources.vaults import find
from ..sign_in import TENANT
from ..store import Resource
from .secrets import Secrets

VERSION = re.compile(r"7\.\d|20\d\d-\d\d-\d\d(-preview)?")
CHALLENGE = 'Bearer authorization="https://login.microsoftonline.com/{tenant}", resource="{audience}"'
PAGE = 25
SECRETS = "Microsoft.KeyVault/vaults/secrets"


class Ask(NamedTuple):
    """`name` and `version` are of the path; `body` its JSON."""

    secrets: Secrets
    name: str
    version: str
    query: Mapping[str, str]
    body: Mapping[str, Any]


class Act(NamedTuple):
    """`action` of roles, below the secrets; `policy` of a vault's own access policies."""

    method: str
    path: re.Pattern[str]
    action: str
    policy: str
    do: Callable[[Ask], Any]


def _get(ask: Ask) -> Any:
    secret = ask.secrets.get(ask.name)
    version = ask.secrets.version(secret, ask.version)
    if version.attributes.get("enabled") is False:
        raise ArmError(403, "Forbidden", "Operation get is not allowed on a disabled secret.")
    return ask.secrets.bundle(secret, version, value=True)


def _list(ask: Ask) -> Any:
    secrets = ask.secrets
    return _page(ask, [secrets.bundle(one, secrets.version(one), id_=False) for one in secrets.every()])


def _versions(ask: Ask) -> Any:
    secret = ask.secrets.get(ask.name)
    return _page(ask, [ask.secrets.bundle(secret, one) for one in secret.state["versions"]])


def _deleted(ask: Ask) -> Any:
    secrets = ask.secrets
    return _page(ask, [secrets.deleted_bundle(one, id_=False) for _, one in sorted(secrets.gone.items())])


def _recover(ask: Ask) -> Any:
    secret = ask.secrets.recover(ask.name)
    return ask.secrets.bundle(secret, ask.secrets.version(secret))


def _page(ask: Ask, items: list[Any]) -> Any:
    try:
        most, start = int(ask.query.get("maxresults", PAGE)), int(ask.query.get("$skiptoken", 0))
    except ValueError:
        raise ArmError(400, "BadParameter", "maxresults or $skiptoken is no number.") from None
    if not 1 <= most <= PAGE:
        raise ArmError(400, "BadParameter", f"maxresults is 1 to {PAGE}.")
    left = len(items) > start + most
    host = ask.secrets.uri("", "").rstrip("/")
    version = ask.query["api-version"]
    following = f"{host}{ask.query['path']}?api-version={version}&maxresults={most}&$skiptoken={start + most}"
    return {"value": items[start : start + most], "nextLink": following if left else None}


_NAME = r"(?P<name>[^/]+)"
ACTS = (
    Act("GET", re.compile("/secrets"), "readMetadata/action", "list", _list),
    Act("GET", re.compile(f"/secrets/{_NAME}/versions"), "readMetadata/action", "list", _versions),
    Act("GET", re.compile(f"/secrets/{_NAME}(/(?P<version>[^/]*))?"), "getSecret/action", "get", _get),
    Act(
        "PUT",
        re.compile(f"/secrets/{_NAME}"),
        "setSecret/action",
        "set",
        lambda ask: ask.secrets.bundle(*ask.secrets.put(ask.name, ask.body), value=True),
    ),
    Act(
        "PATCH",
        re.compile(f"/secrets/{_NAME}(/(?P<version>[^/]*))?"),
        "update/action",
        "set",
        lambda ask: ask.secrets.bundle(*ask.secrets.change(ask.name, ask.version, ask.body)),
    ),
    Act(
        "DELETE",
        re.compile(f"/secrets/{_NAME}"),
        "delete",
        "delete",
        lambda ask: ask.secrets.deleted_bundle(ask.secrets.delete(ask.name)),
    ),
    Act("GET", re.compile("/deletedsecrets"), "readMetadata/action", "list", _deleted),
    Act(
        "GET",
        re.compile(f"/deletedsecrets/{_NAME}"),
        "readMetadata/action",
        "get",
        lambda ask: ask.secrets.deleted_bundle(ask.secrets.deleted(ask.name)),
    ),
    Act("POST", re.compile(f"/deletedsecrets/{_NAME}/recover"), "recover/action", "recover", _recover),
    Act(
        "DELETE",
        re.compile(f"/deletedsecrets/{_NAME}"),
        "purge/action",
        "purge",
        lambda ask: ask.secrets.purge(ask.name),
    ),
)


def serve(world: World, incoming: Incoming, name: str) -> Response:
    try:
        body = _answer(world, incoming, name)
    except ArmError as error:
        made = _json_response(error.status, {"error": error.as_json()})
        if error.status == 401:
            vault = find(world, name)
            tenant = directories.of(vault.id.text) if vault else TENANT
            made.headers["WWW-Authenticate"] = CHALLENGE.format(tenant=tenant, audience=tokens.VAULT)
        return made
    return Response("", 204) if body is None else _json_response(200, body)


def _answer(world: World, incoming: Incoming, name: str) -> Any:
    vault = find(world, name)
    if vault is None:
        raise ArmError(404, "VaultNotFound", f"There is no vault {name}.")
    # Without a token there is nothing but the way to one: clients ask so first.
    caller = tokens.read(incoming.headers.get("Authorization", ""), tokens.VAULT)
    if not firewall.lets_in(world, vault, "vault"):
        message = "Public network access is disabled and request is not via an approved private link."
        raise ArmError(403, "Forbidden", message)
    if not VERSION.fullmatch(incoming.args.get("api-version", "")):
        raise ArmError(400, "BadParameter", "The api-version query parameter is missing or none that is known.")
    path = incoming.path.rstrip("/")
    for act in ACTS:
        if act.method == incoming.method and (found := act.path.fullmatch(path)):
            named = {key: value or "" for key, value in found.groupdict().items()}
            _require(world, vault, caller.principal, act, named.get("name", ""))
            query = {**incoming.args.to_dict(), "path": path}
            secrets = Secrets(world, vault)
            return act.do(Ask(secrets, named.get("name", ""), named.get("version", ""), query, _body(incoming)))
    message = f"The local Azure does not know {incoming.method} {path} of a vault."
    raise ArmError(404, "NotFound", message)


def _body(incoming: Incoming) -> Mapping[str, Any]:
    text = incoming.get_data(cache=True)
    try:
        body = json.loads(text) if text else {}
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ArmError(400, "BadParameter", "The request body is no JSON object.")
    return body


def _require(world: World, vault: Resource, principal: str, act: Act, name: str) -> None:
    """Raises ArmError."""
    if vault.properties.get("enableRbacAuthorization"):
        scope = f"{vault.id.text}/secrets/{name}" if name else vault.id.text
        allowed = access.data_allowed(world, principal, f"{SECRETS}/{act.action}", scope)
    else:
        allowed = any(
            {act.policy, "all"} & {sort.lower() for sort in (one.get("permissions") or {}).get("secrets") or ()}
            for one in vault.properties.get("accessPolicies", ())
            if str(one.get("objectId", "")).lower() == principal.lower()
        )
    if not allowed:
        message = (
            "Caller is not authorized to perform action on resource. If role assignments, deny assignments or role "
            f"definitions were changed recently, please observe propagation time. Caller: oid={principal}; Action: "
            f"'{SECRETS}/{act.action}'; Resource: '{vault.id.text}/secrets/{name}'."
        )
        raise ArmError(403, "Forbidden", message)


def _json_response(status: int, body: Any) -> Response:
    return Response(json.dumps(body), status, content_type="application/json; charset=utf-8")
