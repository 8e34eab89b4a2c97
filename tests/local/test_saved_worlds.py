"""Saved worlds as files: names, what a copy holds, what is refused, and what is left when it is cut off anywhere."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from local import client, saved_worlds, saving

MACHINES = [{"kubernetes": saved_worlds.kubernetes.BUILT_IN}]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "local"
    filled(home, "first")
    return home


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return tmp_path / "saved"


@pytest.fixture(autouse=True)
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        saved_worlds.kubernetes, "lacks", lambda version: [] if version in saved_worlds.kubernetes.VERSIONS else ["x"]
    )


def filled(home: Path, text: str) -> None:
    for name in ("volumes/vol-1/data", "example/state", "networks"):
        (home / name).mkdir(parents=True)
    (home / saved_worlds.MARK).write_text("{}")
    (home / "volumes/vol-1/data/wal").write_text(text)
    (home / "volumes/vol-1/data/link").symlink_to("/nowhere")
    (home / "example/generation").write_text("g")
    for name in ("cloud.json", "cloud.log", "networks/vpc"):
        (home / name).write_text(text)


def holds(home: Path) -> str:
    return (home / "volumes/vol-1/data/wal").read_text()


def test_a_world_is_saved_and_comes_back_without_what_was_its_daemons(home: Path, shelf: Path, tmp_path: Path) -> None:
    made = saved_worlds.save(home, shelf, "one", MACHINES)
    assert (made.fleets, made.machines, made.kubernetes) == (("example",), 1, (saved_worlds.kubernetes.BUILT_IN,))
    assert saved_worlds.listed(shelf) == [made]
    other = tmp_path / "other/local"
    other.parent.mkdir()
    saved_worlds.load(other, made)
    assert holds(other) == "first"
    assert (other / "volumes/vol-1/data/link").is_symlink()
    assert not any((other / name).exists() for name in saved_worlds.NOT_KEPT)
    assert shelf.stat().st_mode & 0o777 == 0o700


def test_a_save_replaces_one_of_its_name_and_one_that_fails_replaces_nothing(
    home: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved_worlds.save(home, shelf, "one", MACHINES)
    (home / "volumes/vol-1/data/wal").write_text("second")

    def cut(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(saved_worlds, "exchange", cut)
        with pytest.raises(KeyboardInterrupt):
            saved_worlds.save(home, shelf, "one", MACHINES)
    assert holds(shelf / "one/world") == "first"
    saved_worlds.save(home, shelf, "one", MACHINES)
    assert holds(shelf / "one/world") == "second"
    assert [entry.name for entry in shelf.iterdir()] == ["one"], "nothing half is left"


@pytest.mark.parametrize("name", ["", "../up", "a/b", "A", "-a", "a-", "a" * 64, ".hidden"])
def test_what_is_no_name_is_refused(name: str, shelf: Path) -> None:
    with pytest.raises(saved_worlds.SavedWorldError, match="is no name for a saved world"):
        saved_worlds.one(shelf, name)


def test_an_unknown_one_is_told_with_those_that_there_are(home: Path, shelf: Path) -> None:
    with pytest.raises(saved_worlds.SavedWorldError, match=r"No world was saved as two\. There are: none"):
        saved_worlds.one(shelf, "two")
    saved_worlds.save(home, shelf, "one", MACHINES)
    with pytest.raises(saved_worlds.SavedWorldError, match=r"There are: one\."):
        saved_worlds.one(shelf, "two")


def test_a_world_of_other_programs_is_refused(home: Path, shelf: Path) -> None:
    made = saved_worlds.save(home, shelf, "one", MACHINES)
    saved_worlds.fitting(made)
    with pytest.raises(saved_worlds.SavedWorldError, match=r"another version of the local cloud \(moto 1, here it is "):
        saved_worlds.fitting(made._replace(programs={**made.programs, "moto": "1"}))
    with pytest.raises(saved_worlds.SavedWorldError, match=r"with Kubernetes 1\.30\.0, which is not built here"):
        saved_worlds.fitting(made._replace(kubernetes=("1.30.0",)))
    (shelf / "one/saved.json").write_text("{")
    with pytest.raises(saved_worlds.SavedWorldError, match=r"saved.json is damaged"):
        saved_worlds.listed(shelf)


def test_a_full_disk_is_seen_before_anything_is_copied(
    home: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = saved_worlds.save(home, shelf, "one", MACHINES)
    monkeypatch.setattr(saved_worlds.shutil, "disk_usage", lambda _: SimpleNamespace(free=100 << 20))
    with pytest.raises(saved_worlds.SavedWorldError, match=r"has 100 MiB left, and 51\d MiB are needed"):
        saved_worlds.load(home, made)
    assert holds(home) == "first"


@pytest.mark.parametrize("step", range(4))
def test_a_load_that_is_cut_off_leaves_the_old_world_or_the_new_one(
    home: Path, shelf: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = saved_worlds.save(home, shelf, "one", MACHINES)
    (home / "volumes/vol-1/data/wal").write_text("second")
    cut_at(monkeypatch, step)
    with pytest.raises(Killed):
        saved_worlds.load(home, made)
    monkeypatch.undo()
    with client.starting(home):
        assert saved_worlds.stands(home)
        assert holds(home) == ("second" if step < 3 else "first")
    assert {entry.name for entry in home.parent.iterdir()} == {"local", "local.lock", "saved"}


class Killed(BaseException):
    """The process ends here: nothing of its own follows."""


def cut_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Before the copy, after it, between both renames, or after them."""
    rename, copy, count = Path.rename, saved_worlds.copy, iter(range(10))

    def maybe() -> None:
        if next(count) == step:
            raise Killed

    def copying(*words: object) -> None:
        maybe()
        copy(*words)  # type: ignore[arg-type]

    def renaming(path: Path, target: Path) -> Path:
        maybe()
        done = rename(path, target)
        if step == 3 and path.name.endswith(".loading"):
            raise Killed
        return done

    monkeypatch.setattr(saved_worlds, "copy", copying)
    monkeypatch.setattr(Path, "rename", renaming)
    monkeypatch.setattr(saved_worlds.shutil, "rmtree", lambda *_, **__: None)


