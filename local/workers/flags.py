"""The kubelet's command line: the flags that pools' units give it. Any other is an error, as are two of a kind."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

# Namespaces of labels that are Kubernetes' own, and what a kubelet may say of itself in them (the real one's check,
# from the page "Well-Known Labels" and NodeRestriction).
RESERVED = ("kubernetes.io", "k8s.io")
OWN_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")
OWN = {
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
}


class Flags(NamedTuple):
    config: Path
    bootstrap_kubeconfig: Path
    kubeconfig: Path
    cert_dir: Path
    hostname_override: str
    node_ip: str
    provider_id: str
    resolv_conf: Path
    node_labels: dict[str, str]


READ: dict[str, Callable[[str], object]] = {
    "config": Path,
    "bootstrap-kubeconfig": Path,
    "kubeconfig": Path,
    "cert-dir": Path,
    "hostname-override": str,
    "node-ip": str,
    "provider-id": str,
    "resolv-conf": Path,
    "node-labels": lambda text: labels(text),
}


def parse(arguments: Sequence[str]) -> Flags:
    """All must be given. Raises ValueError."""
    given: dict[str, object] = {}
    for argument in arguments:
        name, equals, value = argument.removeprefix("--").partition("=")
        if not argument.startswith("--") or not equals or name not in READ:
            honoured = ", ".join(f"--{one}=…" for one in READ)
            raise ValueError(f"{argument}: the kubelet of local machines knows {honoured}")
        if name in given or not value:
            raise ValueError(f"--{name} is given {'twice' if name in given else 'no value'}")
        given[name] = READ[name](value)
    if lacking := [name for name in READ if name not in given]:
        raise ValueError(f"--{', --'.join(lacking)}: not given")
    return Flags(**{name.replace("-", "_"): value for name, value in given.items()})  # type: ignore[arg-type]


def labels(text: str) -> dict[str, str]:
    """KEY=VALUE, with commas between. Raises ValueError for those that a kubelet may not give itself."""
    found = {}
    for one in text.split(","):
        key, equals, value = one.partition("=")
        domain = key.partition("/")[0] if "/" in key else ""
        reserved = any(domain == name or domain.endswith(f".{name}") for name in RESERVED)
        own = key in OWN or any(domain == name or domain.endswith(f".{name}") for name in OWN_DOMAINS)
        if not equals or not key:
            raise ValueError(f"--node-labels: {one!r} is no KEY=VALUE")
        if reserved and not own:
            raise ValueError(f"--node-labels: a kubelet may not label itself {key}")
        found[key] = value
    return found
