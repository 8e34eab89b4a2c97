"""The webhook's own part: what it keeps, how much it does at once, what it answers when AWS does not."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.components.pools.joining_bed import SETTINGS, TABLE
from tests.components.pools.test_join_token import GOOD, answer, closed, made, opened

import join_token  # isort: skip
import join_webhook  # isort: skip

INSTANCE = "system:bootstrappers:landbridge:west-gpu:i-0123456789abcdef0"


class Sts:
    """Answers in the name of AWS; `problem` is what it does instead."""

    def __init__(self) -> None:
        self.asked = self.most = self.now = 0
        self.problem: Exception | None = None
        self.seconds = 0.0
        self.lock = threading.Lock()

    def __call__(self, _asked: join_token.IdentityRequest, _trust: Any) -> bytes:
        with self.lock:
            self.asked += 1
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(self.seconds)
        with self.lock:
            self.now -= 1
        if self.problem:
            raise self.problem
        return answer(GOOD)


@pytest.fixture
def sts(monkeypatch: pytest.MonkeyPatch) -> Sts:
    made = Sts()
    monkeypatch.setattr(join_webhook, "ask_sts", made)
    return made


def reviewer() -> join_webhook.Reviewer:
    made = join_webhook.Reviewer(SETTINGS)
    made.learn(TABLE)
    return made


@pytest.fixture
def port(sts: Sts) -> Iterator[int]:
    """Of the webhook, without TLS."""
    handler = type("Bound", (join_webhook.Handler,), {"reviewer": reviewer()})
    server = join_webhook.Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def review(token: Any, **other: Any) -> bytes:
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
    return json.dumps(asked | other).encode()


def call(port: int, body: bytes) -> tuple[int, Any, Any]:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    line.request("POST", "/", body)
    found = line.getresponse()
    told = json.loads(found.read())
    line.close()
    return found.status, told, found.headers


def test_a_good_token_is_asked_about_once(port: int, sts: Sts) -> None:
    token = made()
    for _ in range(3):
        status, told, _ = call(port, review(token))
        assert (status, told["status"]["user"]["username"]) == (200, INSTANCE)
        assert told["status"]["authenticated"] is True
    assert sts.asked == 1


def test_a_bad_one_is_told_nothing_and_a_strange_one_never_leaves_the_machine(
    port: int, sts: Sts, capsys: pytest.CaptureFixture[str]
) -> None:
    sts.problem = join_token.BadToken("STS answers 403: SignatureDoesNotMatch")
    token = made()
    for _ in range(2):
        status, told, _ = call(port, review(token))
        assert (status, told["status"]) == (200, {"authenticated": False})
    assert sts.asked == 1
    assert capsys.readouterr().err == "refused a token: STS answers 403: SignatureDoesNotMatch\n"
    for strange in ("", "abcdef.0123456789abcdef", "Landbridge-aws.x", " " + token, "\ud800"):
        assert call(port, review(strange))[1]["status"] == {"authenticated": False}
    assert capsys.readouterr().err == "", "other tokens are nobody's news"
    assert sts.asked == 1


def test_when_aws_does_not_answer_the_api_server_is_to_ask_again(port: int, sts: Sts) -> None:
    sts.problem, token = join_webhook.Unavailable("no route"), made()
    status, told, headers = call(port, review(token))
    assert (status, told, headers["retry-after"]) == (503, {}, "1")
    sts.problem = None
    assert call(port, review(token))[0] == 200, "it was not kept"


def test_no_more_than_so_many_questions_at_a_time(monkeypatch: pytest.MonkeyPatch, sts: Sts) -> None:
    monkeypatch.setattr(join_webhook, "AT_ONCE", 4)
    monkeypatch.setattr(join_webhook, "WAIT_SECONDS", 0.05)
    sts.seconds = 0.5
    asked, found = reviewer(), list[int]()
    tokens = [
        closed(opened(made()) | {"headers": opened(made())["headers"] | {"x-amz-security-token": f"t{n}"}})
        for n in range(12)
    ]
    threads = [threading.Thread(target=lambda t=t: found.append(asked.answer(review(t))[0])) for t in tokens]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sts.most == 4
    assert sorted(found) == [200] * 4 + [503] * 8


def test_what_is_kept_is_bounded_and_ends(monkeypatch: pytest.MonkeyPatch, sts: Sts) -> None:
    monkeypatch.setattr(join_webhook, "MAX_CACHED", 3)
    asked, token = reviewer(), made()
    for number in range(10):
        asked._keep(bytes([number]), None, 60)
    assert len(asked.cached) == 3
    asked.review(token)
    later = time.monotonic() + join_webhook.GOOD_SECONDS + 1
    monkeypatch.setattr(join_webhook.time, "monotonic", lambda: later)
    asked.review(token)
    assert sts.asked == 2


def test_as_long_as_no_pool_is_known_nobody_is(sts: Sts) -> None:
    early = join_webhook.Reviewer(SETTINGS)
    assert early.review(made()) is None
    assert sts.asked == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff",
        b"[" * 50_000,
        review(None),
        review(7),
        review("x", kind="SubjectAccessReview"),
        review("x", apiVersion="authentication.k8s.io/v1beta1"),
        b'{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview"}',
    ],
)
def test_what_is_no_review_is_a_bad_request(port: int, body: bytes) -> None:
    assert call(port, body)[:2] == (400, {})


def test_a_mistake_of_ours_is_an_error_and_no_user(
    port: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(*_: Any) -> Any:
        raise KeyError("x")

    monkeypatch.setattr(join_token, "who", wrong)
    status, told, _ = call(port, review(made()))
    assert (status, told) == (500, {})
    assert capsys.readouterr().err == "ERROR: a token was not judged: KeyError: 'x'\n"
