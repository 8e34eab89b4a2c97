"""The table of pools as a machine reads it: what is no table changes nothing, and is told once."""

import json
from typing import Any

import pytest

from tests.components.pools.joining_bed import TABLE

import join_table  # isort: skip
from kube_http import Answer  # isort: skip

GOOD = json.dumps(TABLE)


class Kube:
    """Answers with one after the other, the last for ever."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)

    def ask(self, _method: str, path: str) -> Any:
        assert path == "/api/v1/namespaces/kube-system/configmaps/landbridge-pools"
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(found, Exception):
            raise found
        return {"data": {"pools.json": found}}


def learned(kube: Kube, tables: int) -> list[Any]:
    found: list[Any] = []

    def learn(table: Any) -> bool:
        found.append(table)
        return len(found) == tables

    join_table.follow(kube, learn, seconds=0)  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize(
    "bad",
    [
        "{",
        "{}",
        "[]",
        "7",
        json.dumps({**TABLE, "roles": None}),
        json.dumps({**TABLE, "pools": {"west-gpu": {}}}),
        json.dumps({name: part for name, part in TABLE.items() if name != "lans"}),
    ],
)
def test_what_is_no_table_is_told_once_and_changes_nothing(bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    other = {**TABLE, "roles": {}}
    assert learned(Kube(GOOD, bad, bad, json.dumps(other)), 2) == [TABLE, other]
    assert capsys.readouterr().err.count("cannot read the pools") == 1


def test_the_same_table_is_learned_once() -> None:
    other = {**TABLE, "regions": {}}
    assert learned(Kube(GOOD, GOOD, GOOD, json.dumps(other)), 2) == [TABLE, other]


@pytest.mark.parametrize("status", [403, 404])
def test_before_the_add_ons_there_are_no_pools(status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert learned(Kube(Answer(status, "not yet"), "", OSError("away"), GOOD), 1) == [TABLE]
    told = capsys.readouterr().err.splitlines()
    assert told == ["there are no pools yet", "cannot read the pools: away"]
