"""A passphrase that is not there, or is nothing, is told before a run begins."""

from pathlib import Path

import pytest

from landbridge.errors import UsageError
from landbridge.passphrase import FILE, VARIABLE, passed_on


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "there is none"),
        ({FILE: ""}, "there is none"),
        ({VARIABLE: ""}, f"{VARIABLE} is empty"),
        ({VARIABLE: "", FILE: "phrase"}, f"{VARIABLE} is empty"),
        ({FILE: "nowhere"}, f"{FILE} can't be read: nowhere: No such file or directory"),
        ({FILE: "."}, f"{FILE} can't be read: .: Is a directory"),
        ({FILE: "blank"}, f"{FILE} is an empty file: blank"),
    ],
)
def test_what_is_missing_is_named_with_what_to_set(
    given: dict[str, str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blank").write_text(" \n")
    (tmp_path / "phrase").write_text("x")
    with pytest.raises(UsageError) as caught:
        passed_on("fleet.yaml", given)
    assert f"and {why}. Set {VARIABLE} to what your team shares, or {FILE} to a file with it." in str(caught.value)


def test_a_file_is_passed_on_by_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "phrase").write_text("x\n")
    assert passed_on("fleet.yaml", {FILE: "phrase"}) == {FILE: str(tmp_path / "phrase")}
    assert passed_on("fleet.yaml", {VARIABLE: "x", FILE: "nowhere"}) == {}
