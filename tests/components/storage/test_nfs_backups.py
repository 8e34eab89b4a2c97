"""Backups and what comes back of them, against S3 with signatures that botocore checks."""

import argparse
import datetime
import gzip
import json
import os
from pathlib import Path
from typing import Any

import nfs_backup
import nfs_restore
import pytest

from tests.components.storage import bed
from tests.components.storage.test_nfs_snapshots import ONE, THREE, TWO, listed, take

DATA = f"{bed.PREFIX}/data"


@pytest.fixture(autouse=True)
def _small_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (nfs_backup, nfs_restore):
        monkeypatch.setattr(module, "PACK_BYTES", 1000)


def bring(server: bed.Server, patch: pytest.MonkeyPatch, *shares: str) -> dict[str, Any]:
    """The report."""
    patch.setattr(nfs_backup, "settings", lambda _: server.told)
    patch.setattr(nfs_backup.sys, "argv", ["nfs_backup.py", *shares])
    nfs_backup.main()
    return dict(json.loads(nfs_backup.REPORT.read_text()))


def back(server: bed.Server, target: Path, patch: pytest.MonkeyPatch, **more: Any) -> None:
    patch.setattr(nfs_restore, "STATE", server.folder / "state")
    given = {"share": "data", "to": target, "at": None, "only": "", "replace": False, "list": False, **more}
    nfs_restore.restore(argparse.Namespace(**given), server.told)


def fill(server: bed.Server) -> None:
    (server.data / "deep/er").mkdir(parents=True)
    (server.data / "deep").chmod(0o2775)
    (server.data / "deep/er/large").write_bytes(os.urandom(2500))
    for n in range(30):
        (server.data / f"deep/{n}").write_bytes(bytes([n]) * (50 + n))
    (server.data / "empty").touch()
    (server.data / "link").symlink_to("deep/1")
    (server.data / "deep/1").chmod(0o640)
    os.utime(server.data / "deep/2", ns=(1, 1_600_000_000_123_456_789))