def test_one_that_does_not_come_up_leaves_what_stood_there(
    home: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved_worlds.save(home, shelf, "one", MACHINES)
    (home / "volumes/vol-1/data/wal").write_text("second")

    def start(home: Path) -> None:
        assert holds(home) == "first"
        raise client.LocalCloudError(f"The local cloud did not start: no. Its log: {home / 'cloud.log'}")

    monkeypatch.setattr(client, "start", start)
    with pytest.raises(
        saved_worlds.SavedWorldError, match=r"one was not loaded, and all is as it was\. The local cloud did not"
    ):
        saving.load(home, shelf, "one", lambda _: None)
    assert holds(home) == "second"


def test_forgetting_leaves_nothing_but_what_was_saved(home: Path, shelf: Path) -> None:
    saved_worlds.save(home, shelf, "one", MACHINES)
    assert saving.forget(home)
    assert not list(home.iterdir())
    assert not saving.forget(home)
    assert [one.name for one in saved_worlds.listed(shelf)] == ["one"]


def test_there_must_be_something_to_save(home: Path, shelf: Path) -> None:
    shutil.rmtree(home)
    with pytest.raises(saved_worlds.SavedWorldError, match="nothing to save"):
        saving.save(home, shelf, "one", lambda _: None)


def test_what_is_saved_is_told_to_machines(home: Path, shelf: Path) -> None:
    saved_worlds.save(home, shelf, "one", MACHINES)
    told = json.loads((shelf / "one/saved.json").read_text())
    assert told.keys() == {"made", "fleets", "machines", "kubernetes", "mib", "programs"}
