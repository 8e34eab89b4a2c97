"""Pulumi's wire values ↔ plain Python.

The servicer declines secrets, outputs and resource references (Configure), so the engine sends plain values and keeps
track of secrets itself: an output under a secret input's name becomes secret. What is left is the unknown marker.
"""

from collections.abc import Mapping
from typing import Any

from google.protobuf import json_format, struct_pb2

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"  # sdk/python/lib/pulumi/runtime/rpc.py
Properties = dict[str, Any]


def decode(struct: struct_pb2.Struct) -> Properties:
    """Numbers travel as floats; whole ones become ints, which the clouds' SDKs insist on."""
    decoded = _whole(json_format.MessageToDict(struct))
    assert isinstance(decoded, dict)
    return decoded


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def encode(values: Mapping[str, Any]) -> struct_pb2.Struct:
    """Drops top-level Nones: to the engine a property is there or not."""
    struct = struct_pb2.Struct()
    json_format.ParseDict({key: value for key, value in values.items() if value is not None}, struct)
    return struct


def has_unknown(value: Any) -> bool:
    """Whether any part of the value is not known before the update."""
    if isinstance(value, dict):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(has_unknown(item) for item in value)
    return bool(value == UNKNOWN)
