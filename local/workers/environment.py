"""A container's variables and words as Kubernetes makes them. Pure, but for what `lookup` asks."""

import re
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from local.machines.commands import PATH

from . import images

Lookup = Callable[[str, str], Mapping[str, str] | None]
# botocore has authorities of its own, unless it is told those of the machine, where the local cloud's is among them.
BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
# Where AWS's clients look for authorities, and Azure's, which bring their own else.
AUTHORITIES = ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE")
# What fieldRefs may name besides the fields: an annotation or a label.
NOTED = re.compile(r"metadata\.(annotations|labels)\['([^']+)'\]")
# Linux has 64 for a host name, and Kubernetes one of them for the end.
MOST_HOST_NAME = 63
# $$ is a dollar; $(NAME) a variable, left as it is if nobody knows it ("Define Dependent Environment Variables").
REFERENCE = re.compile(r"\$\$|\$\(([^)]*)\)")


class Lacking(Exception):
    """What a variable is taken from is not there."""


def expand(text: str, known: Mapping[str, str]) -> str:
    def one(found: re.Match[str]) -> str:
        if found[1] is None:
            return "$"
        return known.get(found[1], found[0])

    return REFERENCE.sub(one, text)


def words(container: Mapping[str, Any], known: Mapping[str, str]) -> list[str]:
    """Command and arguments, of which the first is still the image's."""
    return [expand(word, known) for word in (*container["command"], *(container.get("args") or ()))]


class Place(NamedTuple):
    """Where a pod is: its node's address and its own, and the API's URL."""

    host: str = ""
    own: str = ""
    server: str = ""


def fields(pod: Mapping[str, Any], place: Place) -> dict[str, str]:
    """What fieldRefs may name."""
    meta, spec = pod["metadata"], pod["spec"]
    return {
        "metadata.name": meta["name"],
        "metadata.namespace": meta["namespace"],
        "metadata.uid": meta["uid"],
        "spec.nodeName": spec["nodeName"],
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        **dict.fromkeys(("status.hostIP", "status.hostIPs"), place.host),
        **dict.fromkeys(("status.podIP", "status.podIPs"), place.own),
    }


def field(pod: Mapping[str, Any], path: str, place: Place) -> str:
    """One of them, or an annotation or label, which is empty where the pod has none of that name."""
    if noted := NOTED.fullmatch(path):
        return str((pod["metadata"].get(noted[1]) or {}).get(noted[2], ""))
    return fields(pod, place)[path]


def known_variables(
    pod: Mapping[str, Any], container: Mapping[str, Any], place: Place, lookup: Lookup
) -> dict[str, str]:
    """What Kubernetes gives it, which `$(NAME)` may name. `lookup` gives the data of a ConfigMap or Secret, or None.

    Raises Lacking.
    """
    found = service(place.server)
    for source in container.get("envFrom") or []:
        found |= whole(source, lookup)
    for one in container.get("env") or []:
        if not one.get("valueFrom"):
            found[one["name"]] = expand(one.get("value", ""), found)
        elif (value := taken(pod, one["valueFrom"], place, lookup)) is not None:
            found[one["name"]] = value
    return found


def given(pod: Mapping[str, Any], image: str, *, root: bool) -> dict[str, str]:
    """What the image and its runtime give it, below that."""
    trust = dict.fromkeys(AUTHORITIES, str(BUNDLE)) if BUNDLE.exists() else {}
    name = {"HOSTNAME": host_name(pod) or socket.gethostname()}
    known = images.of(image)
    if known is None:
        # In the machine's own root, of which nothing else can be written.
        return {"PATH": images.OWN_PATH, "HOME": "/tmp", **name, **trust}  # noqa: S108
    return {"PATH": PATH, "HOME": "/root" if root else "/", **name, **trust, **known.environment}


def host_name(pod: Mapping[str, Any]) -> str | None:
    """Of its own, which tells replicas of one machine apart where they elect a leader; None is the machine's.

    The one that it asks for, else its name as the kubelet cuts it (Kubernetes docs, "Pod's hostname and subdomain").
    """
    if pod["spec"].get("hostNetwork"):
        return None
    return str(pod["spec"].get("hostname") or pod["metadata"]["name"])[:MOST_HOST_NAME].rstrip("-.")


def taken(pod: Mapping[str, Any], source: Mapping[str, Any], place: Place, lookup: Lookup) -> str | None:
    if "fieldRef" in source:
        return field(pod, source["fieldRef"]["fieldPath"], place)
    ((kind, ref),) = source.items()
    plural = {"configMapKeyRef": "configmaps", "secretKeyRef": "secrets"}[kind]
    data = lookup(plural, ref["name"])
    if data is not None and ref["key"] in data:
        return data[ref["key"]]
    if ref.get("optional"):
        return None
    what = f"{plural.removesuffix('s')} {ref['name']!r}"
    raise Lacking(f"{what} not found" if data is None else f"couldn't find key {ref['key']} in {what}")


def whole(source: Mapping[str, Any], lookup: Lookup) -> dict[str, str]:
    """All of a ConfigMap or Secret. Raises Lacking."""
    kind = "secrets" if "secretRef" in source else "configmaps"
    ref = source["secretRef" if kind == "secrets" else "configMapRef"]
    data = lookup(kind, ref["name"])
    if data is None and not ref.get("optional"):
        raise Lacking(f"{kind.removesuffix('s')} {ref['name']!r} not found")
    return {f"{source.get('prefix', '')}{name}": value for name, value in (data or {}).items()}


def service(server: str) -> dict[str, str]:
    """Where the API is, by the kubelet's own way: no kube-proxy would lead there by the service's address."""
    url = urlsplit(server)
    return {"KUBERNETES_SERVICE_HOST": url.hostname or "", "KUBERNETES_SERVICE_PORT": str(url.port or 443)}
