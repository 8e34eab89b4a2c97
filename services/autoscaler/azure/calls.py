"""How a region of Azure is called: each call counted and with a limit in time, its failures told in our words, and its
wish to be left alone granted.

The SDK tries nothing again: while it did, for as long as it liked, the autoscaler would give up waiting.
"""

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from azure.core.exceptions import AzureError, HttpResponseError, ServiceResponseError
from azure.core.rest import HttpRequest

from .. import refusals
from ..calls import UNREACHABLE, CallFailure, counted
from ..cloud import AnswerLostError, CloudError
from .answers import sentence

READS: Mapping[str, Any] = {"connection_timeout": 3, "read_timeout": 12, "retry_total": 0}
CHECKS: Mapping[str, Any] = {"connection_timeout": 1, "read_timeout": 4, "retry_total": 0}
# What a call of a change is given at least, and at most.
LEAST_SECONDS, MOST_SECONDS = 3.0, 12.0
# Azure says how long with most answers of the kind; operations on a set take about as long.
THROTTLED_SECONDS, BUSY_SECONDS = 10.0, 3.0
CONFLICT, TOO_MANY = 409, 429
# A conflict that passes by itself, as opposed to one that says no.
PASSES = re.compile(r"another operation|in progress|AnotherOperation|RetryableError|\bConflict\b", re.IGNORECASE)
OPERATION = "Azure-AsyncOperation"


class LaterError(CloudError):
    """Azure does not take the call now, and may in so many seconds."""

    def __init__(self, text: str, seconds: float) -> None:
        super().__init__(text)
        self.seconds = seconds


class RefusedError(CloudError):
    """There is no room for what was asked; `sentence` is Azure's own."""

    def __init__(self, text: str, message: str) -> None:
        super().__init__(text)
        self.sentence = message


class Calls:
    """Of one region."""

    def __init__(self, region: str, client: Any) -> None:
        self.region, self.client = region, client
        self.quiet_until = 0.0

    @contextlib.contextmanager
    def api_call(self, operation: str) -> Iterator[None]:
        """Counts the call. Raises CloudError; at once while Azure wants to be left alone."""
        if (left := self.quiet_until - time.monotonic()) > 0:
            raise LaterError(f"{self.region}: {operation}: Azure takes no call for another {left:.0f} s", left)
        with counted(self.region, operation, lambda error: self._problem(operation, error)):
            yield

    def _problem(self, operation: str, error: Exception) -> CallFailure | None:
        if isinstance(error, HttpResponseError):
            return self._answer(operation, error)
        if isinstance(error, AzureError):
            kind = AnswerLostError if isinstance(error, ServiceResponseError) else CloudError
            return kind(f"{self.region}: {operation}: {error}"), UNREACHABLE
        return None

    def _answer(self, operation: str, error: HttpResponseError) -> CallFailure:
        body = error.error
        message = sentence({"code": body.code, "message": body.message, "details": _details(body)}) if body else ""
        message = message or str(error.message).splitlines()[0]
        text, how = f"{self.region}: {operation}: {message}", str((body and body.code) or error.status_code or "denied")
        # Throttling has OperationNotAllowed for its code, as quotas have: the status comes first.
        if error.status_code == TOO_MANY:
            seconds = _after(error.response, THROTTLED_SECONDS)
            self.quiet_until = max(self.quiet_until, time.monotonic() + seconds)
            return LaterError(f"{text} (for {seconds:.0f} s)", seconds), "TooManyRequests"
        if refusals.kind(message).elsewhere:
            return RefusedError(text, message), how
        if error.status_code == CONFLICT and PASSES.search(message):
            return LaterError(text, _after(error.response, BUSY_SECONDS)), how
        return CloudError(text), how

    def change(self, operation: str, until: float, call: Callable[..., Any]) -> str:
        """Begins an operation, as soon as Azure takes it and while there is time; where its status is told, or nothing.

        `call` takes a client method's own settings. Raises CloudError.
        """
        heard: list[Any] = []
        while True:
            try:
                with self.api_call(operation):
                    call(polling=False, raw_response_hook=heard.append, **limits(until))
                return str(heard[-1].http_response.headers.get(OPERATION, ""))
            except LaterError as error:
                if time.monotonic() + error.seconds + LEAST_SECONDS > until:
                    raise
                time.sleep(error.seconds)

    def status(self, url: str) -> tuple[Mapping[str, Any], float]:
        """An operation's document, and in how many seconds to ask again. Raises CloudError."""
        with self.api_call("Operations_Get"):
            answer = self.client.send_request(HttpRequest("GET", url), **READS)
            answer.raise_for_status()
            return answer.json(), _after(answer, 0.0)


def limits(until: float) -> Mapping[str, Any]:
    """Of a call that is to be over by then."""
    left = max(LEAST_SECONDS, min(MOST_SECONDS, until - time.monotonic()))
    return {"connection_timeout": 2, "read_timeout": left - 1, "retry_total": 0}


def _details(body: Any) -> list[Mapping[str, Any]]:
    return [{"code": one.code, "message": one.message} for one in body.details or ()]


def _after(answer: Any, else_seconds: float) -> float:
    """Its Retry-After."""
    header = str(answer.headers.get("Retry-After", "")) if answer is not None else ""
    return float(header) if header.isdigit() else else_seconds
