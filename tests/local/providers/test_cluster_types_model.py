"""Every call that a table names is one of AWS's, with AWS's parameters: what a typing error would spoil is found here."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import botocore.session
import pytest
from botocore import xform_name
from botocore.model import Shape

from local.providers.aws.kinds import Call, Kind
from local.providers.aws.tables import KINDS
from local.providers.aws.tables.parts import Given, Parts

SCALARS = {str: {"string", "blob"}, bool: {"boolean"}, int: {"integer", "long", "double", "float"}}


def calls(kind: Kind) -> Iterator[Call]:
    yield from (kind.create, kind.read, *kind.delete, *kind.after_create, *kind.more.values())
    for change in kind.changes:
        yield from change.calls
    if kind.tagging:
        yield from (kind.tagging.add, kind.tagging.remove, *([kind.tagging.read] if kind.tagging.read else []))


@cache
def service(name: str) -> Any:
    return botocore.session.get_session().get_service_model(name)


def wrong(call: Call, of_service: str) -> list[str]:
    model = service(of_service)
    names = {xform_name(name): name for name in model.operation_names}
    if call.operation not in names:
        return [f"{of_service} has no operation {call.operation}"]
    shape = model.operation_model(names[call.operation]).input_shape
    found = list(differences(call.operation, shape, call.params))
    # boto3 makes up what the model calls an idempotency token.
    required = (
        [name for name in shape.required_members if "idempotencyToken" not in shape.members[name].metadata]
        if shape
        else []
    )
    missing = set(required) - call.params.keys()
    return found + [f"{call.operation}.{name}: required" for name in sorted(missing)]


def differences(path: str, shape: Shape | None, template: Any) -> Iterator[str]:
    """Where a template does not fit what the API takes. A marker fits anywhere; its conversion table must fit too."""
    kind = shape.type_name if shape else "structure"
    convert = getattr(template, "convert", None)
    if isinstance(convert, Given):
        yield from parts(path, shape.member if kind == "list" else shape, convert.parts)
    elif isinstance(template, Mapping):
        if kind == "map":
            return
        members = getattr(shape, "members", {})
        if kind != "structure":
            yield f"{path}: a {kind}"
        for name in template if kind == "structure" else ():
            if name not in members:
                yield f"{path}: no parameter {name}"
            else:
                yield from differences(f"{path}.{name}", members[name], template[name])
    elif isinstance(template, list):
        if kind != "list":
            yield f"{path}: a {kind}, no list"
            return
        for item in template:
            yield from differences(path, shape.member, item)
    elif type(template) in SCALARS and kind not in SCALARS[type(template)]:
        yield f"{path}: {template!r} is no {kind}"


def parts(path: str, shape: Any, table: Parts) -> Iterator[str]:
    for part in table.values():
        if part.name not in shape.members:
            yield f"{path}: no part {part.name}"
            continue
        below = shape.members[part.name]
        if part.flag and below.type_name != "boolean":
            yield f"{path}.{part.name}: no flag"
        if part.parts is not None:
            yield from parts(f"{path}.{part.name}", below, part.parts)


@pytest.mark.parametrize("token", sorted(KINDS))
def test_every_call_and_parameter_is_in_the_api_s_own_model(token: str) -> None:
    kind = KINDS[token]
    assert [message for call in calls(kind) for message in wrong(call, kind.service)] == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (Call("create_vps", {}), "ec2 has no operation create_vps"),
        (Call("create_vpc", {"CidrBlok": "x"}), "create_vpc: no parameter CidrBlok"),
        (Call("create_tags", {"Resources": "x", "Tags": []}), "create_tags.Resources: 'x' is no list"),
        (Call("create_tags", {"Resources": [], "Tags": [{"Kay": "x"}]}), "create_tags.Tags: no parameter Kay"),
        (Call("create_tags", {"Tags": []}), "create_tags.Resources: required"),
    ],
)
def test_a_typing_error_is_found(call: Call, message: str) -> None:
    assert wrong(call, "ec2") == [message]
