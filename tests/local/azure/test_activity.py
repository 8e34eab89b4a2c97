"""The activity log of the local Azure: who did what, by the filters that Azure has."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from local.azure import tokens

from .machines import SET, Pools
from .support import SUBSCRIPTION, LocalAzure

LOG = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Insights/eventtypes/management/values"


def since(seconds: float = 0) -> str:
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    return f"eventTimestamp ge '{at:%Y-%m-%dT%H:%M:%S.%fZ}'"


def read(azure: LocalAzure, told: str) -> Any:
    return azure.ask("GET", f"{LOG}?$filter={quote(told)}", version="2015-04-01").json()


def test_what_was_done_is_told_with_who_did_it(pools: Pools) -> None:
    begun = since()
    pools.put(2)
    pools.azure.ask("POST", f"{pools.path}/delete", {"instanceIds": ["1"]})
    pools.azure.ask("DELETE", f"{pools.path}/virtualMachines/0")
    pools.azure.ask("GET", pools.path)
    found = read(
        pools.azure, f"{begun} and resourceGroupName eq '{pools.group}' and resourceProvider eq 'Microsoft.Compute'"
    )
    assert [one["operationName"]["value"] for one in found["value"]] == [
        f"{SET}/virtualMachines/delete",
        f"{SET}/delete/action",
        f"{SET}/write",
    ]
    assert {one["caller"] for one in found["value"]} == {tokens.DEPLOYER}
    one, several, write = found["value"]
    assert (one["resourceId"], several["resourceId"]) == (f"{pools.path}/virtualMachines/0", pools.path)
    assert json.loads(several["properties"]["requestbody"]) == {"instanceIds": ["1"]}
    assert "properties" not in write, "a model has its machines' secrets"
    assert one["status"]["value"] in ("Accepted", "Succeeded")


def test_a_filter_leaves_others_out_and_must_say_from_when_on(pools: Pools) -> None:
    begun = since()
    pools.put(1)
    assert read(pools.azure, since(60))["value"] == []
    assert read(pools.azure, f"{begun} and resourceGroupName eq 'other'")["value"] == []
    assert read(pools.azure, f"{begun} and resourceUri eq '{pools.path.upper()}'")["value"]
    for told in ("", f"resourceGroupName eq '{pools.group}'", f"{begun} and caller eq 'me'"):
        assert read(pools.azure, told)["error"]["code"] == "BadRequest"
