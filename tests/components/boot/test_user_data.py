"""User-data: small, the same for ever, without a secret; its signature of requests is botocore's."""

import base64
import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from cryptography.hazmat.primitives.serialization import load_der_public_key

from components.boot import user_data as made
from local.providers import tls

KEY = tls._private_key({"algorithm": "ED25519", "ecdsaCurve": "P224", "rsaBits": 2048})[1]["privateKeyPem"]
LONG = "f" + "o" * 30 + "r"  # fleets' and clusters' names may have 32 characters
ROLE = {"AccessKeyId": "AKID", "SecretAccessKey": "secret", "Token": "token"}


def script(**changes: str) -> str:
    told = {"region": "us-west-2", "bucket": "b", "prefix": "example/main/main-api-1"} | changes
    return made.user_data(**told, verify_key=made.public_key(KEY))


def test_the_longest_names_fit_into_4_kb() -> None:
    region = "ap-southeast-7"
    text = script(region=region, bucket=f"{LONG}-{region}-{'1' * 12}", prefix=f"{LONG}/{LONG}/{LONG}-etcd-1")
    assert len(text.encode()) <= 4096
    compile(text, "user-data", "exec")


def test_more_than_4_kb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made, "MOST_BYTES", 3000)
    with pytest.raises(ValueError, match=r"has \d+ bytes, more than 3000: shorten stub.py"):
        script()


def test_it_holds_where_the_bundle_lies_and_whose_signature_counts_and_nothing_else() -> None:
    text = script()
    pointer = next(line for line in text.splitlines() if line.startswith("PLACE="))
    told = json.loads(pointer.removeprefix("PLACE="))
    assert told.keys() == {"region", "bucket", "prefix", "key"}
    assert load_der_public_key(base64.b64decode(told["key"]))
    assert text.startswith("#!/usr/bin/python3\n")
    assert text == script()


def test_a_manifest_is_sealed_in_one_object_that_openssl_opens(tmp_path: Any) -> None:
    sealed = json.loads(made.signed_object(KEY, "the manifest"))
    assert sealed["manifest"] == "the manifest"
    for name, data in (
        ("data", b"the manifest"),
        ("mark", base64.b64decode(sealed["signature"])),
        ("key", base64.b64decode(made.public_key(KEY))),
    ):
        (tmp_path / name).write_bytes(data)
    words = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-keyform", "DER", "-in", "data"]
    words += ["-sigfile", "mark", "-inkey", "key"]
    assert subprocess.run(words, cwd=tmp_path, check=False).returncode == 0
    (tmp_path / "data").write_bytes(b"the manifesto")
    assert subprocess.run(words, cwd=tmp_path, check=False).returncode != 0


@pytest.mark.parametrize(
    ("service", "path", "body", "headers"),
    [
        ("s3", "/bucket/example/main/main-api-1/manifest.json", b"", {}),
        (
            "secretsmanager",
            "/",
            b'{"SecretId":"x"}',
            {"x-amz-target": "secretsmanager.GetSecretValue", "content-type": "application/x-amz-json-1.1"},
        ),
    ],
)
def test_requests_are_signed_as_botocore_signs_them(
    service: str, path: str, body: bytes, headers: dict[str, str]
) -> None:
    sent: dict[str, Any] = {}
    scope = functions(sent)
    scope["signed"](service, path, body, **headers)
    names = sent["headers"]["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    asked = AWSRequest("POST" if body else "GET", sent["url"], {name: sent["headers"][name] for name in names}, body)
    asked.context["timestamp"] = sent["headers"]["x-amz-date"]
    signer = S3SigV4Auth(Credentials(*ROLE.values()), service, "us-west-2")
    expected = signer.signature(signer.string_to_sign(asked, signer.canonical_request(asked)), asked)
    assert sent["headers"]["authorization"].endswith(f"Signature={expected}")
    assert sent.get("data") == (body or None)


def functions(sent: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """The stub's functions, without its loop; what they would ask goes into `sent`."""
    scope: dict[str, Any] = {}
    exec(script().partition("\nwhile ")[0], scope)

    def ask(url: str, **how: Any) -> str:
        sent.update(url=url, **how)
        return "{}"

    scope |= {"ask": ask, "role": ROLE}
    return scope
