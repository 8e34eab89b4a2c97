"""User-data: what is too large, what looks like a secret, and what only seems to."""

import base64
import gzip
import random
import re
import secrets
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.boot.user_data import public_key, user_data
from fleet.buckets import unique_names
from policies.boot import findings
from policies.reading import Item
from policies.secret_texts import secrets_in
from tests.support.pki import _key

from .judging import azure

ROOT = Path(__file__).parents[2]
SURE = 1000
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


def told(data: bytes, **tags: Any) -> list[str]:
    props = {"userData": base64.b64encode(data).decode(), "metadataOptions": {"httpTokens": "required"}, "tags": tags}
    return [found.what for found in findings([Item(TEMPLATE, "t", "urn", props, protect=False, provider="p")])]


def test_the_stub_passes_with_its_verify_key() -> None:
    for _ in range(20):
        stub = user_data(
            "ap-southeast-2",
            "example-ap-southeast-2-123456789012",
            "example/main/main-etcd-1",
            public_key(_key(algorithm="ED25519")["privateKeyPem"]),
        )
        assert told(stub.encode(), **{"landbridge:machine": "main-etcd-1"}) == []


def test_a_stub_may_have_four_kilobytes_and_any_other_sixteen() -> None:
    for stub in ({"landbridge:machine": "main-etcd-1"}, {"landbridge:pool": "west-gpu"}):
        assert told(b"#" * 4096, **stub) == []
        assert told(b"#" * 4097, **stub) == ["userData has 4097 bytes, and a stub may have 4096"]
    assert told(b"#" * 16384) == []
    assert told(b"#" * 16385) == ["userData has 16385 bytes, and AWS may have 16384"]


def test_packed_user_data_is_unpacked() -> None:
    assert told(gzip.compress(b"#!/bin/sh\n")) == []
    assert told(gzip.compress(b"key: AKIAIOSFODNN7EXAMPLE")) == ["userData holds an AWS access key (AKIAIOSFODNN…)"]
    assert told(b"\x1f\x8bbroken")[0].startswith("userData can't be read")


PUBLIC = _key(algorithm="RSA")
SSH = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINOk5puLA41q4RMG4uMfUR+liE8kq7tWNAwN46qfVTGA alice@laptop"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (PUBLIC["privateKeyPem"], "a private key"),
        (PUBLIC["privateKeyOpenssh"], "a private key"),
        (PUBLIC["privateKeyPemPkcs8"], "a private key"),
        ("AKIAIOSFODNN7EXAMPLE", "an AWS access key"),
        ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "a random text"),
        ("secret=x1-8Q~0123456789-0123456789_0123456789ab", "a client secret of Entra"),
        (
            "https://a.blob.core.windows.net/c/b?sv=2024&sig=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%3D",
            "a shared access signature",
        ),
        ("join abcdef.0123456789abcdef", "a bootstrap token"),
        ("Bearer eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlIn0.c2lnbmF0dXJl", "a JSON web token"),
        ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "a random text"),
        ("sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "a random text"),
    ],
)
def test_keys_and_tokens_are_found(text: str, kind: str) -> None:
    assert any(found.startswith(kind) for found in secrets_in(f"first\nx={text}\n"))


def test_what_is_found_is_not_printed() -> None:
    for found in secrets_in("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY abcdef.0123456789abcdef"):
        assert "MDENG" not in found
        assert "89abcdef" not in found


LETTERS = string.ascii_letters + string.digits


@pytest.mark.parametrize(
    ("make", "missed"),
    [
        (lambda: secrets.token_hex(32), 0.01),
        (lambda: secrets.token_hex(16), 0.02),
        (lambda: base64.b64encode(secrets.token_bytes(32)).decode(), 0.01),
        (lambda: secrets.token_urlsafe(24), 0.03),
        (lambda: "".join(random.choices(LETTERS, k=40)), 0.01),
        (lambda: "".join(random.choices(string.ascii_lowercase + string.digits, k=40)), 0.05),
    ],
)
def test_random_texts_are_found_but_for_a_few(make: Callable[[], str], missed: float) -> None:
    assert sum(not list(secrets_in(make())) for _ in range(SURE)) / SURE <= missed


def test_what_people_write_is_none() -> None:
    texts = [*ROOT.glob("docs/guide/*.md"), *ROOT.glob("components/**/*.py"), *ROOT.glob("fleet/**/*.py")]
    assert len(texts) > 20
    # Azure names its own roles by GUIDs. In user-data one may be anything.
    guid = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
    assert {path.name: found for path in texts if (found := list(secrets_in(guid.sub("", path.read_text()))))} == {}


def test_public_keys_and_certificates_are_none() -> None:
    assert list(secrets_in(PUBLIC["publicKeyPem"])) == []
    assert list(secrets_in(f"key={public_key(PUBLIC['privateKeyPem'])}")) == []
    assert list(secrets_in(SSH)) == []
    assert list(secrets_in(SSH.replace("VTGA", "VT"))) == ["a random text (AAAAC3…)"], "nor what only begins like one"


def test_names_that_the_fleet_made_itself_are_no_secrets_and_all_others_are() -> None:
    known = unique_names(azure().fleet)
    assert len(known) == 6
    for name in known:
        assert list(secrets_in(f"bucket={name}", known)) == []
    found = list(secrets_in(f"bucket={min(known)[:-1]}x7Q", known))
    assert found == [f"a random text ({min(known)[:6]}…)"]
