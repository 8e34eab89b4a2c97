"""What one node's add-ons ask of the API, counted from its audit log, in clusters of 500 and 2,500 nodes.

Real etcd, API server and controllers with our flags; kwok plays the nodes, each with its lease and some pods. Beside
them one node of that cluster with a network of its own, in which the real flannel, kube-proxy, kube-network-policies
and CoreDNS run with our configuration, by the tokens of their service accounts and no other rights than ours. The two
sides are what they ask and their budget: more than that ends with 1.

Watches last five to ten minutes, by a time that the client asks for; no flag of the API server makes them shorter. A
window of eleven minutes sees each of them end. Add-ons that need what this machine lacks are left out.
"""

import argparse
import json
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any, NamedTuple

from components.addons import addons, flannel, kube_proxy
from components.addons.budget import BUDGETS
from components.addons.spec import AddOnsSpec
from tests.components.addons import bed
from tests.components.addons.one_node import AddOn, Ways, running
from tests.components.pools import api_metrics, crowd
from tests.components.pools.joining_client import apply
from tests.components.pools.joining_cluster import Cluster, make

SIZES, STARTING_SECONDS, WINDOW_MINUTES = (500, 2500), 60, 11
PODS_A_NODE, THREADS, READY_SECONDS = 2, 8, 1800
# Leases are renewed four times less often than kubelets do it: no add-on reads them, and they would be most of the load.
LEASE_SECONDS, SILENT_SECONDS = 160, 200
OTHERS = {"coredns": "coredns-us-west-2", flannel.ADDON: flannel.SITE}
# Add-on → a program that its image has and nodes need not.
NEEDS = {flannel.ADDON: "iptables", kube_proxy.ADDON: "iptables"}
ANNOTATION = "flannel.alpha.coreos.com"


class Call(NamedTuple):
    """`seconds` is how long a watch is to last."""

    user: str
    at: float
    verb: str
    what: str
    code: int
    seconds: int


def chosen(spec: AddOnsSpec) -> list[AddOn]:
    made = addons.manifests(spec)
    config = next(one for one in made[kube_proxy.ADDON] if one["kind"] == "ConfigMap")["data"]
    # The table of connections is the whole machine's: nobody may change its size from a network of its own.
    config["config.conf"] = json.dumps({**json.loads(config["config.conf"]), "conntrack": {"maxPerCore": 0, "min": 0}})
    return [AddOn(name, OTHERS.get(name, name), made[name]) for name, one in BUDGETS.items() if one.counted]


def policy(found: Sequence[AddOn]) -> dict[str, Any]:
    """An entry for each call of theirs, and of nobody else."""
    rules = [{"level": "Metadata", "users": [one.user for one in found]}, {"level": "None"}]
    return {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": rules}


def calls(cluster: Cluster) -> Iterator[Call]:
    """A watch stands in the log when it begins and when it ends."""
    seen = set()
    for line in (cluster.folder / "audit.log").read_text().splitlines():
        told = json.loads(line)
        if told["auditID"] in seen:
            continue
        seen.add(told["auditID"])
        at = datetime.strptime(told["requestReceivedTimestamp"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
        path, _, query = told["requestURI"].partition("?")
        thing = told.get("objectRef", {})
        what = "/".join(part for part in (thing.get("resource", path), thing.get("subresource", "")) if part)
        asked = dict(part.partition("=")[::2] for part in query.split("&"))
        code = told.get("responseStatus", {}).get("code", 0)
        yield Call(
            told["user"]["username"], at.timestamp(), told["verb"], what, code, int(asked.get("timeoutSeconds", 0))
        )


def fill(cluster: Cluster, nodes: int) -> None:
    """So many nodes of a site with their pods, as if flannel ran on each but the first."""
    had = len(cluster.admin("GET", "/api/v1/nodes")["items"])
    context = ssl.create_default_context(cafile=str(cluster.pki / "ca.crt"))
    context.load_cert_chain(cluster.folder / "admin.crt", cluster.folder / "admin.key")
    machines = crowd.hosts(had + 1, nodes)

    def some(part: Sequence[crowd.Machine]) -> None:
        line = crowd.Line(cluster.ports["api"], context)
        for machine in part:
            line.ask("POST", "/api/v1/nodes", thing(machine))
            for number in range(PODS_A_NODE):
                line.ask("POST", "/api/v1/namespaces/default/pods", pod(machine, number))
        line.http.close()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(some, [machines[number::THREADS] for number in range(THREADS)]))
    deadline = time.monotonic() + READY_SECONDS
    while (well := api_metrics.well(cluster)) < nodes:
        if time.monotonic() > deadline:
            raise SystemExit(
                f"{well} of {nodes} nodes are Ready after {READY_SECONDS} s: this machine has too much to do"
            )
        time.sleep(10)


def thing(machine: crowd.Machine) -> dict[str, Any]:
    made = crowd.thing(machine)
    # Else each would be changed once more, for minutes, as its GPUs appear.
    made["spec"]["taints"] = []
    if machine.number > 1:
        low, high = machine.number % 256, machine.number // 256
        own = {"VNI": 1, "VtepMAC": f"02:00:00:00:{high:02x}:{low:02x}"}
        told = {
            "backend-data": json.dumps(own),
            "backend-type": "vxlan",
            "kube-subnet-manager": "true",
            "public-ip": made["status"]["addresses"][0]["address"],
        }
        made["metadata"]["annotations"] = {f"{ANNOTATION}/{name}": value for name, value in told.items()}
    return made


def pod(machine: crowd.Machine, number: int) -> dict[str, Any]:
    spec = {
        "nodeName": machine.name,
        "automountServiceAccountToken": False,
        "containers": [{"name": "main", "image": "registry.example.com/main:1"}],
        "tolerations": [{"operator": "Exists"}],
    }
    name = f"work-{machine.number}-{number}"
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "work"}}, "spec": spec}


