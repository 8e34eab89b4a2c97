"""The local cloud's authority: a new one for each life, and nothing that the one before vouched for."""

from pathlib import Path

from cryptography import x509

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


def test_the_next_life_in_the_same_folder_has_certificates_of_its_own(tmp_path: Path) -> None:
    before = read(Authority(tmp_path).issue(NAME))
    after = read(Authority(tmp_path).issue(NAME))
    after.verify_directly_issued_by(read(tmp_path / "ca.crt"))
    assert after.serial_number != before.serial_number
