"""Whose requests wait behind whose, as the real API server says with each of its answers."""

import contextlib
import http.client
import ssl
from pathlib import Path

import pytest

from components.addons import fairness
from components.addons.spec import AddOnsSpec
from fleet.people import ADMINS, group
from fleet.team_storage import namespace
from tests.components.addons import bed
from tests.support.apiserver import HERE, Server
from tests.support.waiting import eventually

LEVEL = "X-Kubernetes-PF-PriorityLevel-UID"
LEVELS = f"/apis/{fairness.GROUP}/v1/prioritylevelconfigurations"


def level_of(kube: Server, folder: Path, user: str, *groups: str) -> str:
    """By name, of one request of that user."""
    pair = folder / "pair.pem"
    pair.write_text("".join(kube.authority.leaf(user, groups)))
    context = ssl.create_default_context(cadata=kube.authority.pem)
    context.load_cert_chain(pair)
    connection = http.client.HTTPSConnection(HERE, kube.port, context=context, timeout=20)
    connection.request("GET", "/api/v1/pods")
    answer = connection.getresponse()
    connection.close()
    uids = {one["metadata"]["uid"]: one["metadata"]["name"] for one in kube.api.call("GET", LEVELS)["items"]}
    return str(uids[answer.headers[LEVEL]])


def account(space: str, name: str) -> tuple[str, ...]:
    """Of a pod: its user and groups."""
    return f"system:serviceaccount:{space}:{name}", "system:serviceaccounts", f"system:serviceaccounts:{space}"


def test_each_ones_requests_are_of_their_level(installed: Server, example: AddOnsSpec, tmp_path: Path) -> None:
    owner = example.fleet.owner
    (team,) = [name for name in example.fleet.teams if name != owner]
    expected = {
        ("someone", group(team)): f"landbridge-{namespace(team)}",
        account(namespace(team), "default"): f"landbridge-{namespace(team)}",
        ("admin", ADMINS): "landbridge-operators",
        ("head", group(owner)): "landbridge-operators",
        account("landbridge-runs", "kueue"): fairness.PLATFORM_LEVEL,
        account("kube-system", "recorder"): fairness.PLATFORM_LEVEL,
        # A namespace that is no team's, and somebody of no group.
        account("default", "default"): "workload-low",
        ("stranger",): "global-default",
    }

    def found() -> dict[tuple[str, ...], str]:
        return {who: level_of(installed, tmp_path, *who) for who in expected}

    # The server takes new levels into use within a second or two.
    with contextlib.suppress(AssertionError):
        eventually(lambda: found() == expected, 20)
    assert found() == expected


@pytest.mark.parametrize(("teams", "each"), [(0, 200), (1, 200), (7, 28), (40, 5), (100, 5)])
def test_a_teams_shares(teams: int, each: int) -> None:
    assert fairness.shares(teams) == each


def test_a_team_borrows_no_more_than_it_owns(example: AddOnsSpec) -> None:
    made = fairness.manifests(example)
    limits = [one["spec"]["limited"] for one in made if one["kind"] == "PriorityLevelConfiguration"]
    assert {one["borrowingLimitPercent"] for one in limits} == {100}
    assert len(limits) == len(example.fleet.teams)
    assert bed.named(made, "FlowSchema", "landbridge-platform")["spec"]["matchingPrecedence"] < fairness.TEAMS_PLACE
