"""What a machine of Azure shows when it joins: nothing counts but what Azure has signed, now, for this cluster."""

import base64
import functools
import http.server
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.components.pools.azure.documents import SUBSCRIPTION, VM, Chain, content, in_der
from tests.components.pools.joining_bed import CLUSTER, SETTINGS, TABLE

import attest_azure  # isort: skip
import join_document  # isort: skip
import join_token  # isort: skip
import join_webhook  # isort: skip

POOL, REGION, NODE = "south-gpu", "southcentralus", "example-south-gpu-1-00000a"
POOLS = {POOL: REGION}


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    return Chain(tmp_path_factory.mktemp("chain"))


def now_nonce(cluster: str = CLUSTER, ago: int = 0) -> str:
    return attest_azure.nonce(cluster, datetime.now(UTC), ago)


def closed(told: Any) -> str:
    text = told if isinstance(told, str) else json.dumps(told)
    return attest_azure.PREFIX + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def shown(chain: Chain, document: str, **other: Any) -> dict[str, Any]:
    return {"pool": POOL, "node": NODE, "document": document, "issuers": [chain.issuer], **other}


def judged(chain: Chain, document: str, **other: Any) -> join_token.Machine:
    told = join_document.read(closed(shown(chain, document, **other)), POOLS)
    found = join_document.verified(told, chain.trust)
    return join_document.who(found, told, CLUSTER, SUBSCRIPTION, datetime.now(UTC))


def test_a_document_of_now_tells_the_machine_and_its_user_names_all_three(chain: Chain) -> None:
    machine = judged(chain, chain.signed(content(now_nonce())))
    assert machine == join_token.Machine(POOL, NODE, VM)
    user = join_token.user(machine)
    assert user["username"] == f"system:bootstrappers:landbridge:{POOL}:{NODE}"
    assert user["extra"] == {
        "landbridge.dev/pool": [POOL],
        "landbridge.dev/instance": [NODE],
        "landbridge.dev/vm": [VM],
    }


@pytest.mark.parametrize("name", ["metadata.azure.com", "*.metadata.azure.com", f"{REGION}.metadata.azure.com"])
def test_a_signer_may_be_azure_s_or_the_region_s(chain: Chain, name: str) -> None:
    assert judged(chain, chain.signed(content(now_nonce()), name)).vm == VM


BAD_SIGNERS = ("metadata.azure.com.example.com", "example.com", "westeurope.metadata.azure.com", "azure.com")


@pytest.mark.parametrize("name", BAD_SIGNERS)
def test_whoever_else_has_a_certificate_signs_nothing(chain: Chain, name: str) -> None:
    with pytest.raises(join_token.BadToken, match="somebody who is not metadata"):
        judged(chain, chain.signed(content(now_nonce()), name))


def test_a_signer_whom_nobody_trusts_or_whose_issuer_is_missing_counts_for_nothing(
    chain: Chain, tmp_path: Path
) -> None:
    good, other = content(now_nonce()), Chain(tmp_path)
    for document, issuers in (
        (other.signed(good), [other.issuer]),
        (chain.signed(good), []),
        (chain.signed(good, days=-1), [chain.issuer]),
    ):
        with pytest.raises(join_token.BadToken, match="not signed by anybody whom this machine trusts"):
            judged(chain, document, issuers=issuers)


def test_an_altered_document_counts_for_nothing(chain: Chain) -> None:
    raw = base64.b64decode(chain.signed(content(now_nonce())))
    altered = raw.replace(VM.encode(), VM.replace("0", "1").encode())
    assert altered != raw
    with pytest.raises(join_token.BadToken, match="not what was signed"):
        judged(chain, base64.b64encode(altered).decode())


BAD_CONTENTS: dict[str, tuple[Any, str]] = {
    "another cluster's": (lambda: content(now_nonce("example/other")), "not one of now for example/main"),
    "of a while ago": (lambda: content(now_nonce(ago=3)), "not one of now"),
    "Azure's own number": (lambda: content("20261125-100000"), "not one of now"),
    "another subscription's": (
        lambda: content(now_nonce(), subscriptionId="00000000-0000-0000-0000-000000000001"),
        "not of the fleet's",
    ),
    "over": (lambda: content(now_nonce(), timeStamp={"expiresOn": "11/28/18 06:16:17 -0000"}), "document ended"),
    "without an end": (lambda: content(now_nonce(), timeStamp={}), "no moment"),
    "without times": (lambda: content(now_nonce(), timeStamp="x"), "no moment"),
    "of no machine": (lambda: content(now_nonce(), vmId=""), "is none"),
    "no table": (lambda: [1], "no table"),
    "no JSON": (lambda: b"x", "no JSON"),
}


@pytest.mark.parametrize("case", BAD_CONTENTS)
def test_what_azure_has_signed_for_another_use_counts_for_nothing(chain: Chain, case: str) -> None:
    make, words = BAD_CONTENTS[case]
    with pytest.raises(join_token.BadToken, match=words):
        judged(chain, chain.signed(make()))


