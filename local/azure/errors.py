"""What Azure Resource Manager says when it refuses: an HTTP status and {"error": {"code", "message"}}."""

from collections.abc import Iterable
from typing import Any


class ArmError(Exception):
    """One refusal. `headers` are for the answer, such as Retry-After; `details` are errors of the same form."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        headers: Iterable[tuple[str, str]] = (),
        details: Iterable["ArmError"] = (),
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.headers, self.details = tuple(headers), tuple(details)

    def as_json(self) -> dict[str, Any]:
        """The `error` object."""
        more = {"details": [one.as_json() for one in self.details]} if self.details else {}
        return {"code": self.code, "message": self.message, **more}


def bad_request(code: str, message: str) -> ArmError:
    return ArmError(400, code, message)


def conflict(code: str, message: str) -> ArmError:
    return ArmError(409, code, message)


def not_found(id_: str) -> ArmError:
    """Of a resource, as ARM says it: "ResourceNotFound"."""
    name = "/".join(id_.split("/")[-2:])
    return ArmError(404, "ResourceNotFound", f"The Resource '{name}' at '{id_}' was not found.")
