"""A worker's kubelet: how it joins, what it keeps for itself, how much it does at once."""

import json
from typing import Any

from components.control_plane.units import UNITS, script, service, unit

from .azure import metadata_guard as azure_metadata_guard
from .labels import Taint, labels, taints
from .spec import PoolSpec

CONFIG, STATE = "/etc/kubernetes", "/var/lib/kubelet"
AUTHORITY = f"{CONFIG}/ca.crt"
# What a machine finds out about itself at boot: on_machine/node_facts.py writes it.
FACTS = "/run/landbridge/node.env"
FACTS_UNIT = "landbridge-node-facts.service"
CONTAINERD = "unix:///run/containerd/containerd.sock"
MOST_PODS = 110  # fleet.address.sizes gives a node 126 addresses
# EKS reckons with 255 MiB and 11 MiB a pod: its "Reserve compute resources" page.
KUBE_MEMORY_MIB = 255 + 11 * MOST_PODS
RESERVED = {
    "kubeReserved": {"cpu": "200m", "memory": f"{KUBE_MEMORY_MIB}Mi", "ephemeral-storage": "1Gi"},
    "systemReserved": {"cpu": "100m", "memory": "512Mi", "ephemeral-storage": "1Gi"},
}
EVICTION = {
    "memory.available": "500Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
    "imagefs.available": "10%",
}
# Above so many machines a pool's joins are spread: so many a second at most, on average.
JOINS_A_SECOND = 10
MOST_JITTER_SECONDS = 60


def files(spec: PoolSpec) -> dict[str, str]:
    """Path → content. The cluster's authority is not here: the bundle adds it."""
    return {
        f"{CONFIG}/kubelet.json": json.dumps(config(spec), indent=2, sort_keys=True) + "\n",
        f"{CONFIG}/bootstrap.kubeconfig": json.dumps(bootstrap(spec), indent=2, sort_keys=True) + "\n",
        f"{UNITS}/kubelet.service": _unit(spec),
        f"{UNITS}/{FACTS_UNIT}": _facts_unit(),
    }


def config(spec: PoolSpec) -> dict[str, Any]:
    """KubeletConfiguration v1beta1 (Kubernetes' reference "Kubelet Configuration")."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": AUTHORITY},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "systemd",
        "clusterDNS": [spec.dns_address],
        "clusterDomain": "cluster.local",
        "containerRuntimeEndpoint": CONTAINERD,
        # Certificates live a week: the kubelet asks for the next one long before.
        "rotateCertificates": True,
        "serverTLSBootstrap": True,
        "tlsMinVersion": "VersionTLS12",
        # One large image must not hold up all others, and a mass start must not run into the client's own limits.
        "serializeImagePulls": False,
        "maxParallelImagePulls": 5,
        "registryPullQPS": 20,
        "registryBurst": 40,
        "kubeAPIQPS": 50,
        "kubeAPIBurst": 100,
        "eventRecordQPS": 5,
        "maxPods": MOST_PODS,
        "podPidsLimit": 16384,
        **RESERVED,
        "enforceNodeAllocatable": ["pods"],
        "evictionHard": EVICTION,
        # Heartbeats are leases; the whole status is written when something changed, else rarely.
        "nodeLeaseDurationSeconds": 40,
        "nodeStatusReportFrequency": "5m",
        "protectKernelDefaults": True,
        "registerNode": True,
        "registerWithTaints": [_registered(taint) for taint in taints(spec)],
        "volumePluginDir": f"{STATE}/volumeplugins",
    }


def _registered(taint: Taint) -> dict[str, str]:
    return {"key": taint.key, "value": taint.value, "effect": taint.effect}


def bootstrap(spec: PoolSpec) -> dict[str, Any]:
    """The kubeconfig of a machine that has no certificate yet: no secret is in it.

    In a cloud it proves which instance it is; at a site it shows the token that its enrolment gave it.
    """
    user: dict[str, Any] = (
        {"tokenFile": f"{CONFIG}/enrolment-token"}
        if spec.site
        else {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": "/usr/bin/python3",
                "args": [script("attest").split()[1]],
                "interactiveMode": "Never",
                "provideClusterInfo": False,
            }
        }
    )
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": spec.cluster, "cluster": {"server": spec.server, "certificate-authority": AUTHORITY}},
        ],
        "users": [{"name": "joining", "user": user}],
        "contexts": [{"name": "joining", "context": {"cluster": spec.cluster, "user": "joining"}}],
        "current-context": "joining",
    }


def node_labels(spec: PoolSpec) -> str:
    """For --node-labels: a cloud's machine adds its zone by $NODE_ZONE_LABEL."""
    return ",".join(f"{key}={value}" for key, value in labels(spec).items())


def jitter_seconds(most: int) -> int:
    """Up to how long a machine of a pool of so many waits before it joins for the first time."""
    return min(MOST_JITTER_SECONDS, most // JOINS_A_SECOND)


def _unit(spec: PoolSpec) -> str:
    zone = "" if spec.site else ",${NODE_ZONE_LABEL}"
    flags = [
        f"--config={CONFIG}/kubelet.json",
        f"--bootstrap-kubeconfig={CONFIG}/bootstrap.kubeconfig",
        f"--kubeconfig={STATE}/kubeconfig",
        f"--cert-dir={STATE}/pki",
        "--hostname-override=${NODE_NAME}",
        "--node-ip=${NODE_ADDRESS}",
        "--provider-id=${NODE_PROVIDER_ID}",
        "--resolv-conf=${NODE_RESOLV_CONF}",
        f"--node-labels={node_labels(spec)}{zone}",
    ]
    text = service(
        "Kubernetes on this machine",
        " \\\n  ".join(["/usr/local/bin/kubelet", *flags]),
        after="network-online.target containerd.service",
        EnvironmentFile=FACTS,
        OOMScoreAdjust="-999",
        # It joins before it says that it is up, and the API may be away for as long as it likes.
        TimeoutStartSec="infinity",
    )
    units = [FACTS_UNIT, *([azure_metadata_guard.SERVICE] if azure_metadata_guard.wanted(spec) else [])]
    needed = f"Requires={' '.join(units)}\nAfter={' '.join(units)}\n"
    return text.replace("[Unit]\n", f"[Unit]\n{needed}", 1)


def _facts_unit() -> str:
    return unit(
        {
            "Unit": [
                ("Description", "What this machine is: its name, address, zone and id"),
                ("After", "network-online.target"),
                ("Wants", "network-online.target"),
            ],
            "Service": [
                ("Type", "oneshot"),
                ("RemainAfterExit", "yes"),
                ("ExecStart", script("node_facts")),
                ("Restart", "on-failure"),
                ("RestartSec", "5"),
            ],
        }
    )
