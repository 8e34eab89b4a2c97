"""The local cloud's authority: one for all its lives, until its days are over, and then a new one for all."""

import shutil
from pathlib import Path

import pytest
from cryptography import x509

from local import authority as authorities
from local import standing
from local.authority import Authority

NAME = "s3.us-west-2.amazonaws.com"


def read(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_a_name_s_certificate_is_made_once_and_is_the_authority_s(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    made = authority.issue(NAME)
    assert authority.issue(NAME).read_bytes() == made.read_bytes()
    read(made).verify_directly_issued_by(read(tmp_path / "ca.crt"))
    assert made.stat().st_mode & 0o777 == 0o600


def test_the_next_life_has_the_same_authority_and_what_it_vouched_for(tmp_path: Path) -> None:
    before = Authority(tmp_path).issue(NAME).read_bytes()
    after = Authority(tmp_path)
    assert after.issue(NAME).read_bytes() == before
    read(after.issue("sts.us-west-2.amazonaws.com")).verify_directly_issued_by(read(tmp_path / "ca.crt"))
    assert (tmp_path / "ca.key").stat().st_mode & 0o777 == 0o600


def test_when_its_days_are_over_there_is_another_and_nothing_of_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authorities, "DAYS", 0)
    before = read(Authority(tmp_path).issue(NAME))
    monkeypatch.undo()
    after = read(Authority(tmp_path).issue(NAME))
    after.verify_directly_issued_by(read(tmp_path / "ca.crt"))
    assert after.serial_number != before.serial_number


def test_a_daemon_starts_with_an_authority_that_lasts_and_leaves_no_certificate_that_outlives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "authority"
    made = Authority(folder)
    leaf = read(made.issue(NAME))
    assert leaf.not_valid_after_utc == made.certificate.not_valid_after_utc
    standing.prepare(tmp_path)
    assert (folder / "ca.key").exists()
    monkeypatch.setattr(authorities, "DAYS", standing.AUTHORITY_DAYS - 1)
    shutil.rmtree(folder)
    Authority(folder)
    standing.prepare(tmp_path)
    assert not folder.exists(), "it would end while machines trust it"
