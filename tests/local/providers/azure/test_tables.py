"""The tables of Azure's resources fit the installed SDK, and what they send fits Azure's own models."""

import re
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from local.providers import sdk_types
from local.providers.azure import shapes
from local.providers.azure.engine import version
from local.providers.azure.kinds import Kind
from local.providers.azure.models import known, model
from local.providers.azure.tables import KINDS

MODELLED = sorted(token for token, kind in KINDS.items() if kind.model)
# ARM's own, in every answer; models of before 2022 do not tell of it.
UNTOLD = {".systemData"}


def body_types(token: str) -> dict[str, Any]:
    kind = KINDS[token]
    types = sdk_types.input_type(token).properties
    return {name: of for name, of in types.items() if name not in (*kind.in_path, *kind.query)}


def lost(types: Mapping[str, Any], of: type, path: str = "", seen: tuple[Any, ...] = ()) -> Iterator[str]:
    """Every property, at any depth, that the model has no place for."""
    for name, expected in types.items():
        at = known(of, name)
        if at is None:
            yield f"{path}.{name}"
            continue
        inner = shapes.object_types(expected)
        if inner is not None and (at.model, id(inner)) not in seen:
            assert at.model, f"{path}.{name} is an object, and {of.__name__} does not tell of what kind"
            yield from lost(inner, at.model, f"{path}.{name}", (*seen, (at.model, id(inner))))


@pytest.mark.parametrize("token", sorted(KINDS))
def test_an_entry_uses_the_sdk_s_own_names(token: str) -> None:
    kind, takes = KINDS[token], sdk_types.input_type(token)
    assert {*kind.in_path, *kind.query, *kind.replace} <= takes.properties.keys()
    assert {part.partition(".")[0] for part in kind.subresources} <= takes.properties.keys()
    if token != "azure-native:storage:Blob":  # no part of ARM
        assert re.fullmatch(r"20\d\d-\d\d-\d\d(-preview)?", version(token))


@pytest.mark.parametrize("token", MODELLED)
def test_each_property_has_a_place_in_azure_s_model(token: str) -> None:
    kind = KINDS[token]
    assert list(lost(body_types(token), model(str(kind.model)))) == []
    assert set(lost(shapes.output_types(token), model(str(kind.answer or kind.model)))) <= UNTOLD


@pytest.mark.parametrize("token", MODELLED)
def test_what_is_sent_is_known_to_azure_s_model_and_comes_back_as_it_went(token: str) -> None:
    types, of = body_types(token), model(str(KINDS[token].model))
    said = {name: sample(expected, 3) for name, expected in types.items()}
    body = shapes.to_wire(said, types, of, top=True)
    assert list(strangers(body, of)) == []
    assert shapes.as_inputs(shapes.to_sdk(body, types, of, top=True), types) == said


def sample(expected: Any, depth: int) -> Any:
    """A value of a type; objects below `depth` are empty."""
    for choice in sdk_types._choices(expected):
        origin, inner = typing.get_origin(choice), typing.get_args(choice)
        if origin is not None and sdk_types._is_sequence(origin):
            return [sample(inner[0], depth)]
        if origin is not None and sdk_types._is_mapping(origin):
            return {"a": sample(inner[1], depth)}
        if isinstance(choice, type) and choice in (str, int, float, bool):
            return {str: "text", int: 7, float: 7, bool: True}[choice]
        if (types := shapes.object_types(choice)) is not None:
            return {name: sample(of, depth - 1) for name, of in types.items()} if depth else {}
    return "text"


def strangers(body: Mapping[str, Any], of: type, path: str = "") -> Iterator[str]:
    """What stands in a body where the model has nothing of that name."""
    from local.providers.azure.models import places

    at_paths = {one.path: one for one in places(of).values()}
    for name, value in body.items():
        at = at_paths.get((name,))
        inside = {path[0] for path in at_paths}
        if at is None:
            if name not in inside:
                yield f"{path}.{name}"
            elif isinstance(value, dict):
                yield from (f"{path}.{name}.{key}" for key in value if (name, key) not in at_paths)
        elif at.model is not None:
            items = value if isinstance(value, list) else [*value.values()] if at.mapping else [value]
            for item in items:
                if isinstance(item, dict):
                    yield from strangers(item, at.model, f"{path}.{name}")


def test_a_name_stands_where_the_path_has_it() -> None:
    kind = Kind("/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/A.B/c/{d}", None)
    assert (kind.in_path, kind.named) == (("resourceGroupName", "d"), "d")


def test_of_several_types_of_an_object_the_one_is_judged_that_fits_best() -> None:
    criterion = {"criterionType": "StaticThresholdCriterion", "name": "it", "metricName": "BgpPeerStatus"}
    criterion |= {"operator": "LessThan", "timeAggregation": "Average"}
    told = {"resourceGroupName": "g", "enabled": True, "severity": 1, "scopes": ["/a"], "windowSize": "PT5M"}
    told |= {"evaluationFrequency": "PT5M"}

    def wrong(**changed: object) -> list[str]:
        criteria = {"odataType": "single", "allOf": [{**criterion, **changed}]}
        return [
            str(one) for one in sdk_types.mistakes("azure-native:monitor:MetricAlert", {**told, "criteria": criteria})
        ]

    assert wrong(threshold=1) == []
    assert len(wrong()) == 1, "a threshold is required where there is no sensitivity"
    assert len(wrong(threshold=1, treshold=1)) == 1
