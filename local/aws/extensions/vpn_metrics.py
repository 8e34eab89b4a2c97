"""How VPN connections are, as CloudWatch has it: the metric TunnelState of each tunnel, by its connection's id.

AWS Site-to-Site VPN user guide, "Monitor tunnels using Amazon CloudWatch". Those by a tunnel's own address, and the
bytes that went through, are not told here.
"""

from datetime import timedelta
from typing import Any

from moto.cloudwatch.models import CloudWatchBackend, MetricDatum
from moto.core.utils import utcnow
from moto.ec2.models import ec2_backends

from .patching import override
from .vpn import telemetry

# AWS is as late.
LATE = timedelta(minutes=1)


def install() -> None:
    @override(CloudWatchBackend, "get_all_metrics")
    def get_all_metrics(self: Any, original: Any) -> Any:
        connections = ec2_backends[self.account_id][self.region_name].vpn_connections.values()
        return [
            *original(),
            *(_datum(one.id, tunnel) for one in connections if one.state != "deleted" for tunnel in telemetry(one)),
        ]


def _datum(id_: str, tunnel: Any) -> MetricDatum:
    up = float(tunnel["Status"] == "UP")
    return MetricDatum("AWS/VPN", "TunnelState", up, [{"Name": "VpnId", "Value": id_}], utcnow() - LATE)
