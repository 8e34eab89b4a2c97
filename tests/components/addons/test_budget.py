"""What add-ons ask of the API keeps to their budget, and the budget to their rights; CoreDNS is counted."""

import json
import subprocess
import time
from pathlib import Path

from components.addons import addons, dns
from components.addons.budget import BUDGETS, KUBELET_HOURLY, SHARE, a_second, hourly_per_node
from components.addons.spec import AddOnsSpec
from tests.components.addons import bed
from tests.components.addons.asked import Asked
from tests.support.apiserver import BIN, Server, free_port
from tests.test_docs import tables

GUIDE = bed.ROOT / "docs/guide/scale.md"
GROUPS = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")


def watched(manifests: list[bed.Manifest]) -> set[str]:
    """What a right to watch names."""
    rules = [rule for one in manifests if one["kind"] == "ClusterRole" for rule in one["rules"]]
    return {name for rule in rules if "watch" in rule["verbs"] for name in rule["resources"]}


def test_who_has_a_way_to_the_api_has_a_budget_and_nobody_else(example: AddOnsSpec) -> None:
    made = addons.manifests(example)
    asking = {name for name, manifests in made.items() if any(one["kind"] == "ServiceAccount" for one in manifests)}
    assert asking == BUDGETS.keys()
    for name, budget in BUDGETS.items():
        kinds = {one["kind"] for one in made[name]} & {"DaemonSet", "Deployment"}
        assert kinds == {{"node": "DaemonSet", "place": "Deployment"}[budget.clients]}
        assert budget.watches == len(watched(made[name])), f"{name}: a watch more is calls more"
        # Each is listed first, or streamed as one.
        assert budget.starting >= 2 * budget.watches


def test_add_ons_together_ask_little_beside_the_kubelet() -> None:
    assert hourly_per_node() <= KUBELET_HOURLY / SHARE
    assert a_second(5000) == 5000 * hourly_per_node() / 3600


def test_coredns_asks_no_more_than_its_budget(installed: Server, example: AddOnsSpec, tmp_path: Path) -> None:
    asked = Asked(installed, tmp_path, f"system:serviceaccount:kube-system:{dns.ADDON}", GROUPS)
    told = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": asked.address}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": ""}}],
        "current-context": "c",
    }
    (tmp_path / "kubeconfig").write_text(json.dumps(told))
    block = dns.COREFILE[dns.COREFILE.index("    kubernetes ") : dns.COREFILE.index("    prometheus")]
    own = block.replace("ttl 30", f"ttl 30\n        kubeconfig {tmp_path}/kubeconfig")
    (tmp_path / "Corefile").write_text(f".:{free_port()} {{\n    bind 127.0.0.1\n{own}}}\n")
    program = subprocess.Popen([BIN / "coredns", "-conf", tmp_path / "Corefile"], stdout=subprocess.DEVNULL)
    budget, wanted = BUDGETS[dns.ADDON], watched(addons.manifests(example)[dns.ADDON])
    try:
        deadline = time.monotonic() + 60
        while asked.watched() != wanted:
            assert time.monotonic() < deadline, asked.calls
            time.sleep(0.2)
        time.sleep(5)
        calls = list(asked.calls)
        time.sleep(5)
        assert asked.calls == calls, "quiet once it has its watches"
    finally:
        program.kill()
        program.wait()
        asked.shutdown()
        asked.server_close()
    assert len([verb for verb, _ in calls if verb == "watch"]) <= 2 * budget.watches
    assert len(calls) <= budget.starting, calls


def test_the_guide_has_the_budget() -> None:
    (found,) = tables(GUIDE)["What add-ons ask"]
    clients = {"node": "one a node", "place": "two to four a place"}
    assert [tuple(row) for row in found[1:]] == [
        (name, clients[one.clients], str(one.starting), str(one.hourly), one.known) for name, one in BUDGETS.items()
    ]
