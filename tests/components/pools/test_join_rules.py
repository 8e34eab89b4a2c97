"""Which certificates machines get: a table of good and bad requests, made as kubelets and their imposters make them."""

import base64
import subprocess
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.components.pools.joining_bed import (
    CLIENT,
    EAST,
    SERVING,
    TABLE,
    WEST,
    attested,
    encoded,
    enrolled,
    key,
    node,
    request,
    wish,
)

import join_request  # isort: skip
import join_rules  # isort: skip

GPU, SYSTEM, ALONE, ENDED, NEW, LOST = (f"i-0123456789abcdef{n}" for n in range(6))
AWAY = "i-0fedcba9876543210"
CN, O = NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME  # noqa: E741
KEY = key()
INSTANCES = {
    GPU: join_rules.Instance(GPU, "running", "example-west-gpu", "10.128.4.7"),
    SYSTEM: join_rules.Instance(SYSTEM, "running", "example-system", "10.128.4.8"),
    ALONE: join_rules.Instance(ALONE, "running", "", "10.128.4.9"),
    ENDED: join_rules.Instance(ENDED, "terminated", "example-west-gpu", ""),
    NEW: join_rules.Instance(NEW, "pending", "example-west-gpu", "10.128.4.10"),
}


def look(instance: str, regions: Collection[str]) -> Any:
    assert set(regions) <= {WEST, EAST}
    if instance == LOST:
        return join_rules.Unsure("us-west-2 is asked")
    return INSTANCES.get(instance) if WEST in regions else None


def judge(spec: dict[str, Any], age: float = 1000, departed: Collection[str] = ()) -> join_rules.Verdict:
    owner = {"10.129.0.12": "host-2.lab", "10.129.0.13": "host-3.lab"}.get
    facts = join_rules.Facts(join_rules.pools_of(TABLE), TABLE["lans"], departed, look, owner, age)
    return join_rules.judge(spec, facts)


def pem(*arguments: Any, **given_: Any) -> str:
    return request(*arguments, made=KEY, **given_)


APPROVED = {
    "an attested instance": (wish(pem(GPU), **attested("west-gpu", GPU)), "runs in pool west-gpu"),
    "with an RSA key's usages": (
        wish(pem(GPU), uses=["key encipherment", "digital signature", "client auth"], **attested("west-gpu", GPU)),
        "runs in pool west-gpu",
    ),
    "a renewal": (wish(pem(SYSTEM), **node(SYSTEM)), "runs in pool system"),
    "a serving certificate": (wish(pem(GPU, [GPU], ["10.128.4.7"]), SERVING, **node(GPU)), "runs in pool west-gpu"),
    "an enrolled host": (wish(pem("host-1.lab"), **enrolled("lab", "host-1")), "is a host of site lab"),
    "a host's renewal": (wish(pem("host-2.lab"), **node("host-2.lab")), "is a host of site lab"),
    "a host with its planned address": (
        wish(pem("host-1.lab", ["host-1.lab"], ["10.129.0.11"]), SERVING, **node("host-1.lab")),
        "has 10.129.0.11",
    ),
    "a host with an address of its site": (
        wish(pem("host-2.lab", ["host-2.lab"], ["10.129.0.12"]), SERVING, **node("host-2.lab")),
        "has 10.129.0.12",
    ),
}


@pytest.mark.parametrize("what", APPROVED)
def test_a_machine_gets_its_own_certificates(what: str) -> None:
    spec, why = APPROVED[what]
    verdict = judge(spec)
    assert verdict.kind == "approve", verdict
    assert why in verdict.why


