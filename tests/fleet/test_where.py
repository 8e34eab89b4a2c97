"""The fleet file is the one that is named, else the nearest one above where somebody stands; never a guess."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from fleet import where
from fleet.errors import FleetError

ROOT = Path(__file__).parents[2]
LOOK = f"{sys.executable} -c 'from fleet import where; print(where.project_of_engine())'"


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """ours/ and theirs/ have a fleet file each, and folders below; bare/ has none. One stands in ours/deep/down."""
    monkeypatch.delenv(where.ENVIRONMENT, raising=False)
    for one in ("ours/deep/down", "theirs/stacks", "bare/below"):
        (tmp_path / one).mkdir(parents=True)
    for one in ("ours", "theirs"):
        (tmp_path / one / where.NAME).write_text("")
    stand(tmp_path / "ours/deep/down", monkeypatch)
    return tmp_path


def stand(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv(where.STANDING, str(folder))


def test_the_option_comes_before_the_environment_and_that_before_the_nearest_above(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert where.fleet_path() == folders / "ours/fleet.yaml"
    (folders / "ours/deep/fleet.yaml").write_text("")
    assert where.fleet_path() == folders / "ours/deep/fleet.yaml"
    monkeypatch.setenv(where.ENVIRONMENT, "elsewhere/a.yaml")
    assert where.fleet_path() == folders / "ours/deep/down/elsewhere/a.yaml"
    assert where.fleet_path(Path("b.yaml")) == folders / "ours/deep/down/b.yaml"


def test_where_there_is_none_the_error_says_where_it_looked_and_what_to_do(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand(folders / "bare/below", monkeypatch)
    engine = partial(where.path_for_engine, folders / "bare")
    for look in (where.fleet_path, where.path_for_engine, engine):
        with pytest.raises(FleetError) as caught:
            look()
        assert str(caught.value) == (
            f"fleet.yaml: there is none in {folders}/bare/below, nor in a folder above it. "
            "Name yours by --fleet FILE or LANDBRIDGE_FLEET=FILE."
        )


def test_a_folder_of_that_name_is_no_fleet_file(folders: Path) -> None:
    (folders / "ours/deep/fleet.yaml").mkdir()
    assert where.fleet_path() == folders / "ours/fleet.yaml"


def test_a_program_looks_from_where_its_user_stands_and_not_from_its_own_folder(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders / "theirs/stacks")
    assert where.path_for_engine() == folders / "ours/fleet.yaml"
    assert where.path_for_engine(folders / "ours") == folders / "ours/fleet.yaml"
    assert where.path_for_engine(folders / "bare") == folders / "ours/fleet.yaml"


def test_a_project_elsewhere_has_its_own_file_and_two_are_one_too_many(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FleetError, match=rf"{folders}/ours/fleet.yaml .* {folders}/theirs/fleet.yaml .*LANDBRIDGE_FL"):
        where.path_for_engine(folders / "theirs")
    stand(folders / "bare", monkeypatch)
    assert where.path_for_engine(folders / "theirs") == folders / "theirs/fleet.yaml"
    monkeypatch.setenv(where.STANDING, str(folders / "ours"))
    monkeypatch.setenv(where.ENVIRONMENT, str(folders / "theirs/fleet.yaml"))
    assert where.path_for_engine(folders / "theirs") == folders / "theirs/fleet.yaml"


def test_a_link_to_a_folder_is_that_folder(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folders / "link").symlink_to(folders / "ours")
    monkeypatch.setenv(where.STANDING, str(folders / "link/deep"))
    assert where.path_for_engine(folders / "ours") == folders / "link/fleet.yaml"


def test_a_policy_pack_s_project_is_where_its_engine_stands(folders: Path) -> None:
    (folders / "theirs/Pulumi.yaml").write_text("name: landbridge\n")
    engine, host = folders / "pulumi", folders / "pulumi-language-python"
    for one in (engine, host):
        one.symlink_to("/bin/sh")

    def seen(folder: Path) -> str:
        # The last word keeps a shell from giving its place to what it starts.
        words = [engine, "-c", f'cd {folder} && {host} -c "$PACK"; true']
        given = {"PYTHONPATH": str(ROOT), "PACK": f"cd / && {LOOK}; true"}
        return subprocess.run(words, env=given, capture_output=True, text=True, check=True).stdout.strip()

    assert seen(folders / "theirs/stacks") == str(folders / "theirs")
    assert seen(folders / "bare") == "None"
