"""Metric alerts: Azure Monitor's rules on what resources measure. They are kept and checked; nothing here measures."""

import re
from typing import Any

from ..errors import bad_request
from ..kinds import Kind, Write
from ..references import require
from ..regions import GLOBAL
from . import common
from .action_groups import GROUP

ALERT = "Microsoft.Insights/metricAlerts"
GATEWAY = "Microsoft.Network/virtualNetworkGateways"
NAME = re.compile(r"[^*#&+:<>?@%{}\\/|]{1,260}")
KNOWN = frozenset(
    (
        *("description", "severity", "enabled", "scopes", "evaluationFrequency", "windowSize", "targetResourceType"),
        *("targetResourceRegion", "criteria", "autoMitigate", "actions"),
    )
)
READ_ONLY = ("lastUpdatedTime", "isMigrated")
# Azure Monitor docs, "Metric Alerts - Create Or Update".
FREQUENCIES = ("PT1M", "PT5M", "PT15M", "PT30M", "PT1H")
WINDOWS = ("PT1M", "PT5M", "PT15M", "PT30M", "PT1H", "PT6H", "PT12H", "P1D")
OPERATORS = ("Equals", "GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual")
AGGREGATIONS = ("Average", "Count", "Minimum", "Maximum", "Total")
SINGLE = "Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria"
CRITERION = frozenset(
    (
        *("criterionType", "name", "metricName", "metricNamespace", "dimensions", "operator", "threshold"),
        *("timeAggregation", "skipMetricValidation"),
    )
)
# Type of resource → its metrics, and by what each can be told apart ("Supported metrics with Azure Monitor").
METRICS: dict[str, dict[str, frozenset[str]]] = {
    GATEWAY: {
        "BgpPeerStatus": frozenset(("BgpPeerAddress", "Instance")),
        "TunnelAverageBandwidth": frozenset(("ConnectionName", "RemoteIP", "Instance")),
    }
}


def _check(write: Write) -> None:
    if write.new.location != GLOBAL:
        message = f"{write.id.text} is in '{write.new.location}'; it must be in 'global'."
        raise bad_request("LocationNotAvailableForResourceType", message)
    if not NAME.fullmatch(write.id.name):
        raise common.invalid(f"'{write.id.name}' is no name of a metric alert.")
    properties = write.properties
    common.number(write, properties, "severity", 0, 4)
    if not isinstance(properties.get("enabled"), bool):
        raise common.invalid(f"{write.id.text}: enabled is {properties.get('enabled')!r}; it must be true or false.")
    properties.setdefault("autoMitigate", True)
    properties["actions"] = properties.get("actions") or []
    for n, one in enumerate(properties["actions"]):
        require(write, one.get("actionGroupId"), f"properties.actions[{n}].actionGroupId", GROUP, near=False)
    every = common.pick(write, properties, "evaluationFrequency", FREQUENCIES)
    window = common.pick(write, properties, "windowSize", WINDOWS)
    if WINDOWS.index(window) < WINDOWS.index(every):
        raise common.invalid(f"{write.id.text}: windowSize {window} is shorter than evaluationFrequency {every}.")
    if len(properties.get("scopes") or ()) != 1:
        raise common.invalid(f"{write.id.text}: the local Azure has alerts with one of scopes.")
    target = require(write, {"id": properties["scopes"][0]}, "properties.scopes", *METRICS, near=False)
    properties["targetResourceType"], properties["targetResourceRegion"] = target.id.type, target.location
    criteria = properties.get("criteria") or {}
    if criteria.get("odata.type") != SINGLE or criteria.keys() - {"odata.type", "allOf"} or not criteria.get("allOf"):
        raise common.invalid(f"{write.id.text}: criteria are of {SINGLE}, with allOf.")
    names = [one.get("name") for one in criteria["allOf"]]
    if len(set(names)) < len(names):
        raise common.invalid(f"{write.id.text}: two of its criteria have one name.")
    for one in criteria["allOf"]:
        _criterion(write, one, target.id.type)


def _criterion(write: Write, criterion: dict[str, Any], type_: str) -> None:
    if strange := sorted(criterion.keys() - CRITERION):
        raise common.invalid(f"Could not find member '{strange[0]}' at 'properties.criteria.allOf' of {write.id.text}.")
    common.pick(write, criterion, "criterionType", ("StaticThresholdCriterion",))
    common.pick(write, criterion, "metricNamespace", (type_,), type_)
    metric = common.pick(write, criterion, "metricName", METRICS[type_])
    common.pick(write, criterion, "operator", OPERATORS)
    common.pick(write, criterion, "timeAggregation", AGGREGATIONS)
    if not isinstance(criterion.get("threshold"), int | float):
        raise common.invalid(f"{write.id.text}: threshold is {criterion.get('threshold')!r}; it must be a number.")
    for one in criterion.get("dimensions") or ():
        common.pick(write, one, "name", METRICS[type_][metric])
        common.pick(write, one, "operator", ("Include", "Exclude"))
        if not one.get("values"):
            raise common.invalid(f"{write.id.text}: dimension {one['name']} has no values.")


KINDS = (
    Kind(ALERT, check=_check, known=KNOWN, read_only=READ_ONLY, statuses=(200, 200), stateless=True, untagged=True),
)
