"""What the service counts, as Prometheus reads it."""

from prometheus_client import Counter, Gauge, Histogram

FAST = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.1, 1, 10)

rpc_seconds = Histogram("landbridge_autoscaler_rpc_seconds", "How long an answer took", ["rpc"], buckets=FAST)
calls = Counter("landbridge_autoscaler_cloud_calls", "Calls to clouds", ["region", "operation", "outcome"])
machines = Gauge("landbridge_autoscaler_machines", "Machines of a scaling group", ["group", "state"])
region_seen_seconds = Gauge(
    "landbridge_autoscaler_region_seen_seconds", "When a region last answered, in the epoch", ["region"]
)
nodes = Gauge(
    "landbridge_autoscaler_nodes", "Nodes of a region's machines when last a machine was to go", ["region", "state"]
)
incomplete_ends = Counter(
    "landbridge_autoscaler_kept", "Requests to end machines of which some stay", ["region", "code"]
)
