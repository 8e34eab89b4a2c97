"""The list of local machines, as people see it."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from landbridge.commands.local import machine_table

ONE = {
    "machine": "main-etcd-1",
    "instance": "i-0123456789abcdef0",
    "zone": "ap-southeast-2a",
    "address": "10.132.131.254",
    "state": "booting",
    "since": "2026-01-01T12:00:00+00:00",
    "why": "",
    "failed": [],
}


def lines(*machines: dict[str, Any]) -> list[str]:
    told = StringIO()
    Console(file=told, width=80).print(machine_table(list(machines)))
    return told.getvalue().splitlines()


@pytest.mark.parametrize("state", ["pending", "booting", "running", "stopping"])
def test_a_machine_is_a_line_of_eighty_columns(state: str) -> None:
    heading, line = lines({**ONE, "state": state})
    assert heading.split() == ["Machine", "Zone", "Address", "State", "Since", "Trouble"]
    name, zone, address, told, since, trouble = line.split()
    assert (name, zone, address, told, trouble) == (ONE["machine"], ONE["zone"], ONE["address"], state, "-")
    assert len(since) == len("12:00:00")


def test_whatever_ails_a_machine_is_told_whole_in_a_column_of_its_own() -> None:
    ailing = {**ONE, "why": "its boot ended with 1: the bundle is damaged", "failed": ["etcd-main.service", "x.timer"]}
    found = lines({**ONE, "machine": "main-api-1"}, ailing)
    assert max(len(line) for line in found) <= 80
    begin = found[0].index("Trouble")
    assert all(not line[:begin].strip() for line in found[3:])
    told = " ".join(line[begin:].strip() for line in found[2:])
    assert " ".join(told.split()) == "its boot ended with 1: the bundle is damaged, etcd-main, x.timer"


def test_a_machine_without_a_name_goes_by_its_instance() -> None:
    assert lines({**ONE, "machine": ""})[1].split()[0] == ONE["instance"]
