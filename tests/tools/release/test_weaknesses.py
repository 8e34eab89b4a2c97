"""What stands, what is excepted, and what of the exceptions has to go."""

import datetime
from pathlib import Path

import pytest
from release import weaknesses
from release.errors import ReleaseError
from release.weaknesses import Excepted, Weakness

DAY = datetime.date(2026, 6, 30)
BOLT = Weakness("etcd", "go.etcd.io/bbolt", "v1.4.3", ("GO-2026-1", "CVE-2026-1"), "v1.4.4", "it breaks")
CLICK = Weakness("requirements.lock", "click", "8.5.1", ("PYSEC-2026-1",), "", "it breaks")


def test_what_nobody_excepts_stands() -> None:
    verdict = weaknesses.judge([CLICK, BOLT, BOLT], [], DAY)
    assert verdict.standing == [
        "etcd: go.etcd.io/bbolt v1.4.3: GO-2026-1 (CVE-2026-1): it breaks; mended in v1.4.4",
        "requirements.lock: click 8.5.1: PYSEC-2026-1: it breaks; mended in no version",
    ]
    assert (verdict.excepted, verdict.stale) == ([], [])


@pytest.mark.parametrize("id_", BOLT.names)
def test_an_exception_counts_by_any_name_through_its_day(id_: str) -> None:
    excepted = [Excepted(id_, ("etcd",), "not reached", DAY)]
    verdict = weaknesses.judge([BOLT], excepted, DAY)
    assert verdict.standing == verdict.stale == []
    assert verdict.excepted[0].endswith("excepted until 2026-06-30: not reached")


def test_one_that_is_over_excepts_nothing_and_has_to_go() -> None:
    verdict = weaknesses.judge([BOLT], [Excepted("GO-2026-1", (), "soon", DAY)], DAY + datetime.timedelta(days=1))
    assert [one[:14] for one in verdict.standing] == ["etcd: go.etcd."]
    assert "the exception of GO-2026-1 was good until 2026-06-30" in verdict.stale[0]


def test_one_of_another_program_excepts_nothing_and_has_to_go() -> None:
    verdict = weaknesses.judge([BOLT], [Excepted("GO-2026-1", ("etcdctl",), "not reached", DAY)], DAY)
    assert len(verdict.standing) == 1
    assert "nothing has GO-2026-1 any more" in verdict.stale[0]


def test_the_file_is_read_with_its_days(tmp_path: Path) -> None:
    file = tmp_path / "exceptions.toml"
    file.write_text('[[exception]]\nid = "GO-2026-1"\nin = ["etcd"]\nreason = "not reached"\nuntil = 2026-06-30\n')
    assert weaknesses.exceptions(file) == [Excepted("GO-2026-1", ("etcd",), "not reached", DAY)]
    assert isinstance(weaknesses.exceptions(), list), "our own is read, too"


@pytest.mark.parametrize(
    "text",
    [
        'id = "GO-2026-1"\nreason = "x"\n',
        'id = "GO-2026-1"\nreason = " "\nuntil = 2026-06-30\n',
        'id = "GO-2026-1"\nreason = "x"\nuntil = "2026-06-30"\n',
        'id = "GO-2026-1"\nreason = "x"\nuntil = 2026-06-30\nin = "etcd"\n',
        'id = "GO-2026-1"\nreason = "x"\nuntil = 2026-06-30\nwhy = "y"\n',
    ],
)
def test_an_exception_without_reason_or_day_is_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "exceptions.toml"
    file.write_text(f"[[exception]]\n{text}")
    with pytest.raises(ReleaseError, match=r"^exceptions.toml: the exception number 1 should have an id, a reason"):
        weaknesses.exceptions(file)
