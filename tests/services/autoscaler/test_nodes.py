"""A region whose nodes are out of sight: when that keeps its machines, by a real API server's own table of nodes."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from services.autoscaler import nodes
from services.autoscaler.group import NotPossibleError
from services.autoscaler.nodes import Nodes, NodesError, stop
from services.autoscaler.scaling import Scaling
from services.kube import HOST, PORT
from tests.services.autoscaler.bed import account
from tests.services.autoscaler.test_scaling import Cloud, clouds, grown, settings
from tests.support.apiserver import Authority, Server, server

WEST = "us-west-2"


def known(ready: int, silent: int) -> dict[str, bool]:
    return {f"i-{number}": number < ready for number in range(ready + silent)}


@pytest.mark.parametrize(
    ("ready", "silent", "stopped"),
    [(0, 0, False), (1, 2, False), (7, 3, False), (6, 3, True), (70, 30, False), (69, 31, True), (0, 3, True)],
)
def test_above_thirty_percent_no_machine_goes_unless_it_is_one_or_two(ready: int, silent: int, stopped: bool) -> None:
    told = known(ready, silent)
    why = stop(lambda: told, WEST, [*told])
    assert why.startswith(f"region-not-ready: {silent} of the {ready + silent} nodes of us-west-2") == stopped
    assert bool(why) == stopped


def test_nodes_of_machines_that_are_gone_and_of_other_places_do_not_count() -> None:
    """At a burst's end most nodes are of ended machines, until the joining service has removed them."""
    told = {**known(10, 0), **{f"host-{number}.lab": False for number in range(50)}}
    assert stop(lambda: told, WEST, known(10, 0)) == ""
    assert stop(lambda: known(10, 10), WEST, known(10, 0)) == ""


def test_who_does_not_know_ends_nothing() -> None:
    def out() -> Mapping[str, bool]:
        raise NodesError("timed out")

    assert stop(out, WEST, []).startswith("nodes-unknown: nobody can tell how the nodes of us-west-2 are: timed out")


def test_only_the_region_keeps_its_machines_and_only_as_long_as_it_lasts() -> None:
    told = known(5, 5)
    made = Scaling(settings(), cloud=Cloud, stopped=lambda *about: stop(lambda: told, *about))  # type: ignore[arg-type]
    names = grown(made, 10)
    clouds(made)["eu-west-1"].machines = ["i-eu"]
    made.regions["eu-west-1"].look()
    with pytest.raises(NotPossibleError, match="region-not-ready: 5 of the 10 nodes of us-west-2 are NotReady"):
        made.delete(WEST, names[:1])
    made.delete("eu-west-1", ["i-eu"])
    made.refresh()
    told = known(8, 2)
    made.delete(WEST, names[:1])
    assert len(clouds(made)[WEST].machines) == 9


@pytest.fixture(scope="module")
def kube(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("kube"), controllers=False) as made:
        yield made


def node(kube: Server, name: str, *ready: str, **spec: Any) -> None:
    conditions = [{"type": "Ready", "status": status} for status in ready]
    body = {"metadata": {"name": name}, "spec": spec, "status": {"conditions": conditions}}
    kube.api.call("POST", "/api/v1/nodes", None, {"apiVersion": "v1", "kind": "Node", **body})


def test_the_pod_s_account_reads_them_from_the_api_s_table(
    kube: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOST, "127.0.0.1")
    monkeypatch.setenv(PORT, str(kube.port))
    made = Nodes(account(kube, tmp_path / "account"))
    assert made.ready() == {}
    monkeypatch.setattr(nodes, "MAX_AGE_SECONDS", 0)
    node(kube, "i-ready", "True")
    node(kube, "i-cordoned", "True", unschedulable=True)
    node(kube, "i-silent", "Unknown")
    node(kube, "i-sick", "False", unschedulable=True)
    node(kube, "i-new")
    assert made.ready() == {
        "i-ready": True,
        "i-cordoned": True,
        "i-silent": False,
        "i-sick": False,
        "i-new": False,
    }
    (made.account / "token").write_text("none")
    with pytest.raises(NodesError, match="Unauthorized"):
        made.ready()
    (made.account / "ca.crt").write_text(Authority().pem)
    with pytest.raises(NodesError, match="CERTIFICATE_VERIFY_FAILED"):
        made.ready()
