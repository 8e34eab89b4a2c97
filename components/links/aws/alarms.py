"""When somebody has to be told of a connection's tunnels, in the words of CloudWatch. Pure."""

from typing import NamedTuple

NAMESPACE, METRIC, DIMENSION = "AWS/VPN", "TunnelState", "VpnId"
PERIOD_SECONDS = 300
# Of a state that is 1 where BGP speaks and less where anything is down ("Monitoring VPN tunnels using CloudWatch").
COMPARISON, THRESHOLD = "LessThanThreshold", 1


class Alarm(NamedTuple):
    """`statistic` is over the states of both tunnels in a period: the worst, or the best."""

    name: str
    statistic: str
    periods: int
    why: str


ALARMS = (
    # AWS renews a tunnel's end within minutes, and tells nobody else: three periods are none of its own doing.
    Alarm("one-down", "Minimum", 3, "one tunnel is down, and nothing is left to fail over to"),
    Alarm("all-down", "Maximum", 1, "no tunnel is up"),
)