BAD_TOKENS: dict[str, Any] = {
    "another pool": {"pool": "west-gpu"},
    "no name of a set's": {"node": "i-0123456789abcdef0"},
    "a name in capitals": {"node": NODE.upper()},
    "a line end": {"node": f"{NODE}\n"},
    "many issuers": {"issuers": ["AA=="] * 4},
    "a large issuer": {"issuers": [base64.b64encode(b"x" * 5000).decode()]},
    "no issuers": {"issuers": None},
    "no document": {"document": 7},
    "no base64": {"document": "§"},
    "something more": {"more": 1},
}


@pytest.mark.parametrize("case", BAD_TOKENS)
def test_a_token_is_exactly_what_attest_makes(chain: Chain, case: str) -> None:
    told = shown(chain, "AA==") | BAD_TOKENS[case]
    with pytest.raises(join_token.BadToken):
        join_document.read(closed(told), POOLS)


@given(st.text(max_size=200))
def test_whatever_comes_is_refused_and_breaks_nothing(text: str) -> None:
    with pytest.raises(join_token.BadToken):
        join_document.read(attest_azure.PREFIX + text, POOLS)


def test_a_number_is_good_for_minutes_and_has_azure_s_ten_digits() -> None:
    now = datetime.now(UTC)
    number = attest_azure.nonce(CLUSTER, now)
    assert len(number) == 10
    assert number.isdigit()
    assert number != attest_azure.nonce(CLUSTER, now + timedelta(minutes=11))
    assert timedelta(0) < join_document.ends(now) - now <= attest_azure.WINDOW


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def published(tmp_path: Path) -> Iterator[str]:
    """An address where an issuer may lie, as authorities publish theirs."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/issuer.cer"
    server.shutdown()
    server.server_close()


def test_attest_brings_the_issuers_that_the_document_names_and_the_webhook_takes_it(
    published: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With metadata of a stand-in; all else is as on machines."""
    own = Chain(tmp_path, published)
    (tmp_path / "issuer.cer").write_bytes(base64.b64decode(own.issuer))
    asked = []

    def metadata(path: str, version: str, **query: str) -> Any:
        asked.append((path, version))
        return {"encoding": "pkcs7", "signature": own.signed(content(query["nonce"]))}

    monkeypatch.setattr(attest_azure, "metadata", metadata)
    monkeypatch.setattr(
        attest_azure, "instance", lambda: {"compute": {"osProfile": {"computerName": NODE.replace("0a", "0A")}}}
    )
    token = attest_azure.made({"cluster": CLUSTER, "pool": POOL})
    assert asked == [("attested/document", "2020-09-01")]
    monkeypatch.setenv("SSL_CERT_FILE", str(own.file))
    reviewer = join_webhook.Reviewer(SETTINGS)
    pool = {"place": REGION, "site": False, "groups": [], "hosts": {}, "gpus": 8, "cloud": "azure"}
    table = {**TABLE, "pools": {**TABLE["pools"], POOL: pool}, "azure": {"subscription": SUBSCRIPTION}}
    assert reviewer.review(token) is None, "of nobody, until the pools are known"
    reviewer.cached.clear()
    reviewer.learn(table)
    user = reviewer.review(token)
    assert user is not None
    assert user["username"].endswith(f":{POOL}:{NODE}")
    monkeypatch.setenv("SSL_CERT_FILE", "/dev/null")
    assert reviewer.review(token) == user, "remembered for a while"
    reviewer.cached.clear()
    assert reviewer.review(token) is None


def test_issuers_of_issuers_come_along_and_lead_to_whom_everybody_trusts(published: str, tmp_path: Path) -> None:
    own = Chain(tmp_path, published, above_at=published.replace("issuer.cer", "above.cer"))
    (tmp_path / "issuer.cer").write_bytes(base64.b64decode(own.issuer))
    document = own.signed(content(now_nonce()))
    assert attest_azure.issuers(document) == [own.issuer], "the other is not to be had"
    (tmp_path / "above.cer").write_bytes(base64.b64decode(in_der(own.above)))
    found = attest_azure.issuers(document)
    assert found == [own.issuer, in_der(own.above)]
    assert judged(own, document, issuers=found)
    with pytest.raises(join_token.BadToken, match="whom this machine trusts"):
        judged(own, document, issuers=found[:1])


def test_a_circle_of_issuers_ends(published: str, tmp_path: Path) -> None:
    own = Chain(tmp_path, published, above_at=published)
    (tmp_path / "issuer.cer").write_bytes(base64.b64decode(own.issuer))
    assert attest_azure.issuers(own.signed(content("1"))) == [own.issuer]


def test_a_document_whose_issuer_is_not_to_be_had_is_shown_without(tmp_path: Path) -> None:
    own = Chain(tmp_path, "http://127.0.0.1:9/issuer.cer")
    assert attest_azure.issuers(own.signed(content("1"))) == []
    assert attest_azure.issuers(Chain(tmp_path).signed(content("1"))) == []
    assert attest_azure.issuers("AA==") == []
