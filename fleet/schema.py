"""The fleet file's JSON Schema, for editors: `python -m fleet.schema` prints it, docs/ holds the committed copy."""

import json
import sys
from typing import Any

from pydantic import BaseModel

from .model import Fleet


def json_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of fleet.yaml. What needs two entries to decide is in `fleet.rules` alone."""
    return of("fleet.yaml", Fleet)


def of(file: str, model: type[BaseModel]) -> dict[str, Any]:
    """That of any file whose whole is a model."""
    # The model's own title is its name in Python.
    schema = {
        **model.model_json_schema(),
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": file,
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


def render(schema: dict[str, Any] | None = None) -> str:
    return json.dumps(schema or json_schema(), indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())
