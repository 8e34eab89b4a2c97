"""The page of the whole command says what the code does: options, exit codes, environment variables."""

import re

from landbridge.commands import landbridge
from landbridge.errors import EXIT_CODES
from landbridge.whole import WholeOption
from tests.test_docs import ROOT, Rows, tables
from tests.test_house import ARROWS, tracked

PAGE = ROOT / "docs/guide/commands.md"
# Passed on from one of our own programs to another.
OURS = {
    "LANDBRIDGE_COMPLETE",
    "LANDBRIDGE_DASHBOARD_SOCKET",
    "LANDBRIDGE_INTERPRETER",
    "LANDBRIDGE_KUBECONFIG_OUTSIDE",
    "LANDBRIDGE_LOCAL_GPUS",
    "LANDBRIDGE_PROVIDER_PORT",
    "LANDBRIDGE_ROLLED",
    "LANDBRIDGE_STACK",
    "LANDBRIDGE_WITNESS",
}


def table(heading: str) -> Rows:
    (found,) = tables(PAGE)[heading]
    return found[1:]


def test_every_option_of_the_whole_command_is_there() -> None:
    options = [one for one in landbridge.params if isinstance(one, WholeOption)]
    assert [row[0] for row in table("Options")] == [", ".join((*one.opts, *one.secondary_opts)) for one in options]


def test_exit_codes_are_those_of_the_code_and_of_the_help() -> None:
    assert {int(code): meaning for code, meaning in table("Exit codes")} == EXIT_CODES
    told = " ".join((landbridge.help or "").split())
    assert all(f"{code} {meaning}" in told for code, meaning in EXIT_CODES.items())


def test_every_variable_that_is_read_is_there() -> None:
    files = [file for file in tracked(*(f"{package}/*.py" for package in ARROWS)) if "tests" not in file.parts]
    assert len(files) > 300
    named = {name for file in files for name in re.findall(r"LANDBRIDGE_[A-Z]+(?:_[A-Z]+)*", file.read_text())}
    assert {row[0] for row in table("Environment variables")} == named - OURS
    assert named >= OURS
