"""Snapshots on plain folders: what is the same is kept once, what is old goes, and a killed one leaves nothing."""

import datetime
import os
from pathlib import Path

import nfs_index
import nfs_snapshot
import pytest

from tests.components.storage import bed

ONE, TWO, THREE = "2026-01-01T010000Z", "2026-01-01T020000Z", "2026-01-01T030000Z"


def take(server: bed.Server, stamp: str, share: str = "data") -> Path:
    """The snapshot's folder."""
    folder = server.root / ".snapshots" / share
    nfs_snapshot.take(server.root / share, folder, stamp, plain=True)
    return folder / stamp


def listed(tree: Path) -> list[tuple[str, int, bytes]]:
    return [
        (str(path.relative_to(tree)), path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(tree.rglob("*"))
    ]


def test_a_snapshot_is_the_share_as_it_was(server: bed.Server) -> None:
    (server.data / "a/b").mkdir(parents=True)
    (server.data / "a/b/file").write_bytes(b"x" * 5000)
    (server.data / "a/b/file").chmod(0o640)
    (server.data / "a").chmod(0o2775)
    (server.data / "a/link").symlink_to("b/file")
    (server.data / "a-b").write_text("stands between a and a/b in another order")
    os.mkfifo(server.data / "pipe")
    os.utime(server.data / "a/b", ns=(1, 1_600_000_000_123_456_789))
    before = [entry for entry in listed(server.data) if entry[0] != "pipe"]
    one = take(server, ONE)
    assert listed(one) == before
    assert (one / "a/b").stat().st_mtime_ns == 1_600_000_000_123_456_789
    (server.data / "a/b/file").write_bytes(b"changed")
    (server.data / "a-b").unlink()
    assert listed(one) == before, "what happens later is not in it"


def test_what_has_not_changed_is_kept_once(server: bed.Server) -> None:
    for name in ("same", "written", "owner"):
        (server.data / name).write_text(name)
    one = take(server, ONE)
    told = (server.data / "written").stat()
    (server.data / "written").write_text("WRITTEN")
    # Somebody who hides a change: size and time of the last write are what they were.
    os.utime(server.data / "written", ns=(told.st_atime_ns, told.st_mtime_ns))
    (server.data / "owner").chmod(0o600)
    (server.data / "new").write_text("new")
    two = take(server, TWO)
    assert {path.name for path in two.iterdir() if path.stat().st_nlink > 1} == {"same"}
    assert (one / "same").stat().st_ino == (two / "same").stat().st_ino
    assert (two / "written").read_text() == "WRITTEN"
    assert ((one / "owner").stat().st_mode & 0o777, (two / "owner").stat().st_mode & 0o777) == (0o644, 0o600)
    assert (one / "written").read_text() == "written"


def test_a_snapshot_that_was_killed_is_none_and_the_next_clears_it(
    server: bed.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    (server.data / "file").write_text("x")
    take(server, ONE)
    folder = server.root / ".snapshots/data"
    with monkeypatch.context() as patch:
        patch.setattr(nfs_index.Writer, "__exit__", lambda *_: None)  # the folder is there, its index is not
        take(server, TWO)
    (folder / ".draft-x").mkdir()
    assert nfs_snapshot.stamps(folder) == [ONE]
    take(server, THREE)
    assert nfs_snapshot.stamps(folder) == [ONE, THREE]
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == [ONE, THREE]
    assert not (folder / ".draft-x").exists()


def test_a_file_system_that_cannot_clone_is_refused(server: bed.Server) -> None:
    """A copy of everything would fill the disk."""
    (server.data / "file").write_text("x" * 5000)
    folder = server.root / ".snapshots/data"
    with pytest.raises(OSError, match=r"not supported|Invalid|Inappropriate"):
        nfs_snapshot.take(server.data, folder, ONE)
    assert nfs_snapshot.stamps(folder) == []


def test_a_tree_s_order_is_that_of_any_other(server: bed.Server) -> None:
    for name in ("a/z", "a-b/c", "a/b/c", "b", "a.txt", "ä", "a/b.c"):
        path = server.data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    paths = [nfs_index.order(entry["path"]) for entry in nfs_index.walk(server.data)]
    assert paths[1:] == sorted(paths[1:])
    pairs = list(nfs_index.beside(nfs_index.walk(server.data), nfs_index.walk(server.data)))
    assert all(old is not None and nfs_index.same(new, old) for new, old in pairs)
    (server.data / "a/b.c").unlink()
    (server.data / "0").write_text("first")
    olds = (entry for entry, _ in pairs)
    met = {new["path"]: old for new, old in nfs_index.beside(nfs_index.walk(server.data), olds)}
    assert [path for path, old in met.items() if old is None] == ["0"]


def test_hours_days_and_weeks_are_kept() -> None:
    end = datetime.datetime(2026, 6, 30, 23, tzinfo=datetime.UTC)
    hours = [(end - datetime.timedelta(hours=n)).strftime(nfs_snapshot.STAMP) for n in range(24 * 100)]
    stay = sorted(nfs_snapshot.retained(sorted(hours)), reverse=True)
    assert stay[:24] == hours[:24]
    # 14 days, one of which is within the last 24 hours, and 8 weeks, two of which are within those days.
    assert 24 + 13 <= len(stay) <= 24 + 13 + 8
    assert stay[-1] == "2026-05-17T230000Z"
    assert nfs_snapshot.retained([ONE]) == {ONE}
    assert nfs_snapshot.retained([]) == set()


def test_old_snapshots_go_with_their_index(server: bed.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    (server.data / "file").write_text("x")
    for stamp in (ONE, TWO, THREE):
        take(server, stamp)
    monkeypatch.setattr(nfs_snapshot, "RETENTION", ((2, "%Y-%m-%dT%H"),))
    folder = server.root / ".snapshots/data"
    assert nfs_snapshot.let_go(folder) == [ONE]
    assert sorted(path.name for path in folder.iterdir()) == [TWO, f"{TWO}.index.gz", THREE, f"{THREE}.index.gz"]
    assert (folder / THREE / "file").read_text() == "x"


def test_one_share_that_fails_keeps_no_other_from_its_snapshot(
    server: bed.Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nfs_snapshot, "settings", lambda _: server.told)
    monkeypatch.setattr(nfs_snapshot.sys, "argv", ["nfs_snapshot.py"])
    (server.data).rmdir()
    with pytest.raises(SystemExit, match="no snapshot of data"):
        nfs_snapshot.main()
    assert nfs_snapshot.stamps(server.root / ".snapshots/scratch")
    assert "ERROR: no snapshot of share data" in capsys.readouterr().err
