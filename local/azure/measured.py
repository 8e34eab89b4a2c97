"""What Azure Monitor has measured of resources: "Metrics - List" of the metrics that gateways have of BGP.

No past is kept. So of a time that is asked for, the last interval alone has a value, if it reaches to now: what is so
now. Of the others the answer has their time and no value, as Azure's has where it measured nothing. A peer is there
from the first, though Azure knows none that never spoke.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from . import ids
from .errors import ArmError, bad_request
from .kinds import World
from .requests import Read, Request
from .resources import bgp_peers
from .resources.alerts import METRICS
from .store import Resource

# ISO 8601 → seconds ("Metrics - List", `interval`); those of a gateway's metrics, of which the shortest is the default.
INTERVALS = {"PT1M": 60, "PT5M": 300, "PT15M": 900, "PT30M": 1_800, "PT1H": 3_600}
AVERAGE = "Average"
CLAUSE = re.compile(r"(\w+) eq '([^']*)'")
METRIC, PEER, INSTANCE = "BgpPeerStatus", "BgpPeerAddress", "Instance"
ANY = "*"


def _metrics(world: World, request: Request, found: re.Match[str]) -> Any:
    if request.method != "GET":
        raise ArmError(405, "MethodNotAllowed", f"{request.method} is not allowed on {request.path}.")
    gateway, query = world.store.get(found["of"]), request.query
    type_, id_ = gateway.id.type, gateway.id.text
    begin, end = _timespan(query.get("timespan", ""))
    interval = query.get("interval", "PT1M")
    if interval not in INTERVALS:
        message = f"Detected invalid time grain input: {interval}. Valid time grains: {', '.join(INTERVALS)}."
        raise bad_request("BadRequest", message)
    if not ids.same(query.get("metricnamespace", type_), type_):
        raise bad_request("BadRequest", f"The local Azure has no metrics of '{query['metricnamespace']}' on {id_}.")
    name = _name(query.get("metricnames", ""), type_)
    if not ids.same(query.get("aggregation", AVERAGE), AVERAGE):
        raise bad_request("BadRequest", f"The local Azure has {name} by {AVERAGE}, not by '{query['aggregation']}'.")
    wanted = _filter(query.get("$filter", ""), name, METRICS[type_][name])
    step = timedelta(seconds=INTERVALS[interval])
    times = [begin + n * step for n in range(-(-(end - begin) // step))]
    series = _series(world, gateway, wanted)
    if "$filter" in query:  # Azure gives ten, unless `top` says otherwise
        series = series[: int(query.get("top", "10"))]
    now = datetime.now(UTC)
    return {
        "cost": 0,
        "timespan": f"{_text(begin)}/{_text(end)}",
        "interval": interval,
        "namespace": type_,
        "resourceregion": gateway.location,
        "value": [
            {
                "id": f"{id_}/providers/Microsoft.Insights/metrics/{name}",
                "type": "Microsoft.Insights/metrics",
                "name": {"value": name, "localizedValue": "BGP Peer Status"},
                "displayDescription": "Status of BGP peer",
                "unit": "Count",
                "timeseries": [
                    {
                        "metadatavalues": [
                            {"name": {"value": key.lower(), "localizedValue": key.lower()}, "value": of}
                            for key, of in told.items()
                        ],
                        "data": [
                            {
                                "timeStamp": _text(at),
                                **({"average": value} if at is times[-1] and at <= now <= at + 2 * step else {}),
                            }
                            for at in times
                        ],
                    }
                    for told, value in series
                ],
                "errorCode": "Success",
            }
        ],
    }


def _name(asked: str, type_: str) -> str:
    """Raises ArmError."""
    known = {one.lower(): one for one in METRICS[type_]}
    namespace, _, short = type_.partition("/")
    if asked.lower() not in known:
        message = (
            f"Failed to find metric configuration for provider: {namespace}, resource Type: {short}, metric: {asked}, "
            f"Valid metrics: {','.join(METRICS[type_])}"
        )
        raise bad_request("BadRequest", message)
    if known[asked.lower()] != METRIC:
        raise bad_request(
            "BadRequest", f"The local Azure measures nothing of {known[asked.lower()]}: no byte is counted."
        )
    return METRIC


def _timespan(text: str) -> tuple[datetime, datetime]:
    try:
        begin, end = (datetime.fromisoformat(part) for part in text.split("/"))
        if begin >= end:
            raise ValueError
    except (ValueError, TypeError):
        raise bad_request("BadRequest", f"The timespan '{text}' is no BEGIN/END in ISO 8601.") from None
    return begin, end


def _filter(text: str, name: str, known: frozenset[str]) -> Mapping[str, str]:
    """Dimension → the value that is asked for, or `*`. Raises ArmError."""
    wanted = dict[str, str]()
    for part in text.split(" and ") if text else ():
        found = CLAUSE.fullmatch(part.strip())
        key = next((one for one in known if found and ids.same(one, found[1])), None)
        if not found or key is None:
            message = (
                f"Metric: {name} does not support requested dimension combination: {part.strip()}, supported ones are: "
                f"{','.join(sorted(known))}"
            )
            raise bad_request("BadRequest", message)
        wanted[key] = found[2]
    return wanted


def _series(world: World, gateway: Resource, wanted: Mapping[str, str]) -> list[tuple[dict[str, str], float]]:
    """By the dimensions that are asked for; what differs by others is one value, their average."""
    found = dict[tuple[tuple[str, str], ...], list[float]]()
    for one, up in _states(world, gateway):
        if all(value in (ANY, one[key]) for key, value in wanted.items()):
            found.setdefault(tuple((key, one[key]) for key in sorted(wanted)), []).append(float(up))
    return [(dict(key), sum(values) / len(values)) for key, values in sorted(found.items())]


def _states(world: World, gateway: Resource) -> list[tuple[dict[str, str], bool]]:
    """Of each instance with each address that it speaks BGP with: as getBgpPeerStatus tells them."""
    settings = gateway.properties["bgpSettings"]["bgpPeeringAddresses"]
    instances = {
        address: f"GatewayTenantWorker_IN_{n}"
        for n, one in enumerate(settings)
        for address in one["customBgpIpAddresses"]
    }
    return [
        ({PEER: one["neighbor"], INSTANCE: instances[one["localAddress"]]}, one["state"] == bgp_peers.CONNECTED)
        for one in bgp_peers.of_gateway(world, gateway)
    ]


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


READS: Mapping[str, Read] = {
    r"(?P<of>/subscriptions/[^/]+/resourcegroups/[^/]+/providers/microsoft\.network/virtualnetworkgateways/[^/]+)"
    r"/providers/microsoft\.insights/metrics": _metrics
}
