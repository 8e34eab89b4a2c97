"""A pool's template of a node as the autoscaler reads it: Kubernetes' own encoding of a Node."""

from typing import Any

from google.protobuf import json_format

from .protocol import messages

AMOUNTS = ("capacity", "allocatable")


def encoded(node: dict[str, Any]) -> bytes:
    """Raises ValueError for a field that the encoding lacks, since an autoscaler would never hear of it."""
    status = {**node["status"]}
    for part in AMOUNTS:
        status[part] = {name: {"string": amount} for name, amount in status[part].items()}
    document = {"metadata": node["metadata"], "spec": node["spec"], "status": status}
    try:
        made: bytes = json_format.ParseDict(document, messages.Node()).SerializeToString(deterministic=True)
    except json_format.ParseError as error:
        raise ValueError(f"the template of {node['metadata'].get('name')}: {error}") from None
    return made
