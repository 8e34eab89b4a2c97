"""`landbridge trace`: what a person and a program are told."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from landbridge.commands import landbridge

ROOT = Path(__file__).parents[2]


def told(*words: str) -> Result:
    return CliRunner().invoke(landbridge, ["trace", *words, "--fleet", str(ROOT / "fleet.yaml")], standalone_mode=False)


def test_it_tells_each_hop_there_and_back() -> None:
    found = told("lab", "us-west-2", "--port", "tcp/443")
    assert found.return_value == 0
    lines = found.output.splitlines()
    heads = [line for line in lines if not line.startswith("  ")]
    assert heads == [
        "10.133.7.254 in site lab to 10.132.3.254 in region us-west-2: arrives",
        "10.132.3.254 in region us-west-2 to 10.133.7.254 in site lab: arrives",
    ]
    assert lines[1] == "  1  gateway 192.0.2.10: 10.132.0.0/16 is believed on us-west-2-1 and us-west-2-2"


def test_programs_hear_the_same() -> None:
    found = told("lab", "us-west-2", "--port", "tcp/22", "--json")
    assert found.return_value == 1
    document = json.loads(found.output)
    assert (document["passes"], document["there"]["arrives"], document["back"]["arrives"]) == (False, False, True)
    assert document["there"]["hops"][-1]["passes"] is False


@pytest.mark.parametrize("port", ["22", "tcp/0", "icmp/8", "tcp/70000", "tcp/x"])
def test_what_is_no_port_is_said(port: str) -> None:
    assert f"{port} is no port such as tcp/443" in str(told("lab", "us-west-2", "--port", port).exception)


def test_what_is_no_place_is_said_with_the_file() -> None:
    assert "fleet.yaml: mars is neither an address nor one of" in str(told("lab", "mars").exception)


def test_its_former_name_works_and_no_help_shows_it() -> None:
    words = ["lab", "us-west-2", "--fleet", str(ROOT / "fleet.yaml")]
    former = CliRunner().invoke(landbridge, ["path", *words], standalone_mode=False)
    assert (former.return_value, former.output) == (0, told("lab", "us-west-2").output)
    listed = CliRunner().invoke(landbridge, ["--help"]).output
    assert "  trace " in listed
    assert "  path " not in listed
