"""Calls that are throttled or lose their answer, regions that are out: what faults.py is told to make happen, in each
service's words.

EC2: RequestLimitExceeded ("Error codes for the Amazon EC2 API"); S3: SlowDown, 503 ("Amazon S3 error codes"); the query
services: Throttling, 400, the JSON services: ThrottlingException, 400 ("Common errors" of each API). An outage is
ServiceUnavailable, 503, in all of them.
"""

import socket
import threading
from typing import Any, NamedTuple

from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse
from moto.core.utils import get_service_model
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from .. import faults
from .patching import override


class Refusal(NamedTuple):
    """How a service says it."""

    code: str
    status: int
    message: str


THROTTLED = {
    "ec2": Refusal("RequestLimitExceeded", 503, "Request limit exceeded."),
    "s3": Refusal("SlowDown", 503, "Please reduce your request rate."),
    "query": Refusal("Throttling", 400, "Rate exceeded"),
    "rest-xml": Refusal("Throttling", 400, "Rate exceeded"),
    "json": Refusal("ThrottlingException", 400, "Rate exceeded"),
    "rest-json": Refusal("ThrottlingException", 400, "Rate exceeded"),
}
# Of each call, which has a thread of its own: whether nobody is to hear its answer.
_mute = threading.local()
OUT = Refusal("ServiceUnavailable", 503, "Service is unable to handle request.")


class Refused(HTTPException):
    """An answer ready to send, which every one of moto's dispatchers lets through."""


class ServiceError(ServiceException):
    """What a service says; a class of our own, as moto takes one of its own for its package's."""


def install() -> None:
    """Looks at every call of every service as soon as it is known which one it is."""

    @override(BaseResponse, "setup_class")
    def setup_class(self: Any, original: Any, *args: Any, **given: Any) -> None:
        original(*args, **given)
        if refusal := _refusal(self):
            raise Refused(response=answer(self, refusal))


def lose(connection: socket.socket) -> None:
    """After a call. Hangs up and raises ConnectionError where its answer is to be lost."""
    so, _mute.so = getattr(_mute, "so", False), False
    if so:
        connection.shutdown(socket.SHUT_RDWR)
        raise ConnectionResetError("a fault has it so")


def _refusal(response: Any) -> Refusal | None:
    name = response.boto3_service_name
    if faults.out(response.region):
        return OUT
    operation = _operation(response)
    _mute.so = faults.met(faults.LostAnswer, name, operation, response.region)
    if not faults.met(faults.Throttling, name, operation, response.region):
        return None
    protocol = get_service_model(name).metadata["protocol"]
    return THROTTLED.get(name) or THROTTLED.get(protocol) or THROTTLED["json"]


def _operation(response: Any) -> str | None:
    """S3 alone does not say it in its request: moto has its routes."""
    action = response._get_action() if response.service_name != "s3" else None
    name = action or response._get_action_from_method_and_request_uri(response.normalized_request)
    return str(name) if name else None


def answer(response: Any, refusal: Refusal) -> Response:
    """The refusal in the words of the service and the form of its protocol."""
    _, headers, body = response.serialized(ActionResult(ServiceError(refusal.code, refusal.message)))
    passed = {key: str(value) for key, value in headers.items() if key.lower() not in ("status", "content-length")}
    return Response(body, status=refusal.status, headers=passed)
