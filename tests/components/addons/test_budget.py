"""What add-ons ask of the API keeps to their budget, and the budget to their rights; CoreDNS is counted."""

import json
import subprocess
import time
from pathlib import Path

from components.addons import addons, dns
from components.addons.budget import BUDGETS, KUBELET_HOURLY, SHARE, SIZES, Budget, a_second, hourly_per_node
from components.addons.images import FLANNEL, NETWORK_POLICIES, kube_proxy
from components.addons.spec import AddOnsSpec
from tests.components.addons import bed
from tests.components.addons.asked import Asked
from tests.support.apiserver import BIN, Server, free_port
from tests.test_docs import tables

GUIDE = bed.ROOT / "docs/guide/scale.md"
GROUPS = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")


def watched(manifests: list[bed.Manifest]) -> set[str]:
    """What a right to watch names."""
    return {name for _, name in watches(manifests)}


def watches(manifests: list[bed.Manifest]) -> set[tuple[str, str]]:
    """The same, and where: in a namespace, or all of it."""
    return {
        (role["metadata"].get("namespace", ""), name)
        for role in manifests
        if role["kind"] in ("ClusterRole", "Role")
        for rule in role["rules"]
        if "watch" in rule["verbs"]
        for name in rule["resources"]
    }


def test_who_has_a_way_to_the_api_has_a_budget_and_nobody_else(example: AddOnsSpec) -> None:
    made = addons.manifests(example)
    asking = {name for name, manifests in made.items() if bed.asks(manifests)}
    assert asking == BUDGETS.keys()
    for name, budget in BUDGETS.items():
        (kind,) = {one["kind"] for one in made[name]} & {"DaemonSet", "Deployment", "StatefulSet"}
        assert (kind == "DaemonSet") == (budget.clients == "node")
        assert budget.watches == len(watches(made[name])), f"{name}: a watch more is calls more"
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


def test_what_was_counted_keeps_to_the_budget() -> None:
    """By bench/addon_calls.py, which ends with 1 when it does not."""
    for name, budget in BUDGETS.items():
        assert budget.counted.keys() == (set() if budget.clients in ("site", "cluster") else set(SIZES)), name
        for starting, hourly in budget.counted.values():
            assert starting <= budget.starting, name
            # Each watch ended at least once in the eleven minutes.
            assert 5 * budget.watches <= hourly <= budget.hourly, name
        starts = {starting for starting, _ in budget.counted.values()}
        assert len(starts) <= 1, f"{name}: it grows with nodes"


def test_the_programs_counted_are_of_the_images_versions(example: AddOnsSpec) -> None:
    proxy = kube_proxy(example.cluster.kubernetes)
    for folder, module, image in (
        ("flannel", "github.com/flannel-io/flannel", FLANNEL),
        ("kube-network-policies", "sigs.k8s.io/kube-network-policies", NETWORK_POLICIES),
        ("kube-proxy", "k8s.io/kubernetes", proxy),
    ):
        assert f"{module} {image.tag}\n" in (bed.ROOT / f"tools/{folder}/go.mod").read_text()


def test_the_guide_has_the_budget() -> None:
    (found, _) = tables(GUIDE)["What add-ons ask"]
    clients = {"node": "one a node", "place": "two to four a place", "site": "one a site", "cluster": "two"}

    def row(name: str, one: Budget) -> tuple[str, ...]:
        counted = {size: one.counted.get(size, ("not counted", "not counted")) for size in SIZES}
        starting, hourly = ([str(counted[size][which]) for size in SIZES] for which in (0, 1))
        return name, clients[one.clients], *starting, str(one.starting), *hourly, str(one.hourly)

    assert [tuple(told) for told in found[1:]] == [row(name, one) for name, one in BUDGETS.items()]
