"""What a pod asks for, in Kubernetes' own amounts: pure."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

SUFFIXES = {
    **{suffix: Decimal(1024) ** power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)},
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate(("k", "M", "G", "T", "P", "E"), 1)},
    "m": Decimal("0.001"),
    "u": Decimal("0.000001"),
    "n": Decimal("0.000000001"),
}
Amounts = dict[str, Decimal]


def amount(text: str) -> Decimal:
    """Cores, bytes or pieces, from a quantity such as 500m, 64Gi or 1e3."""
    for suffix, size in SUFFIXES.items():
        if text.endswith(suffix):
            return Decimal(text.removesuffix(suffix)) * size
    return Decimal(text)


def pod_requests(pod: Mapping[str, Any]) -> Amounts:
    """Of all containers together, or of the one that prepares and needs more ("Init containers", "Resources")."""
    spec = pod["spec"]
    total: Amounts = {}
    for container in spec["containers"]:
        total = _plus(total, _requests(container))
    beside: Amounts = {}
    before: Amounts = {}
    for container in spec.get("initContainers") or []:
        wants = _requests(container)
        if container.get("restartPolicy") == "Always":
            beside = _plus(beside, wants)
        else:
            before = _most(before, _plus(beside, wants))
    found = _most(_plus(total, beside), before)
    return _plus(found, {name: amount(str(text)) for name, text in (spec.get("overhead") or {}).items()})


def _requests(container: Mapping[str, Any]) -> Amounts:
    resources = container.get("resources") or {}
    both = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: amount(str(text)) for name, text in both.items()}


def _plus(one: Amounts, other: Amounts) -> Amounts:
    return {name: one.get(name, Decimal(0)) + other.get(name, Decimal(0)) for name in {**one, **other}}


def _most(one: Amounts, other: Amounts) -> Amounts:
    return {name: max(one.get(name, Decimal(0)), other.get(name, Decimal(0))) for name in {**one, **other}}


def plain(amounts: Amounts) -> dict[str, str]:
    """For people and JSON: memory in GiB, all else as a number."""
    found = {}
    for name, count in sorted(amounts.items()):
        if name in ("memory", "ephemeral-storage") or name.startswith("hugepages"):
            found[name] = f"{float(count / 2**30):g}Gi"
        else:
            found[name] = f"{count.normalize():f}"
    return found
