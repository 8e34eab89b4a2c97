"""Calls that moto does not have get an answer an SDK understands, instead of a page of HTML that it retries.

AWS: an unknown action is a 400 (InvalidAction in "Common errors" of the query APIs). Our own failures are a 400 too, so
that nobody retries them: they would fail again.
"""

import logging
from typing import Any

from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse
from werkzeug.exceptions import HTTPException

from .patching import override

log = logging.getLogger("local.aws")


class InvalidAction(ServiceException):
    code = "InvalidAction"


class InternalFailure(ServiceException):
    code = "InternalFailure"


def install() -> None:
    @override(BaseResponse, "call_action")
    def call_action(self: Any, original: Any) -> Any:
        try:
            return original()
        except (HTTPException, ServiceException):
            raise
        except NotImplementedError:
            message = f"The local cloud does not have {self.service_name} {self._get_action()}"
            return _answer(self, InvalidAction(message))
        except Exception as error:
            # Never the request itself: it may hold a secret.
            log.exception("%s %s failed: %s", self.service_name, self._get_action(), type(error).__name__)
            message = f"The local cloud failed in {self.service_name} {self._get_action()}: {type(error).__name__}"
            return _answer(self, InternalFailure(message))


def _answer(response: Any, error: ServiceException) -> Any:
    _, headers, body = response.serialized(ActionResult(error))
    return 400, {**headers, "status": 400}, body
