"""What pods have printed that are gone, as the real VictoriaLogs have it of the real vlagent, with the add-on's settings."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest

from landbridge.errors import LandbridgeError
from landbridge.monitoring import kept_logs
from landbridge.monitoring.kept_logs import Ask, Line, lines, of_host, of_node, of_units
from local.workers.log_lines import LONGEST
from tests.support.apiserver import free_port
from tests.support.logs import Machine, store
from tests.support.waiting import eventually

LONG = "x" * (2 * LONGEST)
# What collectors like to take apart, and what is lost first.
ODD = [
    '{"loss": 0.5, "message": "step", "time": "2020-01-01T00:00:00Z", "file": "/var/log/pods/other_run_1/run/0.log"}',
    "W1130 09:00:00.123000 140 torch/distributed/run.py:793] Setting OMP_NUM_THREADS",
    "",
    "    indented, with an é and a \t in it  ",
    LONG,
]
XID = "NVRM: Xid (PCI:0000:5d:00): 79, pid=70, GPU has fallen off the bus."


class Standing(NamedTuple):
    first: Ask
    second: Ask
    begun: datetime


def at(address: str) -> Ask:
    return kept_logs.at(f"{address}/select/logsql/query")


def told(stores: dict[str, Ask], which: str, since: datetime | None = None) -> list[Line]:
    said: list[str] = []
    found = [*lines(stores, which, since, said.append)]
    assert not said
    return found


def text(*of: Line) -> str:
    return "".join(one.text for one in of)


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    folder, begun = tmp_path_factory.mktemp("logs"), datetime.now(UTC)
    one, other = (Machine(folder / name, f"{name}.lab") for name in ("host-1", "host-2"))
    late = free_port()
    addresses = [f"http://127.0.0.1:{late}"]
    with (
        store(folder / "first", free_port()) as first,
        one.collecting(first, *addresses),
        other.collecting(first, *addresses),
    ):
        one.prints("team-a", "train-main-0-0-abcde", "".join(f"{line}\n" for line in ODD))
        one.prints("team-a", "train-main-0-1-aaaaa", "rank 1\n")
        one.prints("team-a", "train-main-0-0-abcde", "fetched\n", container="code")
        one.prints("team-b", "train-main-0-0-abcde", "another team's\n")
        one.prints("team-a", "train-main-0-main-0-0-abcde", "a run of a longer name\n")
        one.prints("team-a", "train-2-main-0-0-abcde", "another run\n")
        one.prints("team-a", "train-valkey-0-0-abcde", "another part\n")
        one.says("kubelet", "began", '{"unit": "kernel"}')
        one.says("kernel", XID, "two\nlines")
        other.says("kubelet", "on another machine")
        eventually(lambda: len(told({"first": at(first)}, of_node("host-1.lab"))) == len(ODD) + 6, 60)
        for namespace, pod in {tuple(path.name.split("_")[:2]) for path in one.pods.iterdir()}:
            one.forget(namespace, pod)
        # Its second attempt is on another machine, and ends in the middle of a line.
        other.prints("team-a", "train-main-0-0-zzzzz", "again\nand lost")
        eventually(lambda: len(told({"first": at(first)}, of_node("host-2.lab"))) == 2, 60)
        other.forget("team-a", "train-main-0-0-zzzzz")
        eventually(lambda: len(told({"first": at(first)}, of_units("host-2.lab", ["kubelet"]))) == 1, 60)
        other.says("kubelet", "in a new file", most=1)
        eventually(lambda: len(told({"first": at(first)}, of_units("host-2.lab", ["kubelet"]))) == 2, 60)
        # One that comes later gets all that it has not had.
        with store(folder / "second", late) as second:
            eventually(lambda: len(told({"second": at(second)}, of_node("host-1.lab"))) == len(ODD) + 6, 90)
            eventually(lambda: len(told({"second": at(second)}, of_units("host-1.lab", ["kernel"]))) == 2, 60)
            yield Standing(at(first), at(second), begun)


def test_one_host_of_a_run_is_found_with_its_lines_as_they_were(standing: Standing) -> None:
    both = {"first": standing.first, "second": standing.second}
    found = told(both, of_host("team-a", "train", "main", 0))
    assert text(*found) == "".join(f"{line}\n" for line in ODD) + "again\nand lost"
    assert [one.node for one in found] == ["host-1.lab"] * len(ODD) + ["host-2.lab"] * 2
    assert {(one.namespace, one.container) for one in found} == {("team-a", "run")}
    assert all(standing.begun.timestamp() <= one.at / 10**9 <= time.time() for one in found)


@pytest.mark.parametrize(
    ("namespace", "run", "part", "rank", "said"),
    [
        ("team-a", "train", "main", 1, "rank 1\n"),
        ("team-b", "train", "main", 0, "another team's\n"),
        ("team-a", "train-2", "main", 0, "another run\n"),
        ("team-a", "train", "valkey", 0, "another part\n"),
        ("team-a", "train-main-0", "main", 0, "a run of a longer name\n"),
        ("team-a", "train", "main", 2, ""),
        ("team-a", "tr.*", "main", 0, ""),
        ("team-a", 'tr"} or {node!="', "main", 0, ""),
    ],
)
def test_runs_ranks_parts_and_teams_are_told_apart(
    standing: Standing, namespace: str, run: str, part: str, rank: int, said: str
) -> None:
    assert text(*told({"first": standing.first}, of_host(namespace, run, part, rank))) == said


def test_all_that_ran_on_a_machine_is_found_in_the_order_of_its_printing(standing: Standing) -> None:
    found = told({"first": standing.first, "second": standing.second}, of_node("host-1.lab"))
    assert len(found) == len(ODD) + 6
    assert [one.at for one in found] == sorted(one.at for one in found)
    assert {(one.pod, one.container) for one in found} >= {
        ("train-main-0-0-abcde", "code"),
        ("train-2-main-0-0-abcde", "run"),
    }


@pytest.mark.parametrize(
    ("node", "units", "said"),
    [
        ("host-1.lab", ["kernel"], [("kernel", XID + "\n"), ("kernel", "two\nlines\n")]),
        ("host-1.lab", ["kubelet.service"], [("kubelet", "began\n"), ("kubelet", '{"unit": "kernel"}\n')]),
        ("host-2.lab", ["kubelet"], [("kubelet", "on another machine\n"), ("kubelet", "in a new file\n")]),
        ("host-1.lab", ["ssh", 'kernel") or unit:("kubelet'], []),
    ],
)
def test_what_a_machine_s_kernel_and_units_say_is_found(
    standing: Standing, node: str, units: list[str], said: list[tuple[str, str]]
) -> None:
    found = told({"first": standing.first, "second": standing.second}, of_units(node, units))
    # Those of one microsecond come in any order.
    assert sorted((one.unit, one.text) for one in found) == sorted(said)
    assert {one.node for one in found} <= {node}
    assert all(standing.begun.timestamp() - 1 <= one.at / 10**9 <= time.time() for one in found)


def test_older_lines_are_left_out(standing: Standing) -> None:
    every = told({"first": standing.first}, of_node("host-1.lab"))
    # A second is the least that is told apart.
    assert text(*told({"first": standing.first}, of_node("host-1.lab"), standing.begun)) == text(*every)
    assert not told({"first": standing.first}, of_node("host-1.lab"), datetime.now(UTC) + timedelta(seconds=5))


def test_it_comes_in_pieces_that_fit(standing: Standing, monkeypatch: pytest.MonkeyPatch) -> None:
    every = told({"first": standing.first}, of_node("host-1.lab"))
    monkeypatch.setattr(kept_logs, "MOST_LINES", 1)
    assert told({"first": standing.first}, of_node("host-1.lab")) == every
    minutes = {f"2026-11-30T09:0{minute}:00Z": 2 for minute in range(5)}
    monkeypatch.setattr(kept_logs, "MOST_LINES", 4)
    hour = datetime(2026, 11, 30, 9, tzinfo=UTC)
    pieces = [(begin, end) for begin, end in ((0, 2), (2, 4), (4, 5))]
    expected = [tuple(hour + timedelta(minutes=one) for one in piece) for piece in pieces]
    assert [*kept_logs.slices(minutes)] == expected


def test_one_that_does_not_answer_is_told_of_and_none_is_an_error(standing: Standing) -> None:
    said: list[str] = []
    gone = at(f"http://127.0.0.1:{free_port()}")
    found = [
        *lines({"first": gone, "second": standing.second}, of_host("team-a", "train", "main", 1), None, said.append)
    ]
    assert text(*found) == "rank 1\n"
    (why,) = said
    assert why.startswith("first does not answer, and what it alone has is missing: ")
    with pytest.raises(LandbridgeError, match="No VictoriaLogs answers"):
        list(lines({"first": gone}, of_node("host-1.lab"), None, said.append))


def test_what_it_refuses_is_told_in_its_words(standing: Standing) -> None:
    with pytest.raises(OSError, match="cannot parse `query`"):
        list(standing.first("{node="))


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("2026-11-30T09:00:00Z", 0),
        ("2026-11-30T09:00:00.1Z", 100_000_000),
        ("2026-11-30T10:00:00.000000001+01:00", 1),
        ("2026-11-30T10:00:00.123456789+01:00", 123_456_789),
    ],
)
def test_times_of_container_runtimes_are_read(when: str, expected: int) -> None:
    hour = int(datetime(2026, 11, 30, 9, tzinfo=UTC).timestamp()) * 10**9
    assert kept_logs.nanoseconds(when) == hour + expected


def test_pods_of_long_names_are_called_as_kubernetes_calls_them() -> None:
    # Of a Job with 60 characters, by its controller.
    which = of_host("team-a", "r" * 32, "p" * 25, 12)
    assert f"team\\\\-a_{'r' * 32}\\\\-{'p' * 21}\\\\-12\\\\-[a-z0-9]{{5}}" in which
