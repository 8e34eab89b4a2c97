"""The audit log: what is written, and how it leaves the machine."""

from typing import Any

from components.storage.places import AUDIT

from .machines import ClusterSpec, Machine
from .units import UNITS, cloud_files, script, scripts, service, settings

LOG = "/var/log/kubernetes/audit.log"
# While the bucket cannot be reached, this much is kept on the machine: 10 GB.
MOST_FILES, FILE_MB = 100, 100

# Level → what is written at it; the first row that fits decides. Bodies of Secrets are never written.
RULES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("None", {"users": ["system:kube-proxy"], "verbs": ["watch"]}),
    ("None", {"nonResourceURLs": ["/healthz*", "/livez*", "/readyz*", "/version", "/metrics"]}),
    ("None", {"resources": [{"group": "coordination.k8s.io", "resources": ["leases"]}]}),
    ("None", {"resources": [{"group": group, "resources": ["events"]} for group in ("", "events.k8s.io")]}),
    (
        "Metadata",
        {
            "resources": [
                {"group": "", "resources": ["secrets", "configmaps", "serviceaccounts/token"]},
                {"group": "authentication.k8s.io", "resources": ["tokenreviews"]},
            ]
        },
    ),
    ("Metadata", {"verbs": ["get", "list", "watch"]}),
    ("Request", {"userGroups": ["system:nodes"]}),
    ("RequestResponse", {}),
)


def place(cluster: str, machine: str) -> str:
    """Where in the bucket a machine's log lies."""
    return f"{AUDIT}/{cluster}/{machine}"


def policy() -> dict[str, Any]:
    rules = [{"level": level, **chosen} for level, chosen in RULES]
    return {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": rules}


def flags() -> dict[str, str]:
    """Of the API server. Its default mode, blocking, stays: an entry is in the file before its call is answered."""
    return {
        "audit-policy-file": "/etc/kubernetes/audit-policy.json",
        "audit-log-path": LOG,
        "audit-log-maxsize": str(FILE_MB),
        "audit-log-maxbackup": str(MOST_FILES),
    }


def files(spec: ClusterSpec, machine: Machine) -> dict[str, str]:
    config = {
        "region": spec.region,
        "bucket": spec.bucket,
        "prefix": place(spec.name, machine.name),
        "log": LOG,
    }
    text = service(
        "Brings the audit log to the fleet bucket", script("audit_ship"), kind="exec", TimeoutStopSec="120", Nice="5"
    )
    # Starts before the API server and so stops after it: the tail of the log leaves the machine too.
    text = text.replace("[Unit]\n", "[Unit]\nBefore=kube-apiserver.service\n", 1)
    return {
        **cloud_files(spec.cloud),
        **scripts("audit_ship"),
        **settings("audit", config),
        f"{UNITS}/landbridge-audit.service": text,
    }
