"""The stack of a region's servers for laptops: its resources against the golden file, and what a preview says."""

import json
from pathlib import Path

import pytest

from tests.support import golden
from tests.support.cloud import Cloud

pytestmark = pytest.mark.cloud
HERE = Path(__file__).parent
STACK, REGION, CLUSTER = "us-west-2-laptops", "us-west-2", "main"


@pytest.mark.golden
def test_its_resources_are_those_of_the_golden_file(states: Path) -> None:
    read = {name: json.loads((states / f"{name}.json").read_text()) for name in (STACK, REGION, CLUSTER)}
    beside = {name: read[name] for name in (REGION, CLUSTER)}
    golden.compare(HERE / f"golden/{STACK}.yaml", golden.resources(read[STACK], beside))


def test_what_is_up_would_not_change(cloud: Cloud) -> None:
    assert "Nothing would change" in cloud.run("preview", "--local", STACK).stdout
