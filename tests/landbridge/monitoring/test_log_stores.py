"""The way to logs that are kept, and the command that prints them: who may ask, and what is said where there are none."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from components.addons.monitoring import logs
from fleet.monitoring_model import Logs, Monitoring
from landbridge.access.person import Person
from landbridge.cluster.kube import Kube
from landbridge.commands import logs as command
from landbridge.errors import LandbridgeError, UsageError
from landbridge.monitoring import kept_logs, log_stores
from tests.landbridge.experiments import bed
from tests.support.apiserver import free_port
from tests.support.logs import Machine, store
from tests.support.waiting import eventually

MISSING = 'Error from server (NotFound): pods "{pod}" not found'
KEEPS = Monitoring(logs=Logs())
# kubectl port-forward, of pods whose ports are others here: what it says of each of them, and that it stays.
SAYS = """\
import sys, time
said, well = sys.argv[1:]
print(said, file=sys.stdout if well else sys.stderr, flush=True)
time.sleep(600 if well else 0)
sys.exit(1)
"""


def person(said: dict[str, str], monitoring: Monitoring | None = KEEPS, *, operator: bool = True) -> Person:
    """`said` is by pods what kubectl says: an address, or an error."""

    def around(words: list[str]) -> list[str]:
        assert words[1] == "port-forward"
        text = said[words[2].removeprefix("pod/")]
        forwards = text.startswith("127.0.0.1:")
        told = f"Forwarding from {text} -> {logs.PORT}" if forwards else text
        return [sys.executable, "-S", "-c", SAYS, told, "well" if forwards else ""]

    world = bed.world()
    fleet = world.fleet.model_copy(update={"monitoring": monitoring})
    place = cast(Any, SimpleNamespace(options=""))
    session = cast(Any, "an operator's") if operator else None
    return Person(replace(world, fleet=fleet), place, "main", Kube("", around), "bob", "vision", session)


def missing(*pods: str) -> dict[str, str]:
    return {pod: MISSING.format(pod=pod) for pod in pods}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """HOST:PORT of one that has lines of a run."""
    folder = tmp_path_factory.mktemp("logs")
    machine = Machine(folder / "host-1", "host-1.lab")
    with store(folder / "store", free_port()) as address, machine.collecting(address):
        machine.prints("team-vision", "train-1-worker-0-1-abcde", "step 1\nstep 2\n")
        machine.says("kubelet", "Started kubelet")
        ask = kept_logs.at(f"{address}/select/logsql/query")
        eventually(lambda: next(ask('{node="host-1.lab"} | stats count() n'))["n"] == "3", 60)
        machine.forget("team-vision", "train-1-worker-0-1-abcde")
        yield address.removeprefix("http://")


def test_what_ran_on_a_machine_is_told_with_when_and_who(kept: str, capfdbinary: Any) -> None:
    both = person({"victoria-logs-0": kept, **missing("victoria-logs-1")})
    assert command.of_node(both, "host-1.lab", (), None) == 0
    told = capfdbinary.readouterr()
    first, second = told.out.decode().splitlines()
    assert first[:2] == "20"
    assert first[20:] == " team-vision/train-1-worker-0-1-abcde run: step 1"
    assert second.endswith("run: step 2")
    assert told.err.startswith(b"victoria-logs-1 does not answer, and what it alone has is missing: ")
    with pytest.raises(LandbridgeError, match=r"Nothing is kept of node host-9\.lab\."):
        command.of_node(both, "host-9.lab", (), None)
    assert command.of_node(both, "host-1.lab", ("kubelet", "kernel"), None) == 0
    assert capfdbinary.readouterr().out[20:] == b" kubelet: Started kubelet\n"
    with pytest.raises(
        LandbridgeError, match=r"kernel of node host-1\.lab in that time\. Machines keep it from their next roll"
    ):
        command.of_node(both, "host-1.lab", ("kernel",), timedelta(hours=1))


def test_what_a_run_s_host_has_printed_is_told_as_it_was(
    kept: str, capfdbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched = bed.launched(form="plain")
    record = {**launched.record, "template": launched.template.model_dump(mode="json")}
    monkeypatch.setattr(command, "Records", lambda _: SimpleNamespace(read=lambda name: {"train-1": record}[name]))
    part = launched.template.shown
    assert part == "worker"
    both = person({"victoria-logs-0": kept, "victoria-logs-1": kept})
    assert command.of_before(both, "train-1", None, 1, None) == 0
    assert capfdbinary.readouterr().out == b"step 1\nstep 2\n"
    with pytest.raises(LandbridgeError, match=r"Nothing is kept of host 0 of worker of train-1\."):
        command.of_before(both, "train-1", None, 0, None)
    with pytest.raises(UsageError, match="--part other: train-1 has worker"):
        command.of_before(both, "train-1", "other", 0, None)


@pytest.mark.parametrize(
    ("monitoring", "operator", "why"),
    [
        (None, True, r"keeps no logs of pods that have gone\. Give the fleet file an entry `monitoring: {logs: {}}`"),
        (Monitoring(), True, "keeps no logs"),
        (None, False, "keeps no logs"),
    ],
)
def test_who_can_not_ask_is_told_why(monitoring: Monitoring | None, operator: bool, why: str) -> None:
    with pytest.raises(UsageError, match=why), log_stores.opened(person({}, monitoring, operator=operator)):
        pass


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (missing("victoria-logs-0", "victoria-logs-1"), "main keeps no logs yet: run `landbridge up`"),
        (
            {"victoria-logs-0": "error: unable to upgrade", **missing("victoria-logs-1")},
            "Logs can't be reached: kubectl port-forward victoria-logs-0 failed: error: unable to upgrade",
        ),
        ({"victoria-logs-0": "Error from server (Forbidden): no", **missing("victoria-logs-1")}, "Forbidden"),
    ],
)
def test_that_there_is_no_way_is_told_with_why(said: dict[str, str], why: str) -> None:
    with pytest.raises(LandbridgeError, match=why), log_stores.opened(person(said)):
        pass


def test_words_that_make_no_sense_together_are_refused(tmp_path: Path) -> None:
    from click.testing import CliRunner

    for words, why in (
        ([], "Name a run, or a machine with --node."),
        (["train-1", "--node", "a"], "Name a run, or a machine with --node."),
        (["train-1", "--unit", "kubelet"], "--unit is of a machine: name it with --node."),
        (["train-1", "-f", "--kept"], "leave out --kept, --node and --since"),
        (["train-1", "-f", "--since", "2h"], "leave out --kept, --node and --since"),
    ):
        done = CliRunner().invoke(command.logs, words)
        assert isinstance(done.exception, UsageError)
        assert why in str(done.exception)
