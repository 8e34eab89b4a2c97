"""When somebody has to be told of a connection's tunnels on Azure, in the words of its Monitor. Pure.

Only of those with sites: of tunnels between the clouds AWS's alarms tell.
"""

from typing import Any, NamedTuple

TARGET, METRIC = "Microsoft.Network/virtualNetworkGateways", "BgpPeerStatus"
# The metric tells of each address that BGP is spoken with, and of each instance that speaks, 1 or 0 ("Set up alerts on
# Azure VPN Gateway metrics"); it comes every five minutes.
PEER, INSTANCE = "BgpPeerAddress", "Instance"
EVERY = "PT5M"
# An average of 0: at no time of the window did BGP speak.
OPERATOR, THRESHOLD = "LessThanOrEqual", 0
CRITERIA = "Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria"


class Alarm(NamedTuple):
    """`window` is in ISO 8601; severities are 0 (worst) to 4. `each`: every instance is judged by itself."""

    name: str
    window: str
    severity: int
    why: str
    each: bool


ALARMS = (
    # Azure renews an instance within minutes, and tells nobody else.
    Alarm("one-down", "PT15M", 2, "one tunnel is down, and nothing is left to fail over to", each=True),
    Alarm("all-down", "PT5M", 1, "no tunnel is up", each=False),
)


def criteria(alarm: Alarm, peer: str) -> dict[str, Any]:
    """Of a metric alert, spelled as Azure does, since the SDK has several types of them and so renames nothing.

    `peer` is the address with which both instances speak.
    """
    dimensions = [{"name": PEER, "operator": "Include", "values": [peer]}]
    if alarm.each:
        dimensions.append({"name": INSTANCE, "operator": "Include", "values": ["*"]})
    return {
        "odataType": CRITERIA,
        "allOf": [
            {
                "criterionType": "StaticThresholdCriterion",
                "name": alarm.name,
                "metricNamespace": TARGET,
                "metricName": METRIC,
                "timeAggregation": "Average",
                "operator": OPERATOR,
                "threshold": THRESHOLD,
                "dimensions": dimensions,
            }
        ],
    }
