"""What other languages see of the package: names and types of arguments and outputs."""

import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from stacks.outputs import (
    AddOnsOutputs,
    ClusterOutputs,
    LinksOutputs,
    PoolOutputs,
    RegionOutputs,
    SitePoolOutputs,
)
from stacks.package.described import Package
from stacks.package.host import version
from stacks.package.kinds import COMPONENTS
from tests.support import golden

HERE = Path(__file__).parent
CONTRACTS: dict[str, set[str]] = {
    "Region": set(RegionOutputs.__annotations__),
    "Links": set(LinksOutputs.__annotations__),
    "Cluster": set(ClusterOutputs.__annotations__),
    "Pool": {*PoolOutputs.__annotations__, *SitePoolOutputs.__annotations__},
    "AddOns": set(AddOnsOutputs.__annotations__),
}


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return dict(json.loads(Package(version()).schema or ""))


def shape(property_: dict[str, Any]) -> str:
    """In one word: `string`, `{string}` for a map, `[string]` for a list, `any`; `!` for what is plain."""
    kind = property_.get("type", "any")
    if kind == "object":
        kind = "{" + shape(property_["additionalProperties"]).rstrip("!") + "}"
    elif kind == "array":
        kind = "[" + shape(property_["items"]).rstrip("!") + "]"
    return f"{kind}!" if property_.get("plain") else str(kind)


def shapes(resource: dict[str, Any], properties: str, required: str) -> dict[str, str]:
    found = resource.get(properties, {})
    return {
        name + ("" if name in resource.get(required, ()) else "?"): shape(one) for name, one in sorted(found.items())
    }


@pytest.mark.golden
def test_names_and_types_are_those_of_the_golden_file(schema: dict[str, Any]) -> None:
    told = {
        token: {
            "arguments": shapes(resource, "inputProperties", "requiredInputs"),
            "outputs": shapes(resource, "properties", "required"),
        }
        for token, resource in sorted(schema["resources"].items())
    }
    golden.compare(HERE / "golden/schema.yaml", told)


def test_every_argument_and_output_says_what_it_is(schema: dict[str, Any]) -> None:
    silent = [
        f"{token} {name}"
        for token, resource in schema["resources"].items()
        for name, one in {**resource["inputProperties"], **resource["properties"]}.items()
        if not one.get("description")
    ]
    assert silent == []


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda one: one.__name__)
def test_outputs_are_those_of_the_stack(component: type) -> None:
    assert set(component.__annotations__) - {"outputs"} <= CONTRACTS[component.__name__]


def test_pulumi_finds_the_plugin_at_the_root() -> None:
    root = HERE.parents[2]
    about = YAML(typ="safe").load((root / "PulumiPlugin.yaml").read_text())
    assert about["runtime"]["name"] == "python"
    assert (root / "__main__.py").exists()
    assert (root / "requirements.txt").read_text().splitlines()[-1] == "-r requirements.lock"
