"""When somebody has to be told of a connection's tunnels, in the words of CloudWatch. Pure."""

from typing import NamedTuple

NAMESPACE, METRIC, DIMENSION = "AWS/VPN", "TunnelState", "VpnId"
PERIOD_SECONDS = 300


class Alarm(NamedTuple):
    """`statistic` is over both tunnels: a state is 1 where BGP speaks, 0 where nothing does."""

    name: str
    statistic: str
    comparison: str
    threshold: int
    periods: int
    why: str


# With BGP a value between 0 and 1 says that one of the tunnels is down ("Monitoring VPN tunnels using CloudWatch").
ALARMS = (
    # AWS renews a tunnel's end within minutes, and tells nobody else: three periods are none of its own doing.
    Alarm("one-down", "Minimum", "LessThanThreshold", 1, 3, "one tunnel is down, and nothing is left to fail over to"),
    Alarm("all-down", "Maximum", "LessThanOrEqualToThreshold", 0, 1, "no tunnel is up"),
)
