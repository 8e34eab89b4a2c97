"""Calls to Azure Resource Manager as the real provider makes them: asked again where that helps, followed to their end.

Sources: azure-resource-manager-rpc, "Asynchronous operations"; the real provider's pkg/azure/client_azcore.go for what
it asks again and for how long.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from ..servicer import ProviderError
from .transport import ARM, Account, Answer, Transport

AUDIENCE = f"https://{ARM}"
BUSY = frozenset((408, 429, 500, 502, 503, 504))
# The real provider's three pauses: 20, 60 and 120 seconds. We ask more often, and for as long.
PATIENCE_SECONDS = 200.0
MOST_FAILURES = 3
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 2.0
# Its longest operation: a VPN gateway takes up to 45 minutes in Azure.
OPERATION_SECONDS = 7200.0
OVER = frozenset(("succeeded", "failed", "canceled", "cancelled"))


class Refused(ProviderError):
    """ARM's own answer that is none. `began`: the resource may be there all the same."""

    def __init__(self, status: int, code: str, message: str, *, began: bool = False) -> None:
        super().__init__(f'Status={status} Code="{code}" Message="{message}"')
        self.status, self.code, self.began = status, code, began


class Arm:
    """One provider's way to ARM."""

    def __init__(self, transport: Transport, account: Account) -> None:
        self.transport, self.account = transport, account

    def get(self, id_: str, version: str) -> dict[str, Any] | None:
        """None when there is nothing. Raises Refused."""
        answer = self._ask("GET", id_, {"api-version": version})
        if answer.status == 404:
            return None
        return dict(_checked(answer, 200).json or {})

    def put(self, id_: str, version: str, body: Mapping[str, Any], query: Mapping[str, str]) -> dict[str, Any]:
        """Made or changed, to the end. Gives ARM's first answer. Raises Refused."""
        parameters = {"api-version": version, **query}
        answer = _checked(self._ask("PUT", id_, parameters, body), 200, 201, 202)
        first = answer.json or {}
        if not self._follow(answer):
            self._settle(id_, version, first)
        return dict(first)

    def delete(self, id_: str, version: str) -> None:
        """What is not there is fine. Raises Refused."""
        answer = self._ask("DELETE", id_, {"api-version": version})
        if answer.status != 404:
            self._follow(_checked(answer, 200, 202, 204))

    def post(self, path: str, version: str, body: Mapping[str, Any] | None = None) -> Any:
        """An action's answer. Raises Refused."""
        return _checked(self._ask("POST", path, {"api-version": version}, body or {}), 200, 201).json

    def token(self, audience: str = AUDIENCE) -> str:
        return self.transport.token(self.account, audience)

    def _ask(
        self, method: str, path: str, query: Mapping[str, str] | None, body: Mapping[str, Any] | None = None
    ) -> Answer:
        data = None if body is None else json.dumps(body).encode()

        def once() -> Answer:
            headers = {"Authorization": f"Bearer {self.token()}", "Accept": "application/json"}
            if data is not None:
                headers["Content-Type"] = "application/json; charset=utf-8"
            target = path if query is None else quote(path, safe="/:@$&'()*+,;=~!")
            return self.transport.ask(method, ARM, target, query=query, headers=headers, body=data)

        return patiently(once)

    def _follow(self, answer: Answer) -> bool:
        """Waits for the operation that an answer began; False when it names none. Raises Refused, with `began`."""
        status, result = answer.headers.get("azure-asyncoperation"), answer.headers.get("location")
        if not status and not (result and answer.status == 202):
            return False
        target, deadline = _path(str(status or result)), time.monotonic() + OPERATION_SECONDS
        while time.monotonic() < deadline:
            time.sleep(_pause(answer, 1.0))
            answer = self._ask("GET", target, None)
            body = answer.json if isinstance(answer.json, dict) else {}
            if not status and answer.status not in (200, 201, 202, 204):
                raise _refusal(answer, began=True)
            state = str(body.get("status", "")).lower() if status else "" if answer.status == 202 else "succeeded"
            if state == "succeeded":
                return True
            if state in OVER:
                error = body.get("error") or {}
                code, message = error.get("code", state), error.get("message", "the operation ended so")
                raise Refused(answer.status, code, message, began=True)
        raise Refused(202, "Timeout", f"the operation is not over after {OPERATION_SECONDS:.0f} seconds", began=True)

    def _settle(self, id_: str, version: str, body: Mapping[str, Any]) -> None:
        """Waits for a resource whose own state says that it is not done."""
        deadline, pause = time.monotonic() + OPERATION_SECONDS, FIRST_PAUSE_SECONDS
        while (state := _state(body)) and state.lower() not in OVER and time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            body = self.get(id_, version) or {}
        if state and state.lower() != "succeeded":
            raise Refused(200, "ResourceNotReady", f"its provisioningState is {state}", began=True)


def patiently(once: Callable[[], Answer]) -> Answer:
    """Asks again what is refused for a while only; what has failed, as often as the real provider does."""
    deadline, pause, failures = time.monotonic() + PATIENCE_SECONDS, FIRST_PAUSE_SECONDS, 0
    while True:
        answer = once()
        body = answer.json if answer.status == 409 else None
        code = (body.get("error") or {}).get("code") if isinstance(body, dict) else None
        failures += answer.status >= 500
        if answer.status not in BUSY and code != "AnotherOperationInProgress":
            return answer
        wait = _pause(answer, pause)
        if failures > MOST_FAILURES or time.monotonic() + wait > deadline:
            return answer
        time.sleep(wait)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def _pause(answer: Answer, otherwise: float) -> float:
    for name, factor in (("retry-after-ms", 0.001), ("x-ms-retry-after-ms", 0.001), ("retry-after", 1.0)):
        after = answer.headers.get(name, "")
        if after.isdigit():
            return int(after) * factor
    return otherwise


def _path(url: str) -> str:
    """Of a URL that ARM gave, which must be its own."""
    parts = urlsplit(url)
    if parts.netloc not in ("", ARM):
        raise ProviderError(f"ARM points to {parts.netloc}, which is not ARM: the local cloud does not go there")
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _state(body: Mapping[str, Any]) -> str:
    properties = body.get("properties")
    return str(properties.get("provisioningState") or "") if isinstance(properties, dict) else ""


def _checked(answer: Answer, *good: int) -> Answer:
    if answer.status not in good:
        raise _refusal(answer)
    return answer


def _refusal(answer: Answer, *, began: bool = False) -> Refused:
    body = answer.json if isinstance(answer.json, dict) else {}
    error = body.get("error") if isinstance(body.get("error"), dict) else {}
    assert isinstance(error, dict)
    text = answer.data[:200].decode(errors="replace")
    details = [str(one.get("message")) for one in error.get("details", ())]
    message = "; ".join([str(error.get("message", text)), *details])
    return Refused(answer.status, str(error.get("code", "Unknown")), message, began=began)
