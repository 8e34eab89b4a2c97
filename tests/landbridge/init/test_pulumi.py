"""Plain `pulumi` in the folder that `landbridge init` has written: its programs and its policies begin there."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from landbridge.commands import landbridge
from tests.stacks.state_bed import Team


@pytest.fixture
def team(tmp_path: Path) -> Team:
    made = Team(tmp_path / "lab", tmp_path / "home", tmp_path / "state", {"PULUMI_CONFIG_PASSPHRASE": "ours"})
    for folder in (made.home, made.state):
        folder.mkdir()
    done = CliRunner().invoke(landbridge, ["init", "--yes", str(made.folder)])
    assert done.exception is None, done.output
    return made


def test_programs_and_policies_are_ours_and_the_fleet_is_the_folder_s(team: Team) -> None:
    team.pulumi("stack", "init", "elsewhere")
    said = team.pulumi("preview", "-s", "elsewhere", "--policy-pack", "policies")
    assert f"Fleet lab: {team.fleet}" in said
    assert (
        "fleet.yaml has no stack elsewhere. Its stacks: us-east-1, main, us-east-1-gpu, cpu, system, main-addons."
        in said
    )
    assert "failed to start" not in said, "the pack has the fleet as well"
    assert "landbridge@" in said
