from collections.abc import Iterator

import pytest

from landbridge.prices import web

from . import bed


@pytest.fixture
def lists(monkeypatch: pytest.MonkeyPatch) -> Iterator[bed.Web]:
    monkeypatch.setattr(web, "PAUSE_SECONDS", 0.01)
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with bed.web() as made:
        yield made
