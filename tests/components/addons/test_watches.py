"""Who may look at what in the whole cluster: what grows with nodes only where the table argues for it."""

from collections.abc import Iterator

import pytest

from components.addons import controllers, gangs, jobset, kueue, queues
from components.addons.manifests import NAME, Manifest
from components.addons.monitoring import metrics_api
from components.addons.spec import AddOnsSpec
from components.addons.watches import ALLOWED, GROWING, READ_VERBS
from components.pools.admission import API_SERVER, JOINING_GROUP
from components.pools.joining import USER
from fleet.people import group
from tests.components.addons import bed
from tests.support.apiserver import Server

# What Kubernetes' own role for it has, and our kube-proxy lacks: it reads endpointslices, and reports by the new events.
PROXY_LACKS = {("", "endpoints"), ("", "events")}

ROLES = ("ClusterRole", "Role")
# Who joins, and who lets them: they run in no pod.
PARTS = tuple(f"rbac.authorization.k8s.io/aggregate-to-{role}" for role in ("edit", "view"))
OUTSIDE = {("User", USER), ("Group", JOINING_GROUP), ("Group", "system:bootstrappers"), ("User", API_SERVER)}
# Kubernetes' own role: it is for kubelets, and lists nothing.
KUBELETS = ("ClusterRole", "system:kubelet-api-admin")


def looks(manifests: list[Manifest]) -> Iterator[tuple[str, str]]:
    """ClusterRole and growing resource, of every right to list or watch one."""
    for role in manifests:
        if role["kind"] == "ClusterRole":
            for rule in role["rules"]:
                if not set(rule["verbs"]) & set(READ_VERBS):
                    continue
                for group in rule["apiGroups"]:
                    growing = GROWING if group == "*" else {group: GROWING.get(group, ())}
                    for names in growing.values():
                        named = [n for n in names if n in rule["resources"] or "*" in rule["resources"]]
                        yield from ((role["metadata"]["name"], name) for name in named)


def test_what_grows_with_nodes_is_watched_for_a_reason(example: AddOnsSpec) -> None:
    found = set(looks(bed.every(example)))
    assert found - ALLOWED.keys() == set(), "say why in components/addons/watches.py, or take the right away"
    assert ALLOWED.keys() - found == set(), "nobody has the right any more: take the row away"
    assert all(len(why.split()) >= 5 for why in ALLOWED.values())


@pytest.mark.parametrize(
    ("group", "resource", "verb"),
    [("", "pods", "watch"), ("*", "nodes", "list"), ("apps", "*", "*"), ("coordination.k8s.io", "leases", "list")],
)
def test_a_right_too_many_is_found(group: str, resource: str, verb: str) -> None:
    rules = [{"apiGroups": [group], "resources": [resource], "verbs": [verb]}]
    assert set(looks([{"kind": "ClusterRole", "metadata": {"name": "greedy"}, "rules": rules}])) - ALLOWED.keys()


def test_nobody_has_rights_by_another_s_role(example: AddOnsSpec) -> None:
    """Or the walk above would miss them: cluster-admin, say."""
    made = bed.every(example)
    roles = [one for one in made if one["kind"] in ROLES]
    # What is a part of `edit` or of `view` is people's.
    added = [one for one in roles if any(part in one["metadata"]["labels"] for part in PARTS)]
    ours = {(one["kind"], one["metadata"]["name"]) for one in roles if one not in added}
    assert [one["metadata"]["name"] for one in added] == [
        gangs.EDITOR,
        f"{queues.USERS}-view",
        f"{queues.USERS}-edit",
        metrics_api.READERS,
    ]
    bindings = [one for one in made if one["kind"] in ("ClusterRoleBinding", "RoleBinding")]
    assert {(one["roleRef"]["kind"], one["roleRef"]["name"]) for one in bindings} == {*ours, KUBELETS}
    # Teams' own are bound to nothing: their token is for the cloud.
    accounts = {one["metadata"]["name"] for one in made if bed.asks([one])}
    bound = {(subject["kind"], subject["name"]) for one in bindings for subject in one["subjects"]}
    # They may come to the port of who gives them their logs.
    people = {("Group", group(team)) for team in example.fleet.teams}
    assert bound == {("ServiceAccount", name) for name in accounts} | OUTSIDE | people
    for name, pod in bed.pods(made):
        assert pod.get("serviceAccountName") in accounts or pod["automountServiceAccountToken"] is False, name


def test_no_add_on_reads_secrets(example: AddOnsSpec) -> None:
    """But for those that two controllers make themselves, in a namespace where nobody else keeps anything."""
    made = bed.every(example)
    roles = [one for one in made if one["kind"] in ROLES]
    reading = [one for one in roles if any({"secrets", "*"} & set(rule.get("resources", ())) for rule in one["rules"])]
    assert {(one["kind"], one["metadata"].get("namespace")) for one in reading} == {("Role", controllers.SPACE)}
    there = [one for one in made if one["metadata"].get("namespace") == controllers.SPACE]
    # Others have nothing there that holds anything: a queue, and a right to what is in it.
    others = {one["kind"] for one in there if one["metadata"]["labels"][NAME] not in (kueue.ADDON, jobset.ADDON)}
    assert others == {"LocalQueue", "Role", "RoleBinding"}
    secrets = {one["metadata"]["name"] for one in there if one["kind"] == "Secret"}
    assert secrets == {kueue.SERVER.secret, jobset.SERVER.secret}


def test_kube_proxy_has_the_rights_that_kubernetes_gives_it(kube: Server, example: AddOnsSpec) -> None:
    theirs = kube.find("/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node-proxier")
    assert theirs is not None
    ours = bed.named(bed.every(example), "ClusterRole", "landbridge:kube-proxy")

    def rights(role: Manifest) -> set[tuple[str, str, str]]:
        return {
            (group, resource, verb)
            for rule in role["rules"]
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }

    lacking = {(group, resource) for group, resource, _ in rights(theirs) - rights(ours)}
    assert lacking == PROXY_LACKS
    assert rights(ours) <= rights(theirs)
