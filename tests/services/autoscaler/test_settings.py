"""What the service does not take for its settings."""

import json
from pathlib import Path
from typing import Any

import pytest

from services.autoscaler.settings import SettingsError, read

GROUP = {"name": "south", "pool": "south", "owner": "research", "region": "southcentralus", "least": 0, "most": 1}
AZURE = {"subscription_id": "00000000-0000-4000-8000-00000000000a", "resource_groups": {"southcentralus": "example"}}


def told(folder: Path, **changed: Any) -> Path:
    group = {**GROUP, "gpus": 0, "price_usd": None, "template": {}}
    whole = {"cluster": "main", "region_clouds": {"southcentralus": "azure"}, "groups": [group], "azure": AZURE}
    file = folder / "settings.json"
    file.write_text(json.dumps({**whole, **changed}))
    return file


def test_a_region_of_azure_has_its_resource_group(tmp_path: Path) -> None:
    found = read(told(tmp_path)).azure
    assert found is not None
    assert found.resource_groups == AZURE["resource_groups"]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"azure": None}, "azure.resource_groups lacks southcentralus"),
        ({"azure": {**AZURE, "resource_groups": {}}}, "azure.resource_groups lacks southcentralus"),
        ({"region_clouds": {}}, "groups are in southcentralus, which region_clouds lacks"),
        ({"region_clouds": {"southcentralus": "other"}}, "region_clouds.southcentralus: Input should be"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(tmp_path: Path, changed: dict[str, Any], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        read(told(tmp_path, **changed))
