"""`landbridge freeze` and `unfreeze`, on a real API server."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from landbridge.cluster import freeze as switch
from landbridge.cluster.kube import Kube
from landbridge.commands import landbridge, options
from tests.support.apiserver import server
from tests.support.waiting import eventually


@pytest.fixture(scope="module")
def kube(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kube]:
    with server(tmp_path_factory.mktemp("freeze"), controllers=False) as made:
        eventually(lambda: made.find("/api/v1/namespaces/kube-system"))
        yield Kube(made.kubeconfig())


@pytest.fixture
def run(kube: Kube, monkeypatch: pytest.MonkeyPatch) -> Any:
    session = SimpleNamespace(admin=kube, info=SimpleNamespace(name="main"))
    monkeypatch.setattr(options, "the_cluster", lambda *_, **__: session)

    def call(*words: str) -> Result:
        result = CliRunner().invoke(landbridge, words, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result

    return call


def test_a_freeze_says_why_and_since_when_until_it_is_released(run: Any, kube: Kube) -> None:
    assert switch.frozen(kube) is None
    told = run("freeze", "--why", "the machine room moves").output
    assert "main is frozen, since" in told
    assert "the machine room moves" in told
    first = switch.frozen(kube)
    again = json.loads(run("freeze", "--why", "another reason", "--json").stdout)
    assert again["was_frozen"] is True
    assert again["frozen"] == first, "the first reason stands, with its time"
    assert "was frozen since" in run("unfreeze").output
    assert switch.frozen(kube) is None
    assert json.loads(run("unfreeze", "--json").stdout) == {"cluster": "main", "was_frozen": None}