def test_what_was_backed_up_comes_back_as_it_was(
    server: bed.Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fill(server)
    take(server, ONE)
    report = bring(server, monkeypatch)
    assert report["data"]["files"] == 32
    assert set(report) == {"data"}, "scratch is not to be backed up"
    assert server.objects(f"{DATA}/index/") == [f"{DATA}/index/{ONE}.index.gz"]
    assert len(server.objects(f"{DATA}/packs/")) >= 3
    back(server, tmp_path / "back", monkeypatch)
    assert listed(tmp_path / "back") == listed(server.data)
    assert (tmp_path / "back/deep/2").stat().st_mtime_ns == 1_600_000_000_123_456_789
    assert (tmp_path / "back/deep").stat().st_mtime_ns == (server.data / "deep").stat().st_mtime_ns
    assert not [call for call in server.state.calls if call.startswith("refused")]


def test_only_what_is_new_leaves_and_each_backup_is_whole(
    server: bed.Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fill(server)
    take(server, ONE)
    bring(server, monkeypatch)
    before, first = listed(server.data), server.objects()
    (server.data / "deep/3").write_text("another")
    (server.data / "deep/4").unlink()
    take(server, TWO)
    report = bring(server, monkeypatch)
    assert (report["data"]["files"], report["data"]["bytes"]) == (1, 7)
    assert len(server.objects()) == len(first) + 2, "a pack and an index"
    calls = len(server.state.calls)
    assert bring(server, monkeypatch)["data"]["files"] == 0
    assert len(server.state.calls) == calls, "no new snapshot, nothing is asked"
    back(server, tmp_path / "new", monkeypatch)
    back(server, tmp_path / "old", monkeypatch, at=ONE)
    assert listed(tmp_path / "new") == listed(server.data)
    assert listed(tmp_path / "old") == before


def test_a_backup_that_broke_off_is_none_and_the_next_is_whole(
    server: bed.Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(server)
    take(server, ONE)
    server.state.broken["s3"] = 503
    with pytest.raises(SystemExit, match="no backup of data"):
        bring(server, monkeypatch)
    assert "ERROR: no backup of share data: GET https://s3." in capsys.readouterr().err
    assert server.objects() == []
    assert not nfs_backup.REPORT.exists()
    server.state.broken.clear()
    uploads = 0

    def upload(self: Any, bucket: str, key: str, path: Path, about: dict[str, str]) -> None:
        nonlocal uploads
        uploads += 1
        if uploads == 3:
            raise OSError("the line is cut")
        real(self, bucket, key, path, about)

    real = nfs_backup.SiteAws.upload
    with monkeypatch.context() as patch:
        patch.setattr(nfs_backup.SiteAws, "upload", upload)
        with pytest.raises(SystemExit, match="no backup of data"):
            bring(server, monkeypatch)
    assert len(server.objects(f"{DATA}/packs/")) == 2
    assert server.objects(f"{DATA}/index/") == []
    bring(server, monkeypatch)
    back(server, tmp_path / "back", monkeypatch)
    assert listed(tmp_path / "back") == listed(server.data)
    assert not list((server.folder / "state").glob("pack-*"))


def test_a_new_server_goes_on_from_what_is_in_the_bucket(server: bed.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(server)
    take(server, ONE)
    bring(server, monkeypatch)
    for path in (server.folder / "state/data").iterdir():
        path.unlink()
    (server.data / "one-more").write_text("x")
    take(server, TWO)
    assert bring(server, monkeypatch)["data"]["files"] == 1


def test_a_pack_that_will_expire_is_brought_again(server: bed.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    (server.data / "file").write_text("x")
    take(server, ONE)
    bring(server, monkeypatch)
    (index,) = (server.folder / "state/data").glob("*.index.gz")
    (pack,) = server.objects(f"{DATA}/packs/")
    # As if it had been brought so long ago.
    old = f"{DATA}/packs/{datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=61):%Y-%m-%dT%H%M%SZ}-00c0ffee-000000"
    index.write_bytes(gzip.compress(gzip.decompress(index.read_bytes()).replace(pack.encode(), old.encode())))
    take(server, TWO)
    assert bring(server, monkeypatch)["data"]["files"] == 1
    now = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)
    ages = [
        next(
            age
            for age in range(100)
            if not nfs_backup.lasts(
                {"pack": f"p/{now - datetime.timedelta(days=age):{nfs_backup.STAMP}}-00c0ffee-{n:06}"}, now
            )
        )
        for n in range(200)
    ]
    assert max(ages) <= nfs_backup.REFRESH_DAYS
    assert min(ages) >= nfs_backup.REFRESH_DAYS - nfs_backup.SPREAD_DAYS
    assert len(set(ages)) > 10, "not all on one night"


def test_a_restore_goes_on_where_it_was_and_writes_over_nothing(
    server: bed.Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(server)
    take(server, ONE)
    bring(server, monkeypatch)
    target = tmp_path / "back"
    back(server, target, monkeypatch, only="deep/er")
    assert [path for path, _, _ in listed(target)] == ["deep", "deep/er", "deep/er/large"]
    (target / "deep/5").write_text("somebody's own")
    with pytest.raises(SystemExit, match=r"1 files are there and differ \(deep/5\): --replace writes over them"):
        back(server, target, monkeypatch)
    assert "31 files came back" in capsys.readouterr().err, "32 and a link, less the large one and the other"
    assert (target / "deep/5").read_text() == "somebody's own"
    back(server, target, monkeypatch, replace=True)
    assert listed(target) == listed(server.data)


def test_content_that_was_altered_in_the_bucket_does_not_come_back(
    server: bed.Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (server.data / "file").write_text("the truth")
    take(server, ONE)
    bring(server, monkeypatch)
    (pack,) = server.objects(f"{DATA}/packs/")
    (server.bucket / pack).write_text("the lies!")
    with pytest.raises(SystemExit, match=r"file: what lies in .* is not what was put there"):
        back(server, tmp_path / "back", monkeypatch)
    assert not (tmp_path / "back/file").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"share": "dta"}, "there is no share dta. Known: data, scratch"),
        ({"share": "scratch"}, "there is no backup of share scratch"),
        ({"at": THREE}, f"there is no backup of share data of {THREE}. There are: {ONE}"),
    ],
)
def test_what_is_not_there_is_said(
    more: dict[str, Any], words: str, server: bed.Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (server.data / "file").write_text("x")
    take(server, ONE)
    bring(server, monkeypatch)
    with pytest.raises(SystemExit) as told:
        back(server, tmp_path / "back", monkeypatch, **more)
    assert words in str(told.value)


def test_two_at_a_time_are_one_too_many(server: bed.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    (server.folder / "state").mkdir()
    with (
        nfs_backup.alone(server.folder / "state/backup.lock"),
        pytest.raises(SystemExit, match="this work is under way already"),
    ):
        bring(server, monkeypatch)


def test_backups_are_listed(
    server: bed.Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for stamp in (ONE, TWO):
        (server.data / stamp).write_text("x")
        take(server, stamp)
        bring(server, monkeypatch)
    back(server, tmp_path / "back", monkeypatch, list=True)
    assert capsys.readouterr().out.split() == [ONE, TWO]
