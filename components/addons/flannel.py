"""The pods' network: flannel with the planned range.

Clouds drop packets with addresses of pods (AWS unless each instance's source check is off, Azure always), so they
travel in VXLAN. Hosts of one LAN route them to each other directly. flannel decides by its own routing table whether
another node is in reach without a gateway, which two instances of one subnet are as well: so whether it may do so is
said by place, and a node of a site has a configuration of its own. To all others its packets travel in VXLAN, too.
"""

from components.pools import labels

from .images import FLANNEL, FLANNEL_CNI
from .manifests import (
    NODE_NAME,
    Manifest,
    api,
    compact,
    config_map,
    container,
    daemon_set,
    get,
    host_path,
    nodes,
    on_host,
    rights,
    rule,
)
from .spec import AddOnsSpec

ADDON, SITE = "flannel", "flannel-site"
# What leaves a node may meet a tunnel: its MTU is 1400 everywhere, VXLAN takes 50 of it, and pods have 1350. flannel
# would take the network card's, and large packets between places would vanish (flannel issue 1011).
TUNNEL_MTU = 1400
VXLAN_PORT = 8472
HEALTH_PORT = 8081
CNI = {
    "name": "cbr0",
    "cniVersion": "1.0.0",
    "plugins": [
        {"type": "flannel", "delegate": {"hairpinMode": True, "isDefaultGateway": True}},
        {"type": "portmap", "capabilities": {"portMappings": True}},
    ],
}


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    watched = [
        rule("", ["nodes"], "get", "list", "watch"),
        # Its own address and hardware address, as annotations of its node.
        rule("", ["nodes/status"], "patch"),
    ]
    found = rights(ADDON, ADDON, watched)
    # Nodes that say nothing of their place are no site's: they get the configuration that works anywhere.
    found += _kind(spec, ADDON, direct=False)
    return found + (_kind(spec, SITE, direct=True) if spec.sites else [])


def _kind(spec: AddOnsSpec, name: str, *, direct: bool) -> list[Manifest]:
    config = {"cni-conf.json": compact(CNI), "net-conf.json": compact(network(spec, direct=direct))}
    where = {"affinity": nodes(labels.PLACE, "In" if direct else "NotIn", *spec.sites)} if spec.sites else {}
    pod = on_host(ADDON, **where, initContainers=_first(), containers=[_flannel(spec)], volumes=_volumes(name))
    return [config_map(name, ADDON, config), daemon_set(name, ADDON, pod, config)]


def network(spec: AddOnsSpec, *, direct: bool) -> Manifest:
    """net-conf.json: flannel's Documentation/configuration.md and backends.md."""
    return {
        "Network": spec.cluster.pods_cidr,
        # As kube-proxy: one kind of rules on a node.
        "EnableNFTables": False,
        "Backend": {
            "Type": "vxlan",
            "VNI": 1,
            "Port": VXLAN_PORT,
            "MTU": TUNNEL_MTU,
            "DirectRouting": direct,
        },
    }


def _first() -> list[Manifest]:
    """The other CNI plugins are part of the image; that of flannel goes with flannel."""
    config = {"name": "config", "mountPath": "/etc/kube-flannel"}
    return [
        container(
            "plugin",
            FLANNEL_CNI,
            "10m",
            "10Mi",
            command=["cp", "-f", "/flannel", "/opt/cni/bin/flannel"],
            volumeMounts=[{"name": "plugins", "mountPath": "/opt/cni/bin"}],
        ),
        container(
            "config",
            FLANNEL,
            "10m",
            "10Mi",
            # flannel's own: it writes the file in one step.
            command=["/opt/bin/install-conf"],
            args=["/etc/kube-flannel/cni-conf.json", "/etc/cni/net.d/10-flannel.conflist"],
            volumeMounts=[{"name": "cni", "mountPath": "/etc/cni/net.d"}, config],
        ),
    ]


def _flannel(spec: AddOnsSpec) -> Manifest:
    return container(
        "flannel",
        FLANNEL,
        "100m",
        "50Mi",
        command=["/opt/bin/flanneld"],
        args=[
            "--kube-subnet-mgr",
            "--ip-masq",
            # The address that the kubelet registered: GPU machines have dozens of interfaces.
            "--iface=$(NODE_ADDRESS)",
            "--healthz-ip=127.0.0.1",
            f"--healthz-port={HEALTH_PORT}",
        ],
        # With the node's name it need not look up its own pod.
        env=[
            NODE_NAME,
            {"name": "NODE_ADDRESS", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}},
            {"name": "EVENT_QUEUE_DEPTH", "value": "10000"},
            *api(spec.cluster),
        ],
        livenessProbe=get(HEALTH_PORT, initialDelaySeconds=10, periodSeconds=30),
        readinessProbe=get(HEALTH_PORT, "/readyz", periodSeconds=10),
        securityContext={"capabilities": {"add": ["NET_ADMIN", "NET_RAW"]}},
        volumeMounts=[
            {"name": "run", "mountPath": "/run/flannel"},
            {"name": "lock", "mountPath": "/run/xtables.lock"},
            {"name": "config", "mountPath": "/etc/kube-flannel"},
        ],
    )


def _volumes(config: str) -> list[Manifest]:
    return [
        host_path("run", "/run/flannel", "DirectoryOrCreate"),
        host_path("plugins", "/opt/cni/bin", "DirectoryOrCreate"),
        host_path("cni", "/etc/cni/net.d", "DirectoryOrCreate"),
        host_path("lock", "/run/xtables.lock", "FileOrCreate"),
        {"name": "config", "configMap": {"name": config}},
    ]
