"""Bill of materials and provenance, inside an image and beside it.

CycloneDX 1.6: https://cyclonedx.org/docs/1.6/json/
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from .containers import Container
from .lock import Lock, Package
from .recipe import ImageSpec

# In the image.
FOLDER = "usr/share/landbridge"
BILL, PROVENANCE = "bill.json", "provenance.json"


def bill(
    spec: ImageSpec, lock: Lock, programs: Mapping[str, tuple[str, str]], containers: Sequence[Container] = ()
) -> dict[str, Any]:
    """`programs` are those that are no packages: name → version and SHA-256."""
    distribution = spec.base_name.partition("-")[0]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": _time(lock.epoch_seconds),
            "component": {"type": "operating-system", "name": f"{spec.base_name}-{spec.variant_name}"},
        },
        "components": [*_packages(lock.packages, distribution), *_programs(programs), *_containers(containers)],
    }


def _packages(packages: Iterable[Package], distribution: str) -> Iterable[dict[str, Any]]:
    for one in sorted(packages):
        yield {
            "type": "library",
            "name": one.name,
            "version": one.version,
            "purl": f"pkg:deb/{distribution}/{one.name}@{one.version}",
            "hashes": [{"alg": "SHA-256", "content": one.sha256}],
        }


def _programs(programs: Mapping[str, tuple[str, str]]) -> Iterable[dict[str, Any]]:
    for name, (version, sha256) in sorted(programs.items()):
        hashes = [{"alg": "SHA-256", "content": sha256}]
        yield {"type": "application", "name": name, "version": version, "hashes": hashes}


def _containers(containers: Iterable[Container]) -> Iterable[dict[str, Any]]:
    for one in sorted(containers):
        name, _, tag = one.name.rpartition(":")
        hashes = [{"alg": "SHA-256", "content": one.digest}]
        yield {"type": "container", "name": name, "version": tag, "hashes": hashes}


def provenance(
    spec: ImageSpec, lock: Lock, kubernetes: str, kernel: str, containers: Sequence[Container] = ()
) -> dict[str, Any]:
    """What it was made of. Nothing that differs between two bakes: no time, no machine."""
    return {
        "base": spec.base_name,
        "variant": spec.variant_name,
        "node": spec.variant.node,
        "kubernetes": kubernetes,
        "kernel": kernel,
        "lock": {"file": lock.file.name, "asked": lock.asked, "packages_of": _time(lock.epoch_seconds)},
        "driver": spec.driver.version if spec.driver else None,
        "containers": [one.entry for one in containers],
        "units": {"enabled": spec.enabled, "disabled": spec.disabled, "masked": spec.masked},
    }


def written(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
