"""What metrics-server tells, whom it trusts and who trusts it. test_metrics_api.py runs these in a network of their own."""

import base64
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from components.addons.monitoring import metrics_api
from components.addons.spec import AddOnsSpec
from services import api_certificate
from tests.components.addons.monitoring import top as beds
from tests.components.addons.monitoring.top import MIB, NODE, PERSON, POD, STRANGER, TEAM, Top
from tests.support.waiting import eventually

PATH = f"/apis/apiregistration.k8s.io/v1/apiservices/{metrics_api.API}"


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory, example: AddOnsSpec) -> Iterator[Top]:
    with beds.top(tmp_path_factory.mktemp("top"), example) as made:
        made.certificate()
        made.serve()
        yield made


def available(top: Top) -> None:
    eventually(lambda: top.available()[0] == "True", 120)


def test_kubectl_top_tells_what_nodes_use(top: Top) -> None:
    available(top)
    (row,) = eventually(lambda: found if (found := rows(top, "nodes")) else None, 120)
    name, cores, _, memory, _ = row
    assert name == NODE[0]
    assert int(cores.removesuffix("m")) > 0
    assert int(memory.removesuffix("Mi")) > MIB


def rows(top: Top, *words: str) -> list[list[str]]:
    code, text = top.kubectl("top", *words, "--no-headers")
    found = [line.split() for line in text.splitlines()] if code == 0 else []
    return [row for row in found if "<unknown>" not in row]


def test_a_kubelet_that_the_cluster_does_not_vouch_for_is_not_believed(top: Top) -> None:
    eventually(lambda: rows(top, "nodes"), 120)
    assert [row[0] for row in rows(top, "nodes")] == [NODE[0]]

    def said() -> list[str]:
        lines = top.log(metrics_api.ADDON).splitlines()
        return [line for line in lines if f'node="{STRANGER[0]}"' in line and "signed by unknown authority" in line]

    eventually(said, 60)


def test_kubectl_top_tells_what_containers_use(top: Top) -> None:
    (row,) = eventually(lambda: rows(top, "pods", "-n", TEAM), 120)
    name, cores, memory = row
    assert name == POD
    # Beside others it has less than the core that it asks for.
    assert 50 <= int(cores.removesuffix("m")) <= 1100
    assert MIB <= int(memory.removesuffix("Mi")) <= MIB + 40


def test_people_see_nodes_and_of_pods_their_own_team_s(top: Top) -> None:
    available(top)
    for words, seen in ((("pods", "-n", TEAM), POD), (("nodes",), NODE[0])):
        code, text = top.kubectl("top", *words, f"--as={PERSON}")
        assert (code, seen in text) == (0, True), text
    code, text = top.kubectl("top", "pods", "-n", "kube-system", f"--as={PERSON}")
    assert code
    assert "Forbidden" in text


def test_api_servers_trust_the_certificates_of_its_pods_and_no_other(top: Top) -> None:
    available(top)
    now = datetime.now(UTC)
    other = api_certificate.own(api_certificate.made(metrics_api.HOST, now))
    only = api_certificate.merged("", other, now)
    top.kube.patch(PATH, {"spec": {"caBundle": only}})
    eventually(lambda: "x509" in top.available()[2], 60)
    assert top.available()[:2] == ("False", "FailedDiscoveryCheck")
    top.certificate()
    available(top)
    bundle = base64.b64decode((top.kube.find(PATH) or {})["spec"]["caBundle"])
    assert bundle.count(b"BEGIN CERTIFICATE") == 2, "that of another pod stays"


def test_a_namespace_does_not_end_while_it_is_away_and_does_when_its_api_is_taken_away(top: Top) -> None:
    """Why it is off by default, and the runbook's way out."""
    available(top)
    top.end(metrics_api.ADDON)
    eventually(lambda: top.available()[0] == "False", 60)
    top.kube.api.call("POST", "/api/v1/namespaces", {}, {"metadata": {"name": "short"}})
    top.kube.api.call("DELETE", "/api/v1/namespaces/short")

    def conditions() -> dict[str, str]:
        found = top.kube.find("/api/v1/namespaces/short") or {}
        return {one["type"]: one["reason"] for one in found.get("status", {}).get("conditions", ())}

    eventually(lambda: conditions().get("NamespaceDeletionDiscoveryFailure") == "DiscoveryFailed", 60)
    assert top.kubectl("delete", "apiservice", metrics_api.API)[0] == 0
    eventually(lambda: top.kube.find("/api/v1/namespaces/short") is None, 60)
