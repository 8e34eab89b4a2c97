from collections.abc import Iterator

import pytest

from tests.services.autoscaler.slack import Slack


@pytest.fixture
def slack() -> Iterator[Slack]:
    made = Slack()
    yield made
    made.server.shutdown()
    made.server.server_close()