def without(spec: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {**spec, **other}


def armoured(data: bytes) -> str:
    text = base64.b64encode(data).decode()
    return f"-----BEGIN CERTIFICATE REQUEST-----\n{text}\n-----END CERTIFICATE REQUEST-----\n"


def body(text: str) -> bytes:
    return base64.b64decode("".join(text.splitlines()[1:-1]))


def longer(data: bytes) -> bytes:
    """With one more element behind the attributes; lengths fit."""
    whole, _ = join_request._take(data, 0, join_request.SEQUENCE)
    info, at = join_request._take(whole, 0, join_request.SEQUENCE)
    more = join_request.der(join_request.SEQUENCE, info, b"\x05\x00")
    return join_request.der(join_request.SEQUENCE, more, whole[at:])


GOOD_CLIENT = body(pem(GPU))
OWN = wish(pem(GPU), **attested("west-gpu", GPU))
SERVES = wish(pem(GPU, [GPU], ["10.128.4.7"]), SERVING, **node(GPU))
HOST = wish(pem("host-2.lab", ["host-2.lab"], ["10.129.0.12"]), SERVING, **node("host-2.lab"))
DENIED: dict[str, tuple[dict[str, Any], str]] = {
    # Another's name, by an attested machine, an enrolled host, a node.
    "another instance": (wish(pem(SYSTEM), **attested("west-gpu", GPU)), f"system:node:{GPU}, and nobody else"),
    "a host's name": (wish(pem("host-1.lab"), **attested("west-gpu", GPU)), "and nobody else"),
    "another host": (wish(pem("host-2.lab"), **enrolled("lab", "host-1")), "system:node:host-1.lab, and nobody else"),
    "a renewal for another": (wish(pem(GPU), **node(SYSTEM)), f"system:node:{SYSTEM}, and nobody else"),
    # Subjects.
    "an administrator": (
        wish(pem([(O, "system:masters"), (CN, f"system:node:{GPU}")]), **attested("west-gpu", GPU)),
        "nobody else",
    ),
    "an administrator as well": (
        wish(
            pem([(O, "system:nodes"), (O, "system:masters"), (CN, f"system:node:{GPU}")]), **attested("west-gpu", GPU)
        ),
        "nobody else",
    ),
    "no organization": (wish(pem([(CN, f"system:node:{GPU}")]), **attested("west-gpu", GPU)), "nobody else"),
    "the other way round": (
        wish(pem([(CN, f"system:node:{GPU}"), (O, "system:nodes")]), **attested("west-gpu", GPU)),
        "nobody else",
    ),
    "a unit besides": (
        wish(
            pem([(O, "system:nodes"), (NameOID.ORGANIZATIONAL_UNIT_NAME, "x"), (CN, f"system:node:{GPU}")]),
            **attested("west-gpu", GPU),
        ),
        "nobody else",
    ),
    "a name that reads like the right one": (
        wish(pem([(O, f"system:nodes, CN = system:node:{GPU}"), (CN, "x")]), **attested("west-gpu", GPU)),
        "nobody else",
    ),
    "a line end in the name": (wish(pem(f"{GPU}\nX509v3"), **attested("west-gpu", GPU)), "nobody else"),
    "a space after the name": (wish(pem(f"{GPU} "), **attested("west-gpu", GPU)), "nobody else"),
    "capital letters": (wish(pem(GPU.upper()), **attested("west-gpu", GPU)), "nobody else"),
    # Names besides.
    "a client with names": (wish(pem(GPU, [GPU]), **attested("west-gpu", GPU)), "no names but its subject"),
    "a client that asks to be an authority": (
        wish(pem(GPU, extension=x509.BasicConstraints(ca=True, path_length=None)), **attested("west-gpu", GPU)),
        "no names but its subject",
    ),
    "a server with another's name": (
        without(SERVES, request=encoded(pem(GPU, ["kubernetes"], ["10.128.4.7"]))),
        "nothing else",
    ),
    "a server with a name more": (
        without(SERVES, request=encoded(pem(GPU, [GPU, "kubernetes"], ["10.128.4.7"]))),
        "nothing else",
    ),
    "a server with another's address": (
        without(SERVES, request=encoded(pem(GPU, [GPU], ["10.128.4.8"]))),
        "IP 10.128.4.7, and nothing",
    ),
    "a server with no address": (without(SERVES, request=encoded(pem(GPU, [GPU]))), "nothing else"),
    "a server with no names": (without(SERVES, request=encoded(pem(GPU))), "nothing else"),
    "a server with an address as a name": (
        without(SERVES, request=encoded(pem(GPU, [f"{GPU}, IP Address:10.128.4.7"]))),
        "nothing else",
    ),
    "a server with a mail address": (
        without(SERVES, request=encoded(pem(GPU, [GPU], ["10.128.4.7"], others=[x509.RFC822Name("a@b")]))),
        "nothing else",
    ),
    "a server that asks to be an authority": (
        without(
            SERVES,
            request=encoded(
                pem(GPU, [GPU], ["10.128.4.7"], extension=x509.BasicConstraints(ca=True, path_length=None))
            ),
        ),
        "nothing else",
    ),
    "a host outside its site": (
        without(HOST, request=encoded(pem("host-2.lab", ["host-2.lab"], ["10.128.4.7"]))),
        "not in 10.129.0.0/22",
    ),
    "a host with another's address": (
        without(HOST, request=encoded(pem("host-2.lab", ["host-2.lab"], ["10.129.0.13"]))),
        "is the address of host-3.lab",
    ),
    "a host with another than its planned address": (
        wish(pem("host-1.lab", ["host-1.lab"], ["10.129.0.12"]), SERVING, **node("host-1.lab")),
        "its address is 10.129.0.11",
    ),
    "a host with two addresses": (
        without(HOST, request=encoded(pem("host-2.lab", ["host-2.lab"], ["10.129.0.12", "10.129.0.14"]))),
        "one address, and nothing else",
    ),
    "a host with an address of IPv6": (
        without(HOST, request=encoded(pem("host-2.lab", ["host-2.lab"], ["fd00::1"]))),
        "nothing else",
    ),
    # Who asks.
    "nobody": (
        without(OWN, username="alice", groups=["system:authenticated"], extra={}),
        "neither with an attested token",
    ),
    "a service account": (without(OWN, username="system:serviceaccount:kube-system:x", groups=[], extra={}), "neither"),
    "an administrator's request": (
        without(OWN, username="landbridge-admin", groups=["landbridge:admins"], extra={}),
        "neither",
    ),
    "the name alone": (without(OWN, extra={}), "not come from an attested token"),
    "the name without its group": (without(OWN, groups=["system:bootstrappers"]), "not come from an attested token"),
    "another instance in its token": (
        without(OWN, extra=attested("west-gpu", SYSTEM)["extra"]),
        "not come from an attested token",
    ),
    "another pool in its token": (
        without(OWN, extra=attested("system", GPU)["extra"]),
        "not come from an attested token",
    ),
    "a bootstrap token of nobody's": (
        without(OWN, username="system:bootstrap:abc123", groups=["system:bootstrappers"], extra={}),
        "neither",
    ),
    "a bootstrap token for two": (
        without(
            wish(pem("host-1.lab"), **enrolled("lab", "host-1")),
            groups=[*enrolled("lab", "host-1")["groups"], *enrolled("lab", "host-2")["groups"]],
        ),
        "neither",
    ),
    "a host nobody has": (
        wish(pem("host-9.lab"), **enrolled("lab", "host-9")),
        "no pool at site lab has a host host-9",
    ),
    "a site nobody has": (wish(pem("host-1.attic"), **enrolled("attic", "host-1")), "no pool at site attic"),
    "an instance by a bootstrap token": (wish(pem(GPU), **enrolled("west-gpu", GPU)), "no pool at site west-gpu"),
    "a node without the nodes' group": (without(wish(pem(GPU), **node(GPU)), groups=[]), "neither"),
    "a server by an attested token": (without(SERVES, **attested("west-gpu", GPU)), "own client's certificate alone"),
    "a server by an enrolled host": (without(HOST, **enrolled("lab", "host-2")), "own client's certificate alone"),
    "a node nobody has": (wish(pem("worker"), **node("worker")), "no pool has a machine worker"),
    "a host that was taken out": (wish(pem("host-9.lab"), **node("host-9.lab")), "no pool has a machine host-9.lab"),
    # What the cloud says.
    "an instance outside all groups": (
        wish(pem(ALONE), **attested("west-gpu", ALONE)),
        "in no scaling group of pool west-gpu",
    ),
    "an instance of another pool": (
        wish(pem(SYSTEM), **attested("west-gpu", SYSTEM)),
        "in no scaling group of pool west-gpu",
    ),
    "an instance of another region": (wish(pem(GPU), **attested("east-gpu", GPU)), f"no instance {GPU} in us-east-1"),
    "an ended instance": (wish(pem(ENDED), **attested("west-gpu", ENDED)), "is terminated"),
    "an ended instance's renewal": (wish(pem(ENDED), **node(ENDED)), "is terminated"),
    "an instance nobody knows": (wish(pem(AWAY), **attested("west-gpu", AWAY)), f"no instance {AWAY} in us-west-2"),
    "a renewal of one nobody knows": (wish(pem(AWAY), **node(AWAY)), f"no instance {AWAY} in us-east-1, us-west-2"),
    "one outside all groups that renews": (wish(pem(ALONE), **node(ALONE)), "in no scaling group of any pool"),
    # Usages.
    "a client that would serve": (without(OWN, usages=["digital signature", "server auth"]), "its usages"),
    "a client that would serve, too": (
        without(OWN, usages=["digital signature", "client auth", "server auth"]),
        "its usages",
    ),
    "a usage twice": (without(OWN, usages=["digital signature", "digital signature", "client auth"]), "its usages"),
    "no usages": (without(OWN, usages=None), "its usages"),
    "an authority": (without(OWN, usages=["digital signature", "client auth", "cert sign"]), "its usages"),
    "a server as a client": (
        without(SERVES, signerName=CLIENT, usages=["digital signature", "client auth"]),
        "no names but its subject",
    ),
    # What is no request.
    "two requests": (without(OWN, request=encoded(pem(GPU) + pem("x"))), "not a kubelet's request"),
    "a word before": (without(OWN, request=encoded("x\n" + pem(GPU))), "not a kubelet's request"),
    "headers": (
        without(OWN, request=encoded(pem(GPU).replace("REQUEST-----\n", "REQUEST-----\nA: b\n\n", 1))),
        "not a kubelet's request",
    ),
    "a certificate": (
        without(OWN, request=encoded(pem(GPU).replace("CERTIFICATE REQUEST", "CERTIFICATE"))),
        "not a kubelet's request",
    ),
    "bytes after it": (without(OWN, request=encoded(armoured(GOOD_CLIENT + b"\0"))), "something stands after it"),
    "another element after its attributes": (
        without(OWN, request=encoded(armoured(longer(GOOD_CLIENT)))),
        "something stands after its attributes",
    ),
    "a length that is not the shortest": (
        without(OWN, request=encoded(armoured(b"\x30\x83\0" + GOOD_CLIENT[2:]))),
        "DER",
    ),
    "nothing": (without(OWN, request=""), "not a kubelet's request"),
    "no text": (without(OWN, request=base64.b64encode(b"\xff" * 40).decode()), "not a kubelet's request"),
}


@pytest.mark.parametrize("what", DENIED)
def test_everything_else_is_denied_with_a_reason(what: str) -> None:
    spec, why = DENIED[what]
    verdict = judge(spec)
    assert verdict.kind == "deny", verdict
    assert why in verdict.why
    assert verdict.why.isprintable()
    assert len(verdict.why) < 300


def test_other_signers_are_left_to_others() -> None:
    for signer in ("kubernetes.io/kube-apiserver-client", "example.com/x", "kubernetes.io/legacy-unknown", None):
        assert judge(without(OWN, signerName=signer)).kind == "leave"


def test_a_departed_machine_gets_nothing_though_it_runs() -> None:
    for spec in (OWN, SERVES, wish(pem(GPU), **node(GPU))):
        verdict = judge(spec, departed={GPU})
        assert verdict.kind == "deny"
        assert "has gone" in verdict.why


def test_what_the_cloud_does_not_know_yet_waits_a_while() -> None:
    unknown, starting = wish(pem(AWAY), **attested("west-gpu", AWAY)), wish(pem(NEW), **attested("west-gpu", NEW))
    assert [judge(spec, age).kind for spec in (unknown, starting) for age in (10, 1000)] == ["wait", "deny"] * 2
    lost = wish(pem(LOST), **attested("west-gpu", LOST))
    assert [judge(lost, age).kind for age in (10, 100_000)] == ["wait", "wait"], "no answer is no answer"


@settings(max_examples=300)
@given(st.binary(max_size=400))
def test_no_bytes_make_the_reader_fail_otherwise(data: bytes) -> None:
    with pytest.raises(join_request.Malformed):
        join_request.subject_fields(armoured(data))


GOOD_BODY = body(pem(GPU, [GPU], ["10.128.4.7"]))


@settings(max_examples=300)
@given(st.integers(0, len(GOOD_BODY) - 1), st.integers(0, 255))
def test_one_byte_more_than_the_key_and_the_signature_is_seen(at: int, value: int) -> None:
    """A changed byte is refused, or it changed nothing of what is asked for."""
    data = bytearray(GOOD_BODY)
    data[at] = value
    try:
        parts = join_request.subject_fields(armoured(bytes(data)))
    except join_request.Malformed:
        return
    asks = (
        parts.subject in join_request.subjects(GPU),
        parts.attributes == join_request.alternative_names([GPU], [bytes([10, 128, 4, 7])]),
    )
    if bytes(data) != GOOD_BODY and asks == (True, True):
        key_begins = GOOD_BODY.index(bytes.fromhex("2a8648ce3d0201"))
        attributes = GOOD_BODY.index(parts.attributes)
        signature = attributes + len(parts.attributes)
        # Version, subject and attributes are as they were: only the key, and how it is signed, may differ.
        assert key_begins - 4 <= at < attributes or at >= signature


@pytest.mark.parametrize(("mask", "kind"), [("utf8only", 1), ("default", 0)])
def test_the_bytes_are_those_of_openssl(tmp_path: Path, mask: str, kind: int) -> None:
    """Go writes the subject as the printable kind of text where it can, others as UTF-8."""
    lines = ["[req]", "prompt=no", "distinguished_name=dn", f"string_mask={mask}", "req_extensions=more"]
    lines += ["[dn]", "O=system:nodes", f"CN=system:node:{GPU}", "[more]", f"subjectAltName=DNS:{GPU},IP:10.128.4.7"]
    (tmp_path / "cnf").write_text("\n".join(lines))
    made = [
        "openssl",
        "req",
        "-new",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "/dev/null",
        "-config",
        tmp_path / "cnf",
    ]
    text = subprocess.run(made, capture_output=True, text=True, check=True).stdout
    parts = join_request.subject_fields(text)
    assert parts.subject == join_request.subjects(GPU)[kind]
    assert parts.attributes == join_request.alternative_names([GPU], [bytes([10, 128, 4, 7])])
