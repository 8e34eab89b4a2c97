"""Fields of a pod that the local kubelet runs itself: what it lives by, and what changes nothing here and why.

Any other is refused, and the pod says which: one that is ignored might change what the pod does.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from . import environment, images


class Moot(NamedTuple):
    """Accepted without effect."""

    why: str


class Only(NamedTuple):
    """Accepted with these values, or with one of a `form`, which reads as `forms`."""

    values: tuple[Any, ...]
    form: re.Pattern[str] | None = None
    forms: tuple[str, ...] = ()

    def takes(self, field: Any) -> bool:
        return field in self.values or bool(self.form and self.form.fullmatch(field))


class Each(NamedTuple):
    """A list of such things."""

    fields: dict[str, Any]


ELSEWHERE = Moot("the scheduler and the API server use it, not the kubelet")
NO_CGROUPS = Moot("local machines have no cgroups of their own")
NO_SANDBOX = Moot("a local machine's kernel is the laptop's: it confines by user and by read-only mounts alone")
NO_REGISTRY = Moot("no image is fetched")
ONE_NAMESPACE = Moot("what a machine mounts later, its pods see when they are started anew")
NO_PROXY = Moot("there is no kube-proxy, so no service is announced but the API's own")
# None: the kubelet lives by it.
HEARD = None

FIELD_PATHS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
FIELD_PATH = Only(FIELD_PATHS, environment.NOTED, ("metadata.annotations['KEY']", "metadata.labels['KEY']"))
ITEMS = Each({"key": HEARD, "path": HEARD, "mode": HEARD})
KEY_REF = {"name": HEARD, "key": HEARD, "optional": HEARD}
PROBE = {
    "httpGet": {"path": HEARD, "port": HEARD, "host": HEARD, "scheme": HEARD, "httpHeaders": HEARD},
    "tcpSocket": {"port": HEARD, "host": HEARD},
    "exec": {"command": HEARD},
    **dict.fromkeys(
        (
            "initialDelaySeconds",
            "periodSeconds",
            "timeoutSeconds",
            "successThreshold",
            "failureThreshold",
            "terminationGracePeriodSeconds",
        ),
        HEARD,
    ),
}
ACCOUNT = {"runAsUser": HEARD, "runAsGroup": HEARD, "runAsNonRoot": HEARD, "seccompProfile": NO_SANDBOX}
CONTAINER = {
    **dict.fromkeys(("name", "image", "command", "args", "workingDir"), HEARD),
    "env": Each(
        {
            "name": HEARD,
            "value": HEARD,
            "valueFrom": {
                "fieldRef": {"apiVersion": HEARD, "fieldPath": FIELD_PATH},
                "configMapKeyRef": KEY_REF,
                "secretKeyRef": KEY_REF,
            },
        }
    ),
    "envFrom": Each(
        {
            "prefix": HEARD,
            "secretRef": {"name": HEARD, "optional": HEARD},
            "configMapRef": {"name": HEARD, "optional": HEARD},
        }
    ),
    "volumeMounts": Each({"name": HEARD, "mountPath": HEARD, "readOnly": HEARD, "mountPropagation": ONE_NAMESPACE}),
    **dict.fromkeys(("livenessProbe", "readinessProbe", "startupProbe"), PROBE),
    "securityContext": {
        **ACCOUNT,
        "readOnlyRootFilesystem": HEARD,
        "allowPrivilegeEscalation": HEARD,
        "privileged": Only((False,)),
        "capabilities": NO_SANDBOX,
    },
    # Probes find ports by name.
    "ports": Each({"name": HEARD, "containerPort": HEARD, "protocol": HEARD, "hostPort": HEARD}),
    "imagePullPolicy": NO_REGISTRY,
    "resources": NO_CGROUPS,
    "resizePolicy": NO_CGROUPS,
    "terminationMessagePath": Moot("nobody reads that file: messages come from logs alone, if they may"),
    "terminationMessagePolicy": HEARD,
}
CONFIG_MAP = {"name": HEARD, "items": ITEMS, "optional": HEARD}
DOWNWARD_PATH = Only(FIELD_PATHS[:3], environment.NOTED, FIELD_PATH.forms)
DOWNWARD = {
    "items": Each({"path": HEARD, "mode": HEARD, "fieldRef": {"apiVersion": HEARD, "fieldPath": DOWNWARD_PATH}})
}
VOLUME = {
    "name": HEARD,
    "configMap": {**CONFIG_MAP, "defaultMode": HEARD},
    "secret": {"secretName": HEARD, "items": ITEMS, "optional": HEARD, "defaultMode": HEARD},
    "emptyDir": {
        "medium": Only(("", "Memory")),
        # Of memory it is honoured.
        "sizeLimit": HEARD,
    },
    "hostPath": {"path": HEARD, "type": Only(("", "Directory", "DirectoryOrCreate"))},
    "persistentVolumeClaim": {"claimName": HEARD, "readOnly": HEARD},
    "projected": {
        "defaultMode": HEARD,
        "sources": Each(
            {
                "serviceAccountToken": {"audience": HEARD, "expirationSeconds": HEARD, "path": HEARD},
                "configMap": CONFIG_MAP,
                "secret": CONFIG_MAP,
                "downwardAPI": DOWNWARD,
            }
        ),
    },
}
POD = {
    "containers": Each(CONTAINER),
    "initContainers": Each({**CONTAINER, "restartPolicy": Only(("Always",))}),
    "volumes": Each(VOLUME),
    "securityContext": {**ACCOUNT, "fsGroup": HEARD, "fsGroupChangePolicy": HEARD, "supplementalGroups": HEARD},
    **dict.fromkeys(
        (
            *("restartPolicy", "activeDeadlineSeconds", "terminationGracePeriodSeconds"),
            *("serviceAccountName", "serviceAccount", "nodeName"),
        ),
        HEARD,
    ),
    **dict.fromkeys(("hostname", "subdomain"), HEARD),
    "setHostnameAsFQDN": Only((False,)),
    **dict.fromkeys(
        (
            "affinity",
            "automountServiceAccountToken",
            "nodeSelector",
            "overhead",
            "preemptionPolicy",
            "priority",
            "priorityClassName",
            "schedulerName",
            "schedulingGates",
            "tolerations",
            "topologySpreadConstraints",
        ),
        ELSEWHERE,
    ),
    "dnsPolicy": Moot("names are those of the machine's own hosts file"),
    "enableServiceLinks": NO_PROXY,
    "hostNetwork": HEARD,
    "hostPID": Moot("containers have processes of their own here"),
    "runtimeClassName": Moot("a local machine's devices are played, and nobody is kept from them"),
    "imagePullSecrets": NO_REGISTRY,
    "resources": NO_CGROUPS,
}


def refusals(pod: dict[str, Any]) -> list[str]:
    """What is asked for and not honoured; empty if the pod can be run."""
    return [*unknown(pod["spec"], POD, "spec"), *(text for one in images.containers(pod) for text in of_container(one))]


def unknown(field: Any, known: Any, place: str) -> Iterator[str]:
    if isinstance(known, Only):
        if not known.takes(field):
            named = ", ".join((*(repr(one) for one in known.values), *known.forms))
            yield f"{place}: {field!r} is not honoured, only {named}"
    elif isinstance(known, Each):
        for number, one in enumerate(field or []):
            name = one["name"] if isinstance(one.get("name"), str) else number
            yield from unknown(one, known.fields, f"{place}[{name}]")
    elif isinstance(known, dict):
        for name, value in (field or {}).items():
            if name in known:
                yield from unknown(value, known[name], f"{place}.{name}")
            elif value:
                yield f"{place}.{name} is not honoured"


def of_container(container: dict[str, Any]) -> Iterator[str]:
    """A command, and those of probes, begin with a program of the image; ports are the machine's own."""
    name = container["name"]
    commands = {"command": container.get("command") or []}
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if "exec" in container.get(probe, {}):
            commands[f"{probe}.exec.command"] = container[probe]["exec"].get("command") or []
    known = images.of(container["image"])
    for place, words in commands.items():
        if known and (not words or words[0] not in known.programs):
            yield f"container {name}: its {place} must begin with {' or '.join(known.programs)}"
        elif not (words and words[0]):
            yield f"container {name}: its {place} must be given: no image is fetched, so nobody knows the image's own"
    for port in container.get("ports") or []:
        if port.get("hostPort", port["containerPort"]) != port["containerPort"]:
            yield f"container {name}: a hostPort must be its containerPort: it is in the machine's network namespace"
