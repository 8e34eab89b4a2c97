"""Whose requests wait when the API has more of them than it can serve: each team's behind its own team's alone.

API Priority and Fairness (v1) has levels of its own: nodes, leaders and what runs in kube-system have theirs, and
people share one of them, as pods of all namespaces share another. There one team's storm makes all others wait.
"""

from collections.abc import Iterator

from fleet.monitoring import SPACE as MONITORING
from fleet.people import ADMINS, group
from fleet.team_storage import namespace

from . import controllers
from .manifests import Manifest, meta
from .spec import AddOnsSpec

ADDON = "fairness"
GROUP = "flowcontrol.apiserver.k8s.io"
# Shares of a server's requests at a time. Kubernetes' own levels hold 245 of them; all teams together about as many
# as all that runs the cluster, or those who are a hundred teams would leave nothing to it.
TEAMS_SHARES, LEAST_SHARES, OPERATORS_SHARES = 200, 5, 20
# What a team does not use others may: half of it, and none of them more than what is its own again.
LENDS_PERCENT, BORROWS_PERCENT = 50, 100
# A queue a person or service account, by shuffle sharding: of 32 queues each one's requests go to 4, the shortest.
QUEUES, HAND, WAITING = 32, 4, 50
# Before Kubernetes' own of pods (9,000) and of everybody (9,900), after those of nodes and leaders (100 to 900).
OPERATORS_PLACE, PLATFORM_PLACE, TEAMS_PLACE = 950, 960, 1000
# Its level of Kubernetes' own for what keeps a cluster going.
PLATFORM_LEVEL = "workload-high"


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    return list(_made(spec))


def _made(spec: AddOnsSpec) -> Iterator[Manifest]:
    owner, teams = spec.fleet.owner, [team for team in spec.fleet.teams if team != spec.fleet.owner]
    operators = [_group(ADMINS), _group(group(owner)), _accounts(namespace(owner))]
    yield _level("operators", OPERATORS_SHARES)
    yield _schema("operators", "landbridge-operators", OPERATORS_PLACE, operators)
    platform = [_accounts(space) for space in (controllers.SPACE, MONITORING)]
    yield _schema("platform", PLATFORM_LEVEL, PLATFORM_PLACE, platform)
    for team in teams:
        yield _level(namespace(team), shares(len(teams)))
        subjects = [_group(group(team)), _accounts(namespace(team))]
        yield _schema(namespace(team), f"landbridge-{namespace(team)}", TEAMS_PLACE, subjects)


def shares(teams: int) -> int:
    """Of each of so many teams."""
    return max(LEAST_SHARES, TEAMS_SHARES // max(teams, 1))


def _level(name: str, own: int) -> Manifest:
    queuing = {"queues": QUEUES, "handSize": HAND, "queueLengthLimit": WAITING}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "PriorityLevelConfiguration",
        "metadata": meta(f"landbridge-{name}", ADDON, ""),
        "spec": {
            "type": "Limited",
            "limited": {
                "nominalConcurrencyShares": own,
                "lendablePercent": LENDS_PERCENT,
                "borrowingLimitPercent": BORROWS_PERCENT,
                "limitResponse": {"type": "Queue", "queuing": queuing},
            },
        },
    }


def _schema(name: str, level: str, place: int, subjects: list[Manifest]) -> Manifest:
    everything = {
        "subjects": subjects,
        "resourceRules": [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"], "namespaces": ["*"], "clusterScope": True}
        ],
        "nonResourceRules": [{"nonResourceURLs": ["*"], "verbs": ["*"]}],
    }
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "FlowSchema",
        "metadata": meta(f"landbridge-{name}", ADDON, ""),
        "spec": {
            "priorityLevelConfiguration": {"name": level},
            "matchingPrecedence": place,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [everything],
        },
    }


def _group(name: str) -> Manifest:
    return {"kind": "Group", "group": {"name": name}}


def _accounts(space: str) -> Manifest:
    return {"kind": "ServiceAccount", "serviceAccount": {"namespace": space, "name": "*"}}
