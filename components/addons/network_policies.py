"""What makes NetworkPolicies hold, which flannel does not: kube-network-policies, an agent on every node.

Its flavour with a tracker in between would spare every node the watch of all pods. But that agent gives up for good
after ten failed tries to reach the tracker (v1.1.1, pkg/ipcache/client.go), so that a link broken for some minutes
would leave a site with the addresses of yesterday's pods; and it needs certificates of its own. The plain one goes on
with what it knows and catches up by itself. kube-router would watch all pods too, and services, endpoints and nodes.
"""

from .images import NETWORK_POLICIES
from .manifests import NODE_NAME, Manifest, api, container, daemon_set, host_path, on_host, rights, rule
from .spec import AddOnsSpec

ADDON = "kube-network-policies"
QUEUE, METRICS_PORT = 98, 9080


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    watched = [
        rule("", ["pods", "namespaces"], "list", "watch"),
        rule("networking.k8s.io", ["networkpolicies"], "list", "watch"),
    ]
    pod = on_host(
        ADDON,
        containers=[_agent(spec)],
        volumes=[
            host_path("nri", "/var/run/nri", "DirectoryOrCreate"),
            host_path("netns", "/var/run/netns", "DirectoryOrCreate"),
        ],
    )
    return [*rights(ADDON, ADDON, watched), daemon_set(ADDON, ADDON, pod)]


def _agent(spec: AddOnsSpec) -> Manifest:
    return container(
        "agent",
        NETWORK_POLICIES,
        "100m",
        "100Mi",
        command=["/bin/netpol"],
        args=[
            "--hostname-override=$(NODE_NAME)",
            f"--nfqueue-id={QUEUE}",
            f"--metrics-bind-address=127.0.0.1:{METRICS_PORT}",
            # An agent that restarts must not cut a training job's connections: they pass until it is back.
            "--fail-open=true",
            # At 2 it writes a line for every packet that it judges.
            "--v=1",
        ],
        env=[NODE_NAME, *api(spec.cluster)],
        securityContext={"privileged": True},  # it asks containerd for pods' addresses and reads their namespaces
        volumeMounts=[
            {"name": "nri", "mountPath": "/var/run/nri"},
            {"name": "netns", "mountPath": "/var/run/netns", "mountPropagation": "HostToContainer"},
        ],
    )
