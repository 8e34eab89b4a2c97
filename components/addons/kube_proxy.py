"""Services on every node: kube-proxy, of the cluster's own version.

In iptables mode: it is the one that the node-local DNS cache is documented to work beside while it answers on the
address of the service (kubernetes/dns issue 682 asks for nftables and is open), flannel's own rules for nftables are
experimental, and ipvs is on its way out. Few services, as in a GPU cluster, cost it nothing.
"""

from components.control_plane.machines import API_PORT

from .images import kube_proxy
from .manifests import (
    NODE_NAME,
    Manifest,
    compact,
    config_map,
    container,
    daemon_set,
    get,
    host_path,
    on_host,
    rights,
    rule,
)
from .spec import AddOnsSpec

ADDON = "kube-proxy"
CONFIG = "/etc/kube-proxy"
TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105
HEALTH_PORT, METRICS_PORT = 10256, 10249


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    config = {"config.conf": compact(settings(spec)), "kubeconfig.conf": compact(kubeconfig(spec))}
    pod = on_host(
        ADDON,
        containers=[_proxy(spec)],
        volumes=[
            {"name": "config", "configMap": {"name": ADDON}},
            host_path("lock", "/run/xtables.lock", "FileOrCreate"),
            host_path("modules", "/lib/modules"),
        ],
    )
    rules = [
        rule("", ["services"], "list", "watch"),
        rule("", ["nodes"], "get", "list", "watch"),
        rule("discovery.k8s.io", ["endpointslices"], "list", "watch"),
        rule("networking.k8s.io", ["servicecidrs"], "list", "watch"),
        rule("events.k8s.io", ["events"], "create", "patch", "update"),
    ]
    return [*rights(ADDON, ADDON, rules), config_map(ADDON, ADDON, config), daemon_set(ADDON, ADDON, pod, config)]


def settings(spec: AddOnsSpec) -> Manifest:
    """KubeProxyConfiguration v1alpha1 (Kubernetes' reference "kube-proxy Configuration")."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "iptables",
        # Endpoints come and go by the hundred when a job starts: rules are written once a second at most.
        "iptables": {"minSyncPeriod": "1s", "syncPeriod": "30s"},
        "clusterCIDR": spec.cluster.pods_cidr,
        "detectLocalMode": "ClusterCIDR",
        "nodePortAddresses": ["primary"],
        "healthzBindAddress": f"127.0.0.1:{HEALTH_PORT}",
        "metricsBindAddress": f"127.0.0.1:{METRICS_PORT}",
        "clientConnection": {"kubeconfig": f"{CONFIG}/kubeconfig.conf"},
    }


def kubeconfig(spec: AddOnsSpec) -> Manifest:
    """With the token that the kubelet renews. To the API by its name: the service's address is its own work."""
    here = {"server": f"https://{spec.cluster.endpoint}:{API_PORT}", "certificate-authority": f"{TOKEN}/ca.crt"}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": here}],
        "users": [{"name": "here", "user": {"tokenFile": f"{TOKEN}/token"}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "here"}}],
        "current-context": "here",
    }


def _proxy(spec: AddOnsSpec) -> Manifest:
    return container(
        "kube-proxy",
        kube_proxy(spec.cluster.kubernetes),
        "50m",
        "64Mi",
        command=["/usr/local/bin/kube-proxy"],
        args=[f"--config={CONFIG}/config.conf", "--hostname-override=$(NODE_NAME)"],
        env=[NODE_NAME],
        livenessProbe=get(HEALTH_PORT, "/livez", initialDelaySeconds=10, periodSeconds=30),
        securityContext={"privileged": True},  # it writes sysctls of the node
        volumeMounts=[
            {"name": "config", "mountPath": CONFIG},
            {"name": "lock", "mountPath": "/run/xtables.lock"},
            {"name": "modules", "mountPath": "/lib/modules", "readOnly": True},
        ],
    )
