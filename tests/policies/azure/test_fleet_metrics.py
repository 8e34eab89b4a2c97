"""The identity of who reads fleet metrics passes every policy, and a step further is refused."""

import pulumi
import pulumi_azure_native as azure_native

from components.addons.azure import fleet_metrics_role as role
from components.addons.azure.addons import FleetMetricsIdentity
from fleet.world import World
from policies.azure.roles import ASSIGNMENT, DEFINITION
from policies.reading import Item

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


def test_metrics_are_read_over_one_gateway_by_a_role_that_does_nothing_else() -> None:
    items = registered(fleet_metrics)
    # This fleet has no site: a role over a region stands for that of its links.
    defined = next(one for one in items if one.type == DEFINITION and one.name == f"may-look-at-{role.POOLS}")
    number = defined.props["roleDefinitionId"]
    (given,) = (one for one in items if one.type == ASSIGNMENT and one.props["roleDefinitionId"].endswith(number))
    rest = [one for one in items if one not in (defined, given)]
    group, (may,) = given.props["scope"], defined.props["permissions"]
    subscription = group.partition("/resourceGroups/")[0]
    gateway = f"{group}/providers/{role.GATEWAYS}/hub"
    defined = changed(defined, permissions=[{**may, "actions": role.ROLES[role.BGP]}])
    assert judged([*rest, defined, changed(given, scope=gateway)]) == {}
    for scope in (subscription, group, f"{group}/providers/{role.CONNECTIONS}/one", f"{gateway}/more"):
        (line,) = judged([*rest, defined, changed(given, scope=scope)])["roles"]
        assert f"it gives all metrics of {scope}" in line
    more = [*role.ROLES[role.BGP], *role.ROLES[role.LINKS]]
    wider = changed(defined, permissions=[{**may, "actions": more}])
    (line,) = judged([*rest, wider, changed(given, scope=gateway)])["roles"]
    assert "it gives metrics with 1 rights more" in line


def changed(item: Item, **props: object) -> Item:
    return item._replace(props={**item.props, **props})
