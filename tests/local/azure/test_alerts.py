"""Metric alerts of the local Azure: what Azure's Monitor refuses is refused, and a gateway goes without asking them."""

from typing import Any

from .network_support import Place
from .support import LocalAzure
from .test_vpn import hub  # noqa: F401  (fixture)

VERSION = "2018-03-01"
CRITERION = {
    "criterionType": "StaticThresholdCriterion",
    "name": "it",
    "metricName": "BgpPeerStatus",
    "operator": "LessThanOrEqual",
    "threshold": 0,
    "timeAggregation": "Average",
    "dimensions": [{"name": "BgpPeerAddress", "operator": "Include", "values": ["169.254.21.1"]}],
}


def body(scope: str, criterion: dict[str, Any] | None = None, **changed: Any) -> dict[str, Any]:
    criteria = {"odata.type": "Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria"}
    properties = {
        "severity": 2,
        "enabled": True,
        "scopes": [scope],
        "evaluationFrequency": "PT5M",
        "windowSize": "PT15M",
        "criteria": {**criteria, "allOf": [{**CRITERION, **(criterion or {})}]},
    }
    return {"location": "global", "properties": {**properties, **changed}}


def test_an_alert_is_on_a_gateway_s_metric(azure: LocalAzure, here: Place, hub: dict[str, Any]) -> None:  # noqa: F811
    gateway = here.make("virtualNetworkGateways", "hub", **hub)["id"]
    path = f"{here.id}/providers/Microsoft.Insights/metricAlerts/down"
    wrong = [
        body(f"{gateway}-none"),
        body(gateway, severity=5),
        body(gateway, windowSize="PT1M"),
        body(gateway, windowSize="PT7M"),
        body(gateway, actions=[{"actionGroupId": gateway}]),
        body(gateway, {"metricName": "Mood"}),
        body(gateway, {"operator": "Below"}),
        body(gateway, {"threshold": None}),
        body(gateway, {"dimensions": [{"name": "Colour", "operator": "Include", "values": ["*"]}]}),
        {**body(gateway), "location": "southcentralus"},
    ]
    assert [azure.put(path, one, VERSION).status_code for one in wrong] == [400] * len(wrong)
    assert azure.put(path, body(gateway), VERSION).status_code == 200
    made = azure.ask("GET", path, version=VERSION).json()
    assert made["properties"]["targetResourceType"] == "Microsoft.Network/virtualNetworkGateways"
    assert (made["properties"]["targetResourceRegion"], made["properties"]["autoMitigate"]) == ("southcentralus", True)
    assert here.delete("virtualNetworkGateways", "hub") == ""
    assert azure.ask("DELETE", path, version=VERSION).status_code == 200


def test_an_alert_tells_a_group_that_is_there(azure: LocalAzure, here: Place, hub: dict[str, Any]) -> None:  # noqa: F811
    gateway = here.make("virtualNetworkGateways", "hub", **hub)["id"]
    path, groups = (f"{here.id}/providers/Microsoft.Insights/{kind}" for kind in ("metricAlerts/up", "actionGroups"))
    alert, mail = body(gateway, actions=[{"actionGroupId": f"{groups}/ops"}]), {"name": "a", "emailAddress": "a@b.c"}

    def group(location: str = "global", **changed: Any) -> dict[str, Any]:
        return {"location": location, "properties": {"groupShortName": "ops", "emailReceivers": [mail], **changed}}

    wrong = [
        group("southcentralus"),
        group(groupShortName="more-than-twelve"),
        group(groupShortName=None),
        group(enabled="yes"),
        group(emailReceivers=[mail, mail]),
        group(emailReceivers=[{**mail, "emailAddress": "nobody"}]),
        group(emailReceivers=[{**mail, "colour": "red"}]),
        group(smsReceivers=[{"name": "a", "countryCode": "1", "phoneNumber": "5550100"}]),
    ]
    assert [azure.put(f"{groups}/ops", one, VERSION).status_code for one in wrong] == [400] * len(wrong)
    assert azure.put(path, alert, VERSION).status_code == 400, "there is none yet"
    assert azure.put(f"{groups}/ops", group(), VERSION).status_code == 201
    made = azure.ask("GET", f"{groups}/ops", version=VERSION).json()["properties"]
    assert (made["enabled"], made["emailReceivers"][0]["useCommonAlertSchema"]) == (True, False)
    assert azure.put(path, alert, VERSION).status_code == 200
    assert azure.put(path, body(gateway, actions=[{"actionGroupId": gateway}]), VERSION).status_code == 400
    assert azure.ask("DELETE", f"{groups}/ops", version=VERSION).status_code == 200
    assert azure.ask("DELETE", path, version=VERSION).status_code == 200
    assert here.delete("virtualNetworkGateways", "hub") == ""
