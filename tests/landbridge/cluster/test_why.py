"""Why a machine is no Ready node: which of all that it and the cluster say is told."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from landbridge.cluster import why
from landbridge.remote_execution import CommandResult, RemoteExecutionError

UP = ("active", "active")
# As kubelets say it, Go's and the one of the local cloud.
WORDS = {
    "can't verify the API server's certificate": [
        'E0102 03:04:05 reflector.go:1] "tls: failed to verify certificate: x509: certificate signed by unknown authority"',
        "URLError: <urlopen error [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate>",
    ],
    "meets an expired certificate, or has one": ["x509: certificate has expired or is not yet valid: current time …"],
    "shows a credential that the API server does not take": ["Unable to register node: Unauthorized"],
    "is refused by the API server's address": ["dial tcp 192.0.2.1:6443: connect: connection refused"],
    "has no route to the API server": ["dial tcp 192.0.2.1:6443: connect: no route to host"],
    "can't resolve a name": ["dial tcp: lookup main.fleet.example.com: no such host"],
    "gets no answer in time": ["error: context deadline exceeded", "URLError: <urlopen error timed out>"],
}


@pytest.mark.parametrize(("told", "line"), [(told, line) for told, lines in WORDS.items() for line in lines])
def test_a_kubelet_s_words_have_a_meaning(told: str, line: str) -> None:
    said = why.reason(why.KUBELET, UP, "… boot: done", ["starting", line, "again in 5 s"])
    assert said.startswith(f"its kubelet {told}")


@pytest.mark.parametrize(
    ("states", "boot", "words", "told"),
    [
        (UP, "… boot: waiting for its disk", ["error"], "its boot stands at: … boot: waiting for its disk"),
        (("failed", "activating"), "", ["error: x"], "its unit containerd is failed"),
        (("active", "inactive"), "", ["all is well"], "its unit kubelet is inactive"),
        (("active", "failed"), "", ["what now"], "its unit kubelet is failed"),
        (
            ("active", "failed"),
            "",
            ["error: no such host"],
            "its unit kubelet is failed: its kubelet can't resolve a name",
        ),
        (UP, "", ["failed to mount /srv", "done"], "its kubelet says: failed to mount /srv"),
        (UP, "", ["all is well"], ""),
    ],
)
def test_what_comes_first_is_told_first(states: Sequence[str], boot: str, words: list[str], told: str) -> None:
    assert why.reason(why.KUBELET, states, boot, words) == told


def test_long_words_are_cut() -> None:
    said = why.reason(why.KUBELET, UP, "", [f"error {'x' * 900}"])
    assert len(said) < why.SIGNS + 30
    assert said.endswith("…")


def session(out: str | None, joining: str | None = None, *requests: dict[str, Any]) -> Any:
    def run(machine: str, argv: Sequence[str], **_: Any) -> CommandResult:
        told = joining if machine == "main-api-1" else out
        if told is None:
            raise RemoteExecutionError(f"there is no {machine}")
        assert argv[-1] == (why.JOINING if machine == "main-api-1" else why.KUBELET)
        return CommandResult(0, told, "")

    return SimpleNamespace(
        remote=SimpleNamespace(run=run),
        admin=SimpleNamespace(get=lambda _: {"items": list(requests)}),
        world=SimpleNamespace(fleet=SimpleNamespace(pools={"gpu": SimpleNamespace(region="south")})),
        info=SimpleNamespace(machines={name: SimpleNamespace(role=name[5:8]) for name in ("main-api-1", "main-etc-1")}),
    )


def node(status: str, message: str) -> dict[str, Any]:
    return {"status": {"conditions": [{"type": "Ready", "status": status, "message": message}]}}


def test_a_node_s_own_words_come_before_its_machine_s() -> None:
    own = node("False", "cni plugin not initialized")
    assert why.not_ready(session(None), "one", own) == "the cluster says of it: cni plugin not initialized"
    out = "active\nactive\n---\n2026 boot: done\n---\nerror: connection refused\n"
    silent = node("Unknown", "Kubelet stopped posting node status.")
    assert why.not_ready(session(out), "one", silent) == "its kubelet is refused by the API server's address"


def test_a_machine_that_lets_nobody_in_is_told_of_by_the_cluster_alone() -> None:
    silent = node("Unknown", "Kubelet stopped posting node status.")
    assert why.not_ready(session(None), "one", silent) == "the cluster says of it: Kubelet stopped posting node status."
    assert why.not_ready(session(None), "one", None) == ""


def request(name: str, *conditions: str) -> dict[str, Any]:
    return {"spec": {"username": name}, "status": {"conditions": [{"type": one} for one in conditions]}}


def test_a_request_for_a_certificate_that_nobody_decides_on_is_told_with_what_the_decider_waits_for() -> None:
    silent = node("Unknown", "Kubelet stopped posting node status.")
    old, new = request("system:node:one", "Approved"), request("system:bootstrappers:landbridge:gpu:one")
    joining = "active\n---\n---\nAzure in south does not tell its instances: 403\nthe lease is ours\n"
    untold = "its request for a certificate waits: Azure in south does not tell its instances: 403"
    assert why.not_ready(session(None, joining, old, new), "one", silent) == untold
    assert why.not_ready(session(None, None, old, new), "one", silent) == "its request for a certificate waits"
    assert why.not_ready(session(None, joining, old), "one", silent).startswith("the cluster says of it")
    assert why.not_ready(session(None, joining, new), "two", silent).startswith("the cluster says of it")
    over = joining + "Azure in south tells its instances again\n"
    other = joining.replace("in south", "in north")
    for told in (over, other):
        assert why.not_ready(session(None, told, new), "one", silent) == "its request for a certificate waits"
