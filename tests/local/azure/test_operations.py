"""What becomes of operations, without a server."""

from typing import Any

import pytest

from local.azure.operations import Operation, Operations


def begun(operations: Operations, finish: Any) -> Operation:
    return operations.begin("a/b", Operation("/one", finish, 0.0))


def test_an_operation_is_over_only_when_its_work_is_done() -> None:
    operations, seen = Operations(), []
    one = begun(operations, lambda: seen.append(one.status))
    operations.settle_due()
    assert (seen, one.status) == (["InProgress"], "Succeeded")


def test_an_operation_whose_work_breaks_has_failed_and_holds_nobody_up(caplog: pytest.LogCaptureFixture) -> None:
    operations = Operations()
    broken, other = begun(operations, lambda: {}["what"]), begun(operations, lambda: "done")
    operations.settle_due()
    assert broken.document()["error"]["code"] == "InternalServerError"
    assert (broken.status, other.status, other.result) == ("Failed", "Succeeded", "done")
    assert "KeyError" in caplog.text
