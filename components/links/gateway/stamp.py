"""Whose a gateway's files are, and of which plan: a line in each, and a list of all with their digests."""

import hashlib
import json
from collections.abc import Mapping

from .spec import GatewaySpec

LIST = "/etc/landbridge/gateway-files.json"
LETTERS = 16
# Files whose comments begin otherwise, or that have none.
PLAIN = (".json", ".py")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def plan(spec: GatewaySpec) -> str:
    """Another one whenever anything that the gateway is told is another."""
    return digest(json.dumps(spec))[:LETTERS]


def stamped(spec: GatewaySpec, made: Mapping[str, str]) -> dict[str, str]:
    whose = f"gateway {spec.address} of {spec.site}, plan {plan(spec)}"
    line = f"# Made by landbridge for {whose}. Change fleet.yaml instead.\n"
    return {path: text if path.endswith(PLAIN) else line + text for path, text in made.items()}


def listed(spec: GatewaySpec, made: Mapping[str, str]) -> dict[str, str]:
    """What verify.py compares: every file with its digest."""
    record = {
        "site": spec.site,
        "gateway": spec.address,
        "plan": plan(spec),
        "files": {path: digest(text) for path, text in sorted(made.items())},
    }
    return {LIST: json.dumps(record, indent=1) + "\n"}
