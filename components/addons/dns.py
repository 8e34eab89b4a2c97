"""Names of the cluster: CoreDNS in every place where nodes are, each place's own answering first.

Where the system pool is, replicas stand on its machines, each on another host: resolvers of clouds limit queries per
host. A site has its own on its own machines and goes on answering when its link is cut. A cloud region without system
machines may have no machine at all: replicas there wait for one, and are of a priority that buys none.
"""

from components.pools import labels

from .gpu import tolerated
from .images import COREDNS
from .manifests import (
    CLUSTER_CRITICAL,
    NO_WAIT,
    Manifest,
    apart,
    budget,
    config_map,
    container,
    deployment,
    get,
    meta,
    rights,
    rule,
    spread,
)
from .priorities import SITE_DNS, SPARE_DNS
from .spec import AddOnsSpec

ADDON, SERVICE, UPSTREAM = "coredns", "kube-dns", "kube-dns-upstream"
# The address after DNS's own, which node-local caches ask: the first is theirs on every node.
UPSTREAM_ADDRESS = 11
DOMAIN = "cluster.local"
HEALTH_PORT, READY_PORT, METRICS_PORT = 8080, 8181, 9153
# By the cluster's size, where its system machines are; elsewhere two, each on a host of its own.
REPLICAS = {"small": 2, "medium": 3, "large": 4}
ELSEWHERE = 2
# A failure in the cache would hide the stale answer behind it, and be told for as long.
SERVE_STALE, NO_FAILURES = "serve_stale 24h", "servfail 0s"
COREFILE = f"""\
.:53 {{
    errors
    health {{
        lameduck 5s
    }}
    ready
    kubernetes {DOMAIN} in-addr.arpa ip6.arpa {{
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }}
    prometheus :{METRICS_PORT}
    forward . /etc/resolv.conf {{
        max_concurrent 1000
    }}
    cache 30 {{
        {SERVE_STALE}
        {NO_FAILURES}
    }}
    loop
    reload
    loadbalance
}}
"""


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    config = {"Corefile": COREFILE}
    watched = [
        rule("", ["services", "namespaces"], "list", "watch"),
        rule("discovery.k8s.io", ["endpointslices"], "list", "watch"),
    ]
    found = [*rights(ADDON, ADDON, watched), config_map(ADDON, ADDON, config)]
    found += [_service(SERVICE, spec.service_address()), _service(UPSTREAM, spec.service_address(UPSTREAM_ADDRESS))]
    for place in (*spec.regions, *spec.sites):
        found += _place(spec, place, config)
    return found


def _service(name: str, address: str) -> Manifest:
    ports = [{"name": f"dns-{kind.lower()}", "port": 53, "targetPort": 53, "protocol": kind} for kind in ("UDP", "TCP")]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        # Replicas of a place without machines, or out of sight, are no reason to wait.
        "metadata": meta(name, ADDON, annotations=NO_WAIT),
        "spec": {
            "clusterIP": address,
            "selector": {"app.kubernetes.io/name": ADDON},
            "ports": ports,
            # A site is one zone; where a zone has no replica that is ready, any other answers.
            "trafficDistribution": "PreferSameZone",
        },
    }


def _place(spec: AddOnsSpec, place: str, config: dict[str, str]) -> list[Manifest]:
    name = f"{ADDON}-{place}"
    system = any(pool.kind == "system" for pool in spec.pools if pool.place == place)
    size = spec.fleet.clusters[spec.cluster.name].size
    chosen = {"app.kubernetes.io/instance": name}
    site = place in spec.sites
    priority = CLUSTER_CRITICAL if system else SITE_DNS if site else SPARE_DNS
    pod = {
        "serviceAccountName": ADDON,
        "priorityClassName": priority,
        "dnsPolicy": "Default",  # it is the cluster's DNS: its own questions go to the node's resolver
        "nodeSelector": {labels.PLACE: place, **({labels.KIND: "system"} if system else {})},
        "tolerations": [tolerated(labels.SYSTEM if system else labels.GPU_TAINT)],
        "affinity": apart(chosen) if system else {**apart(chosen), **rather_cpu()},
        "topologySpreadConstraints": [spread(chosen)],
        "containers": [_coredns()],
        "volumes": [{"name": "config", "configMap": {"name": ADDON}}],
    }
    # Without it a replica in kube-system would keep an idle machine alive.
    annotations = {} if system or site else {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
    replicas = REPLICAS[size] if system else ELSEWHERE
    # System machines are always there. Others may have none yet, and no `up` waits for that.
    made = deployment(name, ADDON, replicas, pod, config, annotations, wait=system, hosts=True)
    return [made, budget(name, ADDON, chosen)]


def rather_cpu() -> Manifest:
    cpu = {"matchExpressions": [{"key": labels.KIND, "operator": "In", "values": ["cpu"]}]}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": cpu}]}}


def _coredns() -> Manifest:
    found = container(
        "coredns",
        COREDNS,
        "100m",
        "100Mi",
        args=["-conf", "/etc/coredns/Corefile"],
        ports=[{"name": f"dns-{kind.lower()}", "containerPort": 53, "protocol": kind} for kind in ("UDP", "TCP")],
        livenessProbe=get(HEALTH_PORT, "/health", "", initialDelaySeconds=60, failureThreshold=5),
        readinessProbe=get(READY_PORT, "/ready", "", periodSeconds=5),
        securityContext={
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
        },
        volumeMounts=[{"name": "config", "mountPath": "/etc/coredns", "readOnly": True}],
    )
    # kops gives it as much for 5,000 nodes; what it holds grows with services and endpoints.
    found["resources"]["limits"] = {"memory": "340Mi"}
    return found
