"""Requests that are signed with an account's key ("Authorize with Shared Key")."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import unquote

from ..errors import ArmError
from ..store import Resource

SIGNED = (
    *("content-encoding", "content-language", "content-length", "content-md5", "content-type", "date"),
    *("if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range"),
)
LATEST_SECONDS = 15 * 60
FAILED = (
    "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly "
    "including the signature."
)


def refused(why: str = "") -> ArmError:
    return ArmError(403, "AuthenticationFailed", f"{FAILED} {why}".strip())


def signature(key: bytes, text: str) -> str:
    return base64.b64encode(hmac.new(key, text.encode(), hashlib.sha256).digest()).decode()


def keys(account: Resource) -> list[bytes]:
    return [base64.b64decode(one["value"]) for one in account.secret["keys"]]


def require_allowed(account: Resource) -> None:
    """Raises ArmError where the account takes no keys."""
    if account.properties.get("allowSharedKeyAccess") is False:
        message = "Key based authentication is not permitted on this storage account."
        raise ArmError(403, "KeyBasedAuthenticationNotPermitted", message)


def verify(account: Resource, method: str, target: str, headers: Mapping[str, str]) -> None:
    """`target` is path and query as they came; `headers` have names in small letters. Raises ArmError."""
    require_allowed(account)
    name, _, given = headers["authorization"].partition(" ")[2].partition(":")
    if name != account.id.name:
        raise refused("The account is another one.")
    try:
        at = parsedate_to_datetime(headers.get("x-ms-date") or headers["date"])
        late = abs((datetime.now(UTC) - at).total_seconds()) > LATEST_SECONDS
    except (KeyError, TypeError, ValueError):
        raise refused("Neither x-ms-date nor Date says when the request was made.") from None
    if late:
        raise refused("Request date header too old.")
    text = _string(account.id.name, method, target, headers)
    if not any(hmac.compare_digest(signature(key, text), given) for key in keys(account)):
        raise refused()


def _string(account: str, method: str, target: str, headers: Mapping[str, str]) -> str:
    length = headers.get("content-length", "")
    headers = {name.lower(): value for name, value in headers.items()}
    plain = {**headers, "content-length": "" if length == "0" else length}
    if "x-ms-date" in headers:
        plain["date"] = ""
    # The service passes over hyphens when it sorts.
    own = sorted((name for name in headers if name.startswith("x-ms-")), key=lambda name: (name.replace("-", ""), name))
    path, _, query = target.partition("?")
    parameters: dict[str, list[str]] = {}
    for part in query.split("&") if query else ():
        key, _, value = part.partition("=")
        parameters.setdefault(unquote(key).lower(), []).append(unquote(value))
    lines = [method, *(plain.get(name, "") for name in SIGNED), *(f"{name}:{headers[name].strip()}" for name in own)]
    lines.append(f"/{account}{path}")
    lines += [f"{key}:{','.join(sorted(values))}" for key, values in sorted(parameters.items())]
    return "\n".join(lines)
