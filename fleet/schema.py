"""The fleet file's JSON Schema, for editors: `python -m fleet.schema` prints it, docs/ holds the committed copy."""

import json
import sys
from typing import Any

from .model import Fleet


def json_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of fleet.yaml. What needs two entries to decide is in `fleet.rules` alone."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fleet.yaml",
        **Fleet.model_json_schema(),
    }
    _close_names(schema)
    return schema


def _close_names(node: Any) -> None:
    """Pydantic writes the pattern of names and leaves other names open."""
    if isinstance(node, dict):
        if "patternProperties" in node:
            node["additionalProperties"] = False
        for part in node.values():
            _close_names(part)
    elif isinstance(node, list):
        for part in node:
            _close_names(part)


def render() -> str:
    return json.dumps(json_schema(), indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())
