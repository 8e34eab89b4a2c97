"""What Azure's client says of a store that may answer later, and of one that will not."""

from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError, ServiceRequestError, ServiceResponseError

from services.code import azure
from services.code.errors import AwayError, FetchError


class Failing:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def download_blob(self, key: str, **_: Any) -> Any:
        raise self.error


def answered(status: int | None) -> HttpResponseError:
    error = HttpResponseError("the server said so\nand more")
    error.status_code = status
    return error


@pytest.mark.parametrize(
    ("error", "away"),
    [
        (ServiceRequestError("no route"), True),
        (ServiceResponseError("cut off"), True),
        (answered(503), True),
        (answered(429), True),
        (answered(None), True),
        (answered(400), False),
        (answered(416), False),
    ],
)
def test_who_may_answer_later_is_told_from_who_will_not(error: Exception, away: bool) -> None:
    with pytest.raises(FetchError) as raised:
        azure.read(Failing(error), "account", "teams/vision/code/trees/x", None)
    assert isinstance(raised.value, AwayError) is away
    assert "\n" not in str(raised.value)
