"""`landbridge pki status`: what it reads out of a state, and how it says what ends when."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from landbridge.commands import pki as command
from landbridge.pki.certificates import AUTHORITY, SIGNED, Row, rows, unsound
from local.providers import tls

PREFIX = "urn:pulumi:main::landbridge::landbridge:control-plane:Machine$"
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:x"}
DAY = 24


def key() -> str:
    return str(tls._private_key({"algorithm": "ECDSA", "ecdsaCurve": "P256"})[1]["privateKeyPem"])


def resource(type_: str, name: str, outputs: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": type_, "urn": f"{PREFIX}{type_}::{name}", "outputs": {**outputs, "privateKeyPem": SECRET}, **more}


def authority(name: str, days: int = 3650) -> tuple[dict[str, Any], str, str]:
    """A resource of the state, with its certificate and its key."""
    private = key()
    inputs = {"privateKeyPem": private, "subject": {"commonName": f"main-{name}"}, "isCaCertificate": True}
    made = tls._self_signed({**inputs, "validityPeriodHours": days * DAY, "allowedUses": ["cert_signing"]})[1]
    return resource(AUTHORITY, name, made), made["certPem"], private


def signed(
    name: str, by: tuple[dict[str, Any], str, str], days: int, early: int | None = 90, **more: Any
) -> dict[str, Any]:
    _, certificate, private = by
    asked = {"privateKeyPem": key(), "subject": {"commonName": f"cn-{name}"}, "dnsNames": more.pop("names", None)}
    request = tls._request(asked)[1]["certRequestPem"]
    inputs = {"certRequestPem": request, "caCertPem": certificate, "caPrivateKeyPem": private}
    uses = ["digital_signature", *more.pop("uses", ["server_auth"])]
    made = tls._locally_signed({**inputs, "validityPeriodHours": days * DAY, "allowedUses": uses})[1]
    kept = {**made, "caCertPem": certificate, "earlyRenewalHours": early and early * DAY}
    return resource(SIGNED, name, kept, **more)


def state(*resources: dict[str, Any]) -> dict[str, Any]:
    return {
        "resources": [
            {"type": "pulumi:pulumi:Stack", "urn": "urn:pulumi:main::landbridge::pulumi:pulumi:Stack::x"},
            *resources,
        ]
    }


def now(days: float = 0) -> datetime:
    return datetime.now(UTC) + timedelta(days=days, minutes=-1)


KUBERNETES = authority("kubernetes-1")


def test_rows_say_who_signed_what_for_whom() -> None:
    found = rows(
        state(signed("api", KUBERNETES, 365, names=["a", "b"], uses=["server_auth", "client_auth"]), KUBERNETES[0])
    )
    ca, leaf = found
    assert (ca.name, ca.authority, ca.uses, ca.subject) == (
        "kubernetes-1",
        "itself",
        ("authority",),
        "main-kubernetes-1",
    )
    assert (leaf.name, leaf.authority, leaf.uses) == ("api", "kubernetes-1", ("server", "client"))
    assert (leaf.subject, leaf.names) == ("cn-api", ("a", "b"))
    assert leaf.ends is not None
    assert leaf.renewal == leaf.ends - timedelta(days=90)
    assert leaf.left(now()).days == 365


def test_a_certificate_by_somebody_else_s_authority_names_it_all_the_same() -> None:
    (row,) = rows(state(signed("api", authority("other"), 365)))
    assert row.authority == "main-other"


def test_authorities_of_a_rebuilt_cluster_are_no_resources_and_told_all_the_same() -> None:
    recovered = authority("etcd-clients-2", days=100)
    made = [signed(name, recovered, 365) for name in ("a", "b")]
    found = rows(state(*made, signed("api", KUBERNETES, 365), KUBERNETES[0]))
    assert [row.name for row in found] == ["etcd-clients-2", "kubernetes-1", "a", "api", "b"]
    assert (found[0].authority, found[0].uses, found[0].verdict(now())) == ("itself", ("authority",), "due")
    assert found[2].authority == "etcd-clients-2"


def test_no_state_has_no_rows_and_what_waits_for_deletion_is_none() -> None:
    assert rows(None) == []
    assert rows({}) == []
    assert rows(state(signed("api", KUBERNETES, 365, delete=True))) == []


def test_what_ends_first_comes_first_after_the_authorities() -> None:
    found = rows(
        state(signed("b", KUBERNETES, 365), signed("a", KUBERNETES, 365), signed("c", KUBERNETES, 30), KUBERNETES[0])
    )
    assert [row.name for row in found] == ["kubernetes-1", "c", "a", "b"]


def test_a_certificate_that_the_state_seals_or_lacks_is_unreadable() -> None:
    for outputs in ({"certPem": SECRET}, {}, {"certPem": "nonsense"}):
        (row,) = rows(state(resource(SIGNED, "x", outputs)))
        assert row.verdict(now()) == "unreadable"
        assert unsound([row], now()) == [row]


@pytest.mark.parametrize(
    ("after", "verdict"), [(0, "sound"), (274, "sound"), (276, "due"), (364, "due"), (366, "expired")]
)
def test_a_certificate_is_due_90_days_before_its_end(after: int, verdict: str) -> None:
    (_, row) = rows(state(signed("api", KUBERNETES, 365)))
    assert row.verdict(now(after)) == verdict


def test_one_that_is_never_renewed_is_sound_until_it_ends() -> None:
    for early in (None, 0):
        (_, row) = rows(state(signed("api", KUBERNETES, 365, early)))
        assert row.renewal is None
        assert [row.verdict(now(after)) for after in (364, 366)] == ["sound", "expired"]


def test_an_authority_is_due_when_it_would_end_before_what_it_signs() -> None:
    (row,) = rows(state(authority("kubernetes-1", 3650)[0]))
    assert [row.verdict(now(after)) for after in (3284, 3286, 3651)] == ["sound", "due", "expired"]


def shown(found: list[Row], at: datetime) -> str:
    console = Console(file=StringIO(), width=200, color_system="standard", force_terminal=True, highlight=False)
    command.show("main", found, at, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return str(text)


RED, YELLOW, GREEN, BOLD_RED = "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[1;31m"


@pytest.mark.parametrize(
    ("after", "text"),
    [
        (0, f"{GREEN}365 days"),
        (274, f"{GREEN}91 days"),
        (276, f"{YELLOW}89 days"),
        (336, f"{RED}29 days"),
        (363.5, f"{RED}36 hours"),
        (368, f"{BOLD_RED}expired 2 days ago"),
    ],
)
def test_the_table_warns_by_colour(after: float, text: str) -> None:
    table = shown(rows(state(signed("api", KUBERNETES, 365))), now(after))
    assert text in re.sub(r"(\x1b\[[0-9;]*m) +", r"\1", table)  # numbers stand to the right


def test_the_table_says_what_to_do() -> None:
    found = rows(state(signed("api", KUBERNETES, 365, names=["a", "b", "c"]), KUBERNETES[0], resource(SIGNED, "x", {})))
    text = shown(found, now(3400))
    assert "a, b and 1 more" in text
    assert "1 to renew: `landbridge up --refresh main`" in text
    assert "kubernetes-1: `landbridge pki rotate main`" in text
    assert "x: the state has no certificate there" in text
    assert "renew" not in shown(rows(state(signed("api", KUBERNETES, 365))), now()).partition("renewal from")[2]


def test_a_cluster_that_was_never_up_says_so() -> None:
    assert "Cluster main has no certificates: it was never up." in shown([], now())


def test_a_row_as_json() -> None:
    (_, row) = rows(state(signed("api", KUBERNETES, 365)))
    told = row.as_json(now(276))
    assert (told["name"], told["days_left"], told["verdict"]) == ("api", 89, "due")