def measured(cluster: Cluster, spec: AddOnsSpec, found: Sequence[AddOn], nodes: int, minutes: float) -> list[str]:
    """Prints the table; what is above the budget."""
    address = f"{IPv4Network(crowd.LAN)[11]}/{IPv4Network(crowd.LAN).prefixlen}"
    began = time.time()
    with running(cluster, spec, found, crowd.hosts(1, 1)[0].name, address) as ways:
        time.sleep(STARTING_SECONDS)
        first = dict(ways.brought)
        time.sleep(60 * minutes)
        brought(nodes, ways, first, minutes)
    made = [one for one in calls(cluster) if began <= one.at < began + STARTING_SECONDS + 60 * minutes]
    above = []
    for addon in found:
        own, budget = [one for one in made if one.user == addon.user], BUDGETS[addon.name]
        starting = [one for one in own if one.at < began + STARTING_SECONDS]
        later = own[len(starting) :]
        hourly = len(later) * 60 / minutes
        print(
            f"{nodes} nodes: {addon.name}: {len(starting)} calls at its start (budget {budget.starting}), {hourly:.0f} an "
            f"hour (budget {budget.hourly}): {len(later)} in {minutes:.0f} minutes"
        )
        for when, some in (("at its start", starting), ("later", later)):
            told = Counter(f"{one.verb} {one.what}" for one in some)
            print(f"  {when}: {', '.join(f'{count} {what}' for what, count in sorted(told.items())) or 'none'}")
        print(f"  its watches are to last {sorted(one.seconds for one in own if one.verb == 'watch')} s", flush=True)
        refused = [one for one in own if one.code >= 400]
        above += [f"{addon.name} was refused: {one}" for one in refused]
        if len(starting) > budget.starting or hourly > budget.hourly:
            above.append(f"{addon.name} asks more at {nodes} nodes than its budget")
        if not own:
            above.append(f"{addon.name} asked nothing: see its log")
    return above


def brought(nodes: int, ways: Ways, first: dict[str, int], minutes: float) -> None:
    for name, size in ways.brought.items():
        hourly = (size - first[name]) * 60 / minutes
        print(f"{nodes} nodes: {name} received {first[name] / 1e6:.2f} MB at its start, {hourly / 1e6:.2f} MB an hour")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, action="append", help="instead of 500 and 2,500")
    parser.add_argument("--minutes", type=float, default=WINDOW_MINUTES, help="the window after the start")
    asked = parser.parse_args()
    if not shutil.which("iptables"):
        print(
            "There is no iptables here, without which flannel and kube-proxy don't start. Install the package iptables."
        )
        return 2
    subprocess.run([sys.executable, bed.ROOT / "tools/add_ons.py"], check=True)
    sizes = sorted(asked.nodes or SIZES)
    spec = bed.spec()
    spec = spec._replace(cluster=spec.cluster._replace(pods_cidr=crowd.PODS[2500]))
    missing = {name: program for name, program in NEEDS.items() if not shutil.which(program)}
    for name, program in missing.items():
        print(f"{name} is left out: there is no {program} here. Install the package {program}")
    found, above = [one for one in chosen(spec) if one.name not in missing], []
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-", ignore_cleanup_errors=True) as folder:
        own = Path(folder) / "calls.json"
        own.write_text(json.dumps(policy(found)))
        controllers = {"cluster-cidr": spec.cluster.pods_cidr, "node-monitor-grace-period": f"{SILENT_SECONDS}s"}
        flags = {"api": {"audit-policy-file": str(own)}, "controllers": controllers}
        bedded = make(Path(folder), flags, crowd.table(sizes[-1]), "large")
        cluster = next(bedded)
        try:
            for manifest in [one for addon in found for one in addon.rights]:
                apply(cluster.admin, manifest)
            crowd.play(cluster, LEASE_SECONDS)
            for nodes in sizes:
                fill(cluster, nodes)
                above += measured(cluster, spec, found, nodes, asked.minutes)
        finally:
            bedded.close()
    print("\n".join(above) or "All keep to their budget")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
