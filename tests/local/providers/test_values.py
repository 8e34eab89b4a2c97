"""Wire values, comparison, strict checks, and the plugins whose resources are values."""

import datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from hypothesis import given
from hypothesis import strategies as st

from local.providers import sdk_types
from local.providers.aws.drift import overlay
from local.providers.aws.engine import render
from local.providers.aws.kinds import ID, Added, P, Removed
from local.providers.codec import UNKNOWN, decode, encode, has_unknown
from local.providers.compare import changed_paths, same
from local.providers.randoms import Random
from local.providers.servicer import ProviderError
from local.providers.tls import Tls

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**50), 2**50) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), json_values))
def test_values_survive_the_wire(values: dict[str, object]) -> None:
    assert decode(encode(values)) == {key: value for key, value in values.items() if value is not None}


def test_an_unknown_is_found_wherever_it_hides() -> None:
    assert has_unknown({"a": [{"b": UNKNOWN}]})
    assert not has_unknown({"a": [{"b": "known"}]})


def test_order_of_lists_and_form_of_json_are_no_change() -> None:
    assert same(["a", "b"], ["b", "a"])
    assert same('{"a": [1, 2]}', '{"a":[2,1]}')
    assert changed_paths({"tags": {"x": "1", "y": "2"}, "z": 1}, {"tags": {"x": "1", "y": "3"}}) == {
        "tags.y": "UPDATE",
        "z": "DELETE",
    }
    assert changed_paths({"a": "x"}, {"a": UNKNOWN}) == {"a": "UPDATE"}


def test_only_real_drift_shows() -> None:
    assert overlay({"a": 1}, {"a": 1, "cloud": "own"}) == {"a": 1}
    assert overlay([{"id": "x"}], [{"id": "x", "more": True}]) == [{"id": "x"}]
    assert overlay(["a"], ["a", "b"]) == ["a", "b"]
    assert overlay({"Name": "n"}, {"Name": "n", "added": "1"}) == {"Name": "n", "added": "1"}


def test_templates_leave_out_what_is_not_set() -> None:
    context = {"inputs": {"a": 1, "new": ["x", "y"]}, "olds": {"new": ["y", "z"]}, "id": "i-1", "state": {}}
    template = {
        "A": P("a"),
        "B": P("b"),
        "C": P("c", default=3),
        "Id": [ID],
        "In": Added("new"),
        "Out": Removed("new"),
        "E": {"F": P("f")},
    }
    assert render(template, context) == {"A": 1, "C": 3, "Id": ["i-1"], "In": ["x"], "Out": ["z"]}


@pytest.mark.parametrize(
    ("token", "inputs", "path", "reason"),
    [
        ("aws:ec2/nothing:Nothing", {}, "", "has no resource type aws:ec2/nothing:Nothing"),
        ("aws:ec2/subnet:Subnet", {"vpcId": "v", "cidrBlok": "x"}, "cidrBlok", "did you mean cidrBlock?"),
        ("aws:ec2/subnet:Subnet", {"cidrBlock": "10.0.0.0/24"}, "vpcId", "required and missing"),
        ("aws:ec2/vpc:Vpc", {"cidrBlock": 12345}, "cidrBlock", "expected text, got 12345"),
        ("aws:ec2/vpc:Vpc", {"enableDnsSupport": "yes"}, "enableDnsSupport", "expected true or false"),
        ("aws:ec2/vpc:Vpc", {"tags": {"a": 1}}, "tags.a", "expected text"),
        (
            "aws:efs/fileSystem:FileSystem",
            {"lifecyclePolicies": [{"transitionToIa": 3}]},
            "lifecyclePolicies[0].transitionToIa",
            "expected text",
        ),
        (
            "aws:efs/fileSystem:FileSystem",
            {"lifecyclePolicies": [{"wrong": "x"}]},
            "lifecyclePolicies[0].wrong",
            "no such property",
        ),
        (
            "aws:s3/bucketVersioning:BucketVersioning",
            {"bucket": "b"},
            "versioningConfiguration",
            "required and missing",
        ),
        (
            "tls:index/privateKey:PrivateKey",
            {"algorithm": "RSA", "rsaBits": "many"},
            "rsaBits",
            "expected a whole number",
        ),
    ],
)
def test_a_wrong_property_is_named_with_its_path(token: str, inputs: dict[str, object], path: str, reason: str) -> None:
    found = sdk_types.mistakes(token, inputs)
    assert any(mistake.path == path and reason in mistake.reason for mistake in found), found


