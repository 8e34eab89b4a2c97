"""An API machine's files: API server, controller manager and scheduler."""

import json
from collections.abc import Mapping
from typing import Any

from components.pools import joining

from . import audit, etcd, etcd_metrics
from .machines import API_PORT, ClusterSpec, Machine
from .units import UNITS, command, script, scripts, service

CONFIG, PKI = "/etc/kubernetes", "/etc/kubernetes/pki"
ETCD_SECONDS = 60  # afterwards it starts and waits by itself, within TimeoutStartSec
NODE_MASK = 25  # 126 addresses for kubelet's 110 pods: fleet.address.sizes reckons with it
BIN_PACKING = "gpu-bin-packing"
# Beside those that are on by default. Whoever asks for GPUs may go where their taint keeps all others away.
ADMISSION = ("NodeRestriction", "DenyServiceExternalIPs", "ExtendedResourceToleration")
# The balancer needs the first to see that a server goes; the longest call that is not a watch may take the second.
DELAY_SECONDS, CALL_SECONDS = 25, 60
STOP_SECONDS = DELAY_SECONDS + CALL_SECONDS + 10


def files(spec: ClusterSpec, machine: Machine) -> dict[str, str]:
    """Path → content, less certificates and keys."""
    servers = {
        "kube-apiserver": service(
            "The Kubernetes API",
            command("kube-apiserver", api_flags(spec, machine)),
            before_start=(_etcd_answers(spec),),
            TimeoutStartSec="300",
            TimeoutStopSec=str(STOP_SECONDS),
        ),
        "kube-controller-manager": service(
            "Kubernetes' controllers",
            command("kube-controller-manager", controller_flags(spec)),
            kind="exec",
            after="kube-apiserver.service",
        ),
        "kube-scheduler": service(
            "Kubernetes' scheduler",
            command("kube-scheduler", scheduler_flags()),
            kind="exec",
            after="kube-apiserver.service",
        ),
    }
    return {
        **audit.files(spec, machine),
        **scripts("answers"),
        **joining.files(spec, machine),
        **etcd_metrics.files(spec, machine),
        **{f"{UNITS}/{name}.service": text for name, text in servers.items()},
        f"{CONFIG}/authentication.json": _json(authentication()),
        f"{CONFIG}/audit-policy.json": _json(audit.policy()),
        f"{CONFIG}/scheduler.json": _json(scheduler_config(spec)),
        f"{CONFIG}/controller-manager.kubeconfig": _json(kubeconfig(f"{PKI}/controller-manager")),
        f"{CONFIG}/scheduler.kubeconfig": _json(kubeconfig(f"{PKI}/scheduler")),
    }


def _etcd_answers(spec: ClusterSpec) -> str:
    """It may be just starting; a server that finds nobody there asks again after many seconds (gRPC's backoff)."""
    rings = (",".join(f"{url}/health" for url in etcd.client_urls(spec, ring)) for ring in etcd.RINGS)
    return script("answers", str(ETCD_SECONDS), f"{PKI}/etcd-clients-ca.crt", f"{PKI}/etcd-client", *rings)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, sort_keys=True) + "\n"


def api_flags(spec: ClusterSpec, machine: Machine) -> dict[str, str | list[str]]:
    reads, writes = spec.profile.inflight
    # The first signs, all are taken: pods that outlive a rebuild go on with the tokens they have.
    issuers = [spec.issuer, *([spec.former_issuer] if spec.former_issuer else [])]
    events = ";".join(etcd.client_urls(spec, etcd.EVENTS))
    return {
        "advertise-address": machine.address,
        "secure-port": str(API_PORT),
        "tls-cert-file": f"{PKI}/apiserver.crt",
        "tls-private-key-file": f"{PKI}/apiserver.key",
        "tls-min-version": "VersionTLS12",
        "client-ca-file": f"{PKI}/ca.crt",
        "authentication-config": f"{CONFIG}/authentication.json",
        "authorization-mode": "Node,RBAC",
        "enable-admission-plugins": ",".join(ADMISSION),
        "enable-bootstrap-token-auth": "true",
        "etcd-servers": ",".join(etcd.client_urls(spec, etcd.MAIN)),
        "etcd-servers-overrides": f"/events#{events}",
        "etcd-cafile": f"{PKI}/etcd-clients-ca.crt",
        "etcd-certfile": f"{PKI}/etcd-client.crt",
        "etcd-keyfile": f"{PKI}/etcd-client.key",
        "etcd-compaction-interval": f"{spec.profile.compaction_seconds}s",
        "encryption-provider-config": f"{CONFIG}/encryption.json",
        "kubelet-certificate-authority": f"{PKI}/ca.crt",
        "kubelet-client-certificate": f"{PKI}/kubelet-client.crt",
        "kubelet-client-key": f"{PKI}/kubelet-client.key",
        "kubelet-preferred-address-types": "InternalIP,Hostname",
        "requestheader-client-ca-file": f"{PKI}/front-proxy-ca.crt",
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-uid-headers": "X-Remote-Uid",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "proxy-client-cert-file": f"{PKI}/front-proxy-client.crt",
        "proxy-client-key-file": f"{PKI}/front-proxy-client.key",
        "service-account-issuer": issuers,
        "service-account-jwks-uri": f"{spec.issuer}/openid/v1/jwks",
        "service-account-key-file": f"{PKI}/service-accounts.pub",
        "service-account-signing-key-file": f"{PKI}/service-accounts.key",
        # A token that leaks is worth little: kubelets fetch new ones hourly.
        "service-account-extend-token-expiration": "false",
        "service-account-max-token-expiration": "24h",
        # Cloud roles take tokens whose audience is their own: pods ask for it.
        "api-audiences": ",".join(issuers),
        "service-cluster-ip-range": spec.services_cidr,
        "max-requests-inflight": str(reads),
        "max-mutating-requests-inflight": str(writes),
        "delete-collection-workers": str(spec.profile.delete_workers),
        # Long connections through the balancer would stay with one server for ever.
        "goaway-chance": "0.001",
        # Nobody's call fails in a roll: the server goes on until the balancer has seen that it is no longer ready.
        "shutdown-delay-duration": f"{DELAY_SECONDS}s",
        "request-timeout": f"{CALL_SECONDS}s",
        "shutdown-send-retry-after": "true",
        # No kube-proxy runs here: a service's calls go to its endpoints.
        "enable-aggregator-routing": "true",
        # 1.35 has them off, and as v1beta1; they are said to every version, so that none has a bundle of its own.
        "feature-gates": "MutatingAdmissionPolicy=true",
        "runtime-config": "admissionregistration.k8s.io/v1beta1=true",
        **audit.flags(),
        **joining.flags(),
        "allow-privileged": "true",
        "profiling": "false",
    }


