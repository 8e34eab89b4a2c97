"""The identity of who reads fleet metrics passes every policy, and a step further is refused."""

import pulumi
import pulumi_azure_native as azure_native

from components.addons.azure.addons import FleetMetricsIdentity
from fleet.world import World
from policies.azure.roles import ASSIGNMENT

from .test_stack import judged, registered


def fleet_metrics(world: World) -> FleetMetricsIdentity:
    provider = azure_native.Provider("p", subscription_id="s", tenant_id="t")
    opts = pulumi.ResourceOptions(providers={"azure-native": provider})
    return FleetMetricsIdentity("fleet-metrics", {"fleet": world.fleet, "cluster": "main"}, opts)


def test_the_identity_of_fleet_metrics_passes_and_lists_its_cluster_s_snapshots_alone() -> None:
    items = registered(fleet_metrics)
    assert judged(items) == {}
    listing = [one for one in items if one.type == ASSIGNMENT and one.props.get("condition")]
    assert listing
    for right, wrong in (
        ("backups/main/*", "backups/*"),
        ("backups/main/*", "teams/*"),
        ("restores/main/*", "restores/*"),
        ("drift/main/*", "drift/*"),
        (" AND NOT SubOperationMatches", " AND SubOperationMatches"),
        (") AND (", ") OR ("),
    ):
        for one in listing:
            if right not in one.props["condition"]:
                continue
            wider = one._replace(props={**one.props, "condition": one.props["condition"].replace(right, wrong)})
            (line,) = judged([wider])["roles"]
            assert "Storage Blob Data Reader opens all that lies in" in line
    other = listing[0].props["scope"].replace("/storageAccounts/azurealone", "/storageAccounts/elsewhere")
    assert other != listing[0].props["scope"]
    (line,) = judged([listing[0]._replace(props={**listing[0].props, "scope": other})])["roles"]
    assert "opens all that lies in" in line