def test_unknown_values_pass_the_check_of_types() -> None:
    assert sdk_types.mistakes("aws:ec2/subnet:Subnet", {"vpcId": UNKNOWN, "tags": UNKNOWN}) == []


def made(backend: Random | Tls, token: str, **inputs: object) -> dict[str, object]:
    return backend.create(token, backend.check(token, "n", {}, dict(inputs), b""))[1]


@given(st.integers(8, 64), st.integers(0, 2), st.integers(0, 2))
def test_passwords_hold_their_minimum_counts(length: int, numbers: int, specials: int) -> None:
    result = str(
        made(
            Random(),
            "random:index/randomPassword:RandomPassword",
            length=length,
            minNumeric=numbers,
            minSpecial=specials,
        )["result"]
    )
    assert len(result) == length
    assert sum(char.isdigit() for char in result) >= numbers
    assert sum(not char.isalnum() for char in result) >= specials


def test_random_values_are_random_and_bounded() -> None:
    backend = Random()
    assert (
        made(backend, "random:index/randomUuid:RandomUuid")["result"]
        != made(backend, "random:index/randomUuid:RandomUuid")["result"]
    )
    assert 3 <= int(str(made(backend, "random:index/randomInteger:RandomInteger", min=3, max=5)["result"])) <= 5
    assert sorted(made(backend, "random:index/randomShuffle:RandomShuffle", inputs=["a", "b"])["results"]) == ["a", "b"]  # type: ignore[call-overload]
    with pytest.raises(ProviderError, match="below the sum"):
        made(backend, "random:index/randomString:RandomString", length=2, minLower=3)


def test_a_certificate_chain_is_good_to_cryptography() -> None:
    backend = Tls()
    ca_key = made(backend, "tls:index/privateKey:PrivateKey", algorithm="ECDSA", ecdsaCurve="P384")
    ca = made(
        backend,
        "tls:index/selfSignedCert:SelfSignedCert",
        privateKeyPem=ca_key["privateKeyPem"],
        isCaCertificate=True,
        validityPeriodHours=48,
        allowedUses=["cert_signing", "crl_signing"],
        subject={"commonName": "ca.example.com"},
    )
    key = made(backend, "tls:index/privateKey:PrivateKey", algorithm="ED25519")
    request = made(
        backend,
        "tls:index/certRequest:CertRequest",
        privateKeyPem=key["privateKeyPem"],
        dnsNames=["api.example.com"],
        ipAddresses=["192.0.2.1"],
        subject={"commonName": "api"},
    )
    leaf = made(
        backend,
        "tls:index/locallySignedCert:LocallySignedCert",
        certRequestPem=request["certRequestPem"],
        caPrivateKeyPem=ca_key["privateKeyPem"],
        caCertPem=ca["certPem"],
        validityPeriodHours=24,
        allowedUses=["server_auth", "digital_signature"],
    )
    issuer, certificate = (x509.load_pem_x509_certificate(str(pem["certPem"]).encode()) for pem in (ca, leaf))
    certificate.verify_directly_issued_by(issuer)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["api.example.com"]
    assert certificate.not_valid_after_utc - certificate.not_valid_before_utc == datetime.timedelta(hours=24)
    assert (
        serialization.load_pem_private_key(str(key["privateKeyPem"]).encode(), None).public_key()
        == certificate.public_key()
    )


def test_a_certificate_due_for_renewal_is_gone_at_the_next_refresh() -> None:
    backend, token = Tls(), "tls:index/selfSignedCert:SelfSignedCert"
    key = made(backend, "tls:index/privateKey:PrivateKey", algorithm="ED25519")
    common = {"privateKeyPem": key["privateKeyPem"], "validityPeriodHours": 10, "allowedUses": ["server_auth"]}
    fresh, due = (
        made(backend, token, **common, earlyRenewalHours=9),
        made(backend, token, **common, earlyRenewalHours=10),
    )
    assert backend.read(token, "1", {}, fresh) is not None
    assert backend.read(token, "1", {}, due) is None
