"""One bed for the tests of pools: each file works on pools of its own, and leaves the others alone."""

from collections.abc import Callable, Iterator

import pytest

from landbridge.cluster import session as sessions
from landbridge.commands.pool import pool

from . import bed as beds
from .bed import Bed, Run


@pytest.fixture(scope="package")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    with beds.bed(tmp_path_factory.mktemp("pools")) as made:
        yield made


@pytest.fixture
def bed(whole: Bed, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bed]:
    monkeypatch.setattr(sessions, "opened", lambda *_, **__: whole.session)
    yield whole
    whole.fault()
    whole.dead.clear()
    whole.joining, whole.taint = True, ""


@pytest.fixture(scope="module")
def no_work(whole: Bed) -> None:
    """What other modules have left on the machines that are shared."""
    for pod in whole.pods():
        whole.end_pod(pod["metadata"]["name"])


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    fleet = str(beds.ROOT / "fleet.yaml")
    return lambda *words: beds.said([*words, "--fleet", fleet], pool, capsys)


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """What people see of a command, line by line."""

    def lines(*words: str) -> list[str]:
        pool.main([*words, "--fleet", str(beds.ROOT / "fleet.yaml")], standalone_mode=False)
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    return lines
