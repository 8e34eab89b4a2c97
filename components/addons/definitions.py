"""Custom resource definitions of upstream's controllers, which tools/definitions.py writes beside this file."""

import json
from collections.abc import Collection
from pathlib import Path

from .manifests import Manifest, meta

FOLDER = Path(__file__).with_name("definitions")


def definitions(group: str, addon: str) -> list[Manifest]:
    """Those of an API group, in the order of their names."""
    found = [json.loads(file.read_text()) for file in sorted(FOLDER.glob(f"*.{group}.json"))]
    return [{**one, "metadata": meta(one["metadata"]["name"], addon, "")} for one in found]


def converted(definitions: list[Manifest], names: Collection[str], client: Manifest) -> list[Manifest]:
    """With a webhook, by its client configuration, that would convert those of the names between their versions."""
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    conversion = {"conversion": {"strategy": "Webhook", "webhook": webhook}}
    return [
        {**one, "spec": {**one["spec"], **(conversion if one["metadata"]["name"] in names else {})}}
        for one in definitions
    ]