def controller_flags(spec: ClusterSpec) -> dict[str, str]:
    qps = spec.profile.controller_qps
    return {
        "kubeconfig": f"{CONFIG}/controller-manager.kubeconfig",
        "authentication-kubeconfig": f"{CONFIG}/controller-manager.kubeconfig",
        "authorization-kubeconfig": f"{CONFIG}/controller-manager.kubeconfig",
        **_serving(),
        "client-ca-file": f"{PKI}/ca.crt",
        "requestheader-client-ca-file": f"{PKI}/front-proxy-ca.crt",
        "cluster-name": spec.name,
        "allocate-node-cidrs": "true",
        "cluster-cidr": spec.pods_cidr,
        "node-cidr-mask-size": str(NODE_MASK),
        "service-cluster-ip-range": spec.services_cidr,
        # Of several authorities in a rotation, the one that signs: the program takes exactly one certificate.
        "cluster-signing-cert-file": f"{PKI}/ca-signing.crt",
        "cluster-signing-key-file": f"{PKI}/ca.key",
        "cluster-signing-duration": "168h",
        "root-ca-file": f"{PKI}/ca.crt",
        "service-account-private-key-file": f"{PKI}/service-accounts.key",
        "use-service-account-credentials": "true",
        # Whose certificates are approved the joining service decides, which knows which machines there are.
        "controllers": "*,bootstrapsigner,tokencleaner,-certificatesigningrequest-approving-controller",
        "leader-elect": "true",
        "kube-api-qps": str(qps),
        "kube-api-burst": str(qps * 2),
        # A broken link is no reason to evict: nothing moves off a zone of which more than half is out of sight.
        # When all of it is, nodes get their taint as usual; there tolerations keep the pods (addons/tolerations.py).
        "secondary-node-eviction-rate": "0",
        "unhealthy-zone-threshold": "0.5",
        "profiling": "false",
    }


def scheduler_flags() -> dict[str, str]:
    return {
        "config": f"{CONFIG}/scheduler.json",
        "authentication-kubeconfig": f"{CONFIG}/scheduler.kubeconfig",
        "authorization-kubeconfig": f"{CONFIG}/scheduler.kubeconfig",
        **_serving(),
        "profiling": "false",
    }


def _serving() -> dict[str, str]:
    """Metrics, as the API server of this machine, to whoever it says may have them."""
    return {
        "bind-address": "0.0.0.0",  # noqa: S104
        "tls-cert-file": f"{PKI}/apiserver.crt",
        "tls-private-key-file": f"{PKI}/apiserver.key",
        "tls-min-version": "VersionTLS12",
    }


def kubeconfig(certificate: str) -> dict[str, Any]:
    """For a program on this machine: to its own server, so that no balancer stands between (the hairpin trap)."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "here",
                "cluster": {"server": f"https://127.0.0.1:{API_PORT}", "certificate-authority": f"{PKI}/ca.crt"},
            }
        ],
        "users": [
            {
                "name": "here",
                "user": {"client-certificate": f"{certificate}.crt", "client-key": f"{certificate}.key"},
            }
        ],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "here"}}],
        "current-context": "here",
    }


def authentication() -> dict[str, Any]:
    """Nobody without a credential, but for the paths that the balancer asks."""
    paths = [{"path": path} for path in ("/livez", "/readyz", "/healthz")]
    return {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthenticationConfiguration",
        "anonymous": {"enabled": True, "conditions": paths},
    }


def encryption(keys: Mapping[int, str]) -> dict[str, Any]:
    """Secrets at rest, under base64 keys of 32 bytes by generation: the first writes, all read.

    What was written before the first key came stays readable.
    """
    named = [{"name": encryption_name(number), "secret": key} for number, key in keys.items()]
    providers = [{"secretbox": {"keys": named}}, {"identity": {}}]
    return {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "EncryptionConfiguration",
        "resources": [{"resources": ["secrets"], "providers": providers}],
    }


def encryption_name(generation: int) -> str:
    """As it stands before every Secret in etcd: `k8s:enc:secretbox:v1:key-1:`."""
    return f"key-{generation}"


def scheduler_config(spec: ClusterSpec) -> dict[str, Any]:
    """The default profile, and one that fills GPU machines up before it touches the next."""
    packed = [{"name": "nvidia.com/gpu", "weight": 10}, {"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
    fit = {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated", "resources": packed}}}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {
            "kubeconfig": f"{CONFIG}/scheduler.kubeconfig",
            "qps": spec.profile.scheduler_qps,
            "burst": spec.profile.scheduler_qps * 2,
        },
        "leaderElection": {"leaderElect": True},
        "profiles": [{"schedulerName": "default-scheduler"}, {"schedulerName": BIN_PACKING, "pluginConfig": [fit]}],
    }
