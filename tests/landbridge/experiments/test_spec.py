"""What a run is, from a file and from flags; templates; and how GPUs make hosts."""

from pathlib import Path

import pytest

from fleet.errors import FleetError
from landbridge.errors import UsageError
from landbridge.experiments import schema, templates
from landbridge.experiments.hosts import Hosts, hosts
from landbridge.experiments.spec import Given, Run, given
from landbridge.experiments.templates import FOLDER, names, template
from tests.support.cloud import ROOT

from . import bed

RUN = "command: [python, train.py]\ngpus: 16\nenvironment:\n  RATE: '0.1'\n"


def test_a_file_says_what_a_run_is_and_flags_win(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(RUN)
    found = given(tmp_path, {"gpus": 8, "restarts": 3})
    assert (found.run.gpus, found.run.restarts, found.run.environment) == (8, 3, {"RATE": "0.1"})
    assert (found.at("command"), found.at("gpus")) == ("run.yaml:1", "--gpus")


def test_without_a_file_flags_do(tmp_path: Path) -> None:
    assert given(tmp_path, {"command": ["true"], "gpus": 1}).run.template == "plain"
    with pytest.raises(FleetError, match=r"^landbridge run: gpus is missing\. Add gpus: GPUs in all"):
        given(tmp_path, {"command": ["true"]})


def test_every_mistake_of_a_file_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("command: python\ngpus: 0\nrestart: 1\nenvironment: {1A: x}\n")
    with pytest.raises(FleetError) as told:
        given(tmp_path, {})
    lines = str(told.value).splitlines()
    assert [line.partition(": ")[0] for line in lines] == [f"run.yaml:{n}" for n in (1, 2, 3, 4)]
    assert "It must be a list" in lines[0]
    assert "It must be at least 1" in lines[1]
    assert "Perhaps you mean restarts" in lines[2]


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(FleetError, match="there is no such file"):
        given(tmp_path, {}, tmp_path / "other.yaml")


def many(**fields: int) -> Hosts:
    run = Run(command=["true"], **fields)  # type: ignore[arg-type]
    return hosts(Given(run, "", {}), {pool.name: pool for pool in bed.spec().pools if pool.hardware.gpus})


def test_gpus_fill_whole_hosts_or_a_part_of_one() -> None:
    assert many(gpus=4) == Hosts(1, 4)
    assert many(gpus=8) == Hosts(1, 8)
    assert many(gpus=32) == Hosts(4, 8)
    assert many(gpus=4, gpus_per_host=1) == Hosts(4, 1)


def test_gpus_that_fill_no_hosts_are_told_with_what_would() -> None:
    with pytest.raises(UsageError, match=r"^--gpus: 20 GPUs don't make whole hosts of 8\. Ask for 16 or 24"):
        many(gpus=20)
    assert many(gpus=16) == Hosts(2, 8)
    with pytest.raises(UsageError, match="16 GPUs a host, and the largest machines have 8"):
        many(gpus=16, gpus_per_host=16)


@pytest.mark.parametrize("name", names())
def test_each_template_of_ours_is_whole(name: str) -> None:
    assert template(name, FOLDER).about


def test_a_template_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(FleetError, match=r"there is no template torch\. Ours are .*plain.*ends in \.yaml"):
        template("torch", tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("about: x\nparts: {worker: {hosts: 2}}", "one part has `hosts: all`"),
        ("about: x\nparts: {worker: {hosts: all}, ps: {hosts: 1}}", "write `gpus: none`"),
        ("about: x\nparts: {worker: {hosts: all}}\nends: boss", "ends is boss, and the parts are worker"),
        ("about: x\nparts: {worker: {hosts: all}}\nenvironment: {A: '${chief}'}", r"\$\{chief\} is no part"),
        ("about: x\nparts: {worker: {hosts: all, befor: [x]}}", "own.yaml:2: .*Perhaps you mean before"),
    ],
)
def test_a_typo_in_a_user_s_own_template_is_told(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(FleetError, match=told):
        template("own.yaml", tmp_path)


def test_a_user_s_own_template_is_taken(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("about: mine\nparts: {worker: {hosts: all, before: [nice, '$(RUN_RANK)']}}")
    assert template("own.yaml", tmp_path).parts["worker"].before == ["nice", "$(RUN_RANK)"]


def test_what_kubernetes_fills_in_stays() -> None:
    assert templates.filled("$(RANK) ${ps}", {"ps": "a,b"}) == "$(RANK) a,b"


def test_editors_have_the_schema_of_this_version() -> None:
    assert (ROOT / "docs/run.schema.json").read_text() == schema.text(), "run `make golden`"
