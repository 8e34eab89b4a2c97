"""Golden files: readable, sorted, compared whole. `make golden` writes them anew; the diff is then read by a person."""

import contextlib
import difflib
import io
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ACCEPT = "LANDBRIDGE_ACCEPT"
SECRET = "4dabf18193072939515e22adb298388d"  # the key that marks a secret in Pulumi's state
ASSET = "c44067f5952c0a294b673a41bacd8c17"  # what it has for an asset


def compare(path: Path, value: Any) -> None:
    """Asserts that the file holds this value; writes it instead when told to accept."""
    yaml, text = YAML(typ="safe"), io.StringIO()
    yaml.default_flow_style = False
    yaml.width = 120
    yaml.dump(json.loads(json.dumps(value, sort_keys=True)), text)
    same(path, text.getvalue())


def same(path: Path, text: str) -> None:
    """The same for a text."""
    if os.environ.get(ACCEPT):
        path.write_text(text)
    assert path.exists(), f"{path.name} is missing: run `make golden`"
    if text != (kept := path.read_text()):
        diff = difflib.unified_diff(kept.splitlines(), text.splitlines(), "kept", "now", lineterm="")
        pytest.fail(f"{path.name} differs: run `make golden` and read the diff\n" + "\n".join(diff), pytrace=False)


def resources(state: dict[str, Any], beside: Mapping[str, dict[str, Any]] | None = None) -> dict[str, Any]:
    """A stack's resources as the program registered them. What the cloud made up is masked by whose it is.

    `beside` are the states, by stack, of others that this one reads from.
    """
    listed, names = _listed(state), _names(state)
    made = _made(state, "")
    for stack, other in (beside or {}).items():
        made |= _made(other, f" of {stack}")
    found = {}
    for resource in listed:
        entry = {
            "inputs": _masked(_without_defaults(resource.get("inputs", {})), made),
            **({"retained": True} if resource.get("retainOnDelete") else {}),
            "parent": names.get(resource.get("parent", ""), "the stack"),
            "protect": resource.get("protect", False),
        }
        if "provider" in resource:
            entry["provider"] = resource["provider"].split("::")[-2]
        found[names[resource["urn"]]] = entry
    return found


def _listed(state: dict[str, Any]) -> list[dict[str, Any]]:
    return [r for r in state["checkpoint"]["latest"]["resources"] if r["type"] != "pulumi:pulumi:Stack"]


def _names(state: dict[str, Any]) -> dict[str, str]:
    return {r["urn"]: f"{r['type']} {r['urn'].rpartition('::')[2]}" for r in _listed(state)}


def _made(state: dict[str, Any], whose: str) -> dict[str, str]:
    """What the cloud made up → what it is."""
    made: dict[str, str] = {}
    names = _names(state)
    for resource in _listed(state):
        for key in ("id", "arn", "allocationId", "keyId", "transitGatewayAttachmentId", "privateIp", "principalId"):
            value = resource["id"] if key == "id" and "id" in resource else resource.get("outputs", {}).get(key)
            # Names are ids too (a bucket's, an alias'), and those the program chose.
            if isinstance(value, str) and value not in json.dumps(resource.get("inputs", {})):
                made.setdefault(value, f"<{key} of {names[resource['urn']]}{whose}>")
    return made


# What is another one each time, as a text or as a part of one.
FRESH = (
    (re.compile(r"-----BEGIN .*-----\s*", re.DOTALL), "<PEM>"),
    (re.compile(r"/[0-9a-f]{16}\.json$"), "/<version>.json"),
    (re.compile(r"/recovery-[0-9a-f]{8}$"), "/recovery-<birth>"),
    (re.compile(r"--[0-9a-f]{8}$"), "--<birth>"),
    # A tunnel's secret in a vault: which key.
    (re.compile(r"(-links-.*-\d)-[0-9a-f]{8}$"), r"\1-<key>"),
    # A tunnel's end: the next public address of a local cloud, whichever asks first.
    (re.compile(r"^(198\.51\.100|203\.0\.113)\.\d+$"), "<public address>"),
    # A server for laptops in Azure: when its machine was made.
    (re.compile(r"(-laptops-vpn-\d)-[0-9a-z]{6}$"), r"\1-<signs>"),
)
# Property → what it holds, for those that tests of their own look into.
OPAQUE = {
    "userData": "<user-data>",
    "customData": "<custom-data>",
    "content": "<content>",
    "keyData": "<key>",
}


def _without_defaults(inputs: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in inputs.items() if not key.startswith("__")}


def _masked(value: Any, made: dict[str, str]) -> Any:
    if isinstance(value, dict):
        opened = {key: OPAQUE[key] if key in OPAQUE else _masked(item, made) for key, item in value.items()}
        return {ASSET: "<content>"}.get(value[SECRET], "<secret>") if SECRET in value else opened
    if isinstance(value, list):
        return [_masked(item, made) for item in value]
    if isinstance(value, str):
        if value[:1] in ("{", "["):  # policies are JSON in text
            with contextlib.suppress(ValueError):
                return _masked(json.loads(value), made)
        for form, mask in FRESH:
            value = form.sub(mask, value)
        return made.get(value, value)
    return value
