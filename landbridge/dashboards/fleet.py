"""The fleet at a glance: what is there, what of it is well, and what the GPUs do. Of costs metrics know nothing."""

from .board import BY_POOL, CLUSTER, PLACE, POOL, Board, Panel, Query, Row

_LOWEST = "{{node}} {{mountpoint}}"
# What is of no place stays, whichever place is chosen. The one that is always on is no news.
_ALARMS = """
max by (severity, alertname, cluster, place, node, namespace, owner) (
  time() - (
    ALERTS_FOR_STATE{$HERE, severity!="none", place=~"$place|"}
    and ignoring (alertstate) ALERTS{$HERE, alertstate="firing"}
  )
)
"""
# Of nodes that are Ready and open to new work.
_FREE = """
sum $BY_POOL (
  (
    max by (cluster, node) (kube_node_status_allocatable{$HERE, resource="nvidia_com_gpu"})
    - on (cluster, node) (
      sum by (cluster, node) (landbridge:gpus_held{$HERE})
      or max by (cluster, node) (kube_node_status_allocatable{$HERE, resource="nvidia_com_gpu"}) * 0
    )
    and on (cluster, node) (landbridge:node_ready{$HERE} == 1)
    unless on (cluster, node) (kube_node_spec_unschedulable{$HERE} == 1)
  ) $PLACED
)
"""
_GPUS = """
sum $BY_POOL (
  max by (cluster, node) (kube_node_status_capacity{$HERE, resource="nvidia_com_gpu"}) $PLACED
)
"""
_HELD = "sum $BY_POOL (sum by (cluster, node) (landbridge:gpus_held{$HERE}) $PLACED)"
_AT_WORK = "sum $BY_POOL (sum by (cluster, node) (landbridge:gpu_active{$HERE}) $PLACED)"
_READY = "count $BY_POOL ((landbridge:node_ready{$HERE} == 1) $PLACED)"
_NOT_READY = "count $BY_POOL ((landbridge:node_ready{$HERE} == 0) $PLACED)"
_CLOSED = "count $BY_POOL (landbridge:node_in_maintenance{$HERE} $PLACED)"


def _number_of_alarms(severity: str) -> tuple[Query, ...]:
    of = f'{{$HERE, alertstate="firing", severity="{severity}", place=~"$place|"}}'
    return (Query(f"count(ALERTS{of}) or vector(0)"),)


def _all(asks: str) -> tuple[Query, ...]:
    return (Query(f"sum({asks.strip()}) or vector(0)"),)


BOARD = Board(
    "fleet",
    "Landbridge: fleet",
    "Nodes and GPUs by place and pool, and the alarms that are on.",
    (CLUSTER, PLACE, POOL),
    (
        Row(
            "Now",
            (
                Panel("number", "Nodes that are Ready", "short", _all(_READY)),
                Panel("bad", "Nodes not Ready", "short", _all(_NOT_READY), "Without those on which somebody works."),
                Panel("number", "Nodes in maintenance", "short", _all(_CLOSED)),
                Panel("bad", "Alarms that wake", "short", _number_of_alarms("page")),
                Panel("bad", "Alarms that wait", "short", _number_of_alarms("ticket")),
                Panel("number", "GPUs", "short", _all(_GPUS)),
                Panel("number", "GPUs held", "short", _all(_HELD), "By pods that run."),
                Panel("number", "GPUs at work", "short", _all(_AT_WORK), "Two that half work are one."),
            ),
        ),
        Row(
            "Alarms",
            (
                Panel(
                    "table",
                    "Alarms that are on",
                    "s",
                    (Query(_ALARMS),),
                    "`landbridge alarms` names the runbook of each.",
                    columns={
                        "severity": "severity",
                        "alertname": "alarm",
                        "Value": "true for",
                        "cluster": "cluster",
                        "place": "place",
                        "node": "node",
                        "namespace": "namespace",
                        "owner": "whose",
                    },
                ),
            ),
        ),
        Row(
            "Nodes by place and pool",
            (
                Panel("areas", "Ready", "short", (Query(_READY, BY_POOL),)),
                Panel(
                    "areas",
                    "Not Ready, or in maintenance",
                    "short",
                    (Query(_NOT_READY, f"not Ready: {BY_POOL}"), Query(_CLOSED, f"in maintenance: {BY_POOL}")),
                ),
            ),
        ),
        Row(
            "GPUs by place and pool",
            (
                Panel("areas", "Held", "short", (Query(_HELD, BY_POOL),), "By pods that run."),
                Panel("areas", "At work", "short", (Query(_AT_WORK, BY_POOL),), "Held ones do not work all the time."),
                Panel("areas", "Free", "short", (Query(_FREE, BY_POOL),), "Of nodes that are Ready and open for work."),
                Panel(
                    "lines",
                    "Share of what is held that works",
                    "percentunit",
                    (
                        Query(
                            "sum $BY_POOL (sum by (cluster, node) (landbridge:gpus_used{$HERE}) $PLACED)\n"
                            f"/ ({_HELD} > 0)",
                            BY_POOL,
                        ),
                    ),
                    "Where several share a machine, each has the machine's mean.",
                    most=1,
                ),
            ),
        ),
        Row(
            "Machines",
            (
                Panel(
                    "lines",
                    "Fullest disks: what is free",
                    "percentunit",
                    (Query("bottomk(10, min by (node, mountpoint) (landbridge:disk_free{$HERE} $PLACED))", _LOWEST),),
                ),
                Panel(
                    "lines",
                    "Least memory left",
                    "percentunit",
                    (
                        Query(
                            "bottomk(10, min by (node) (\n"
                            "  node_memory_MemAvailable_bytes{$HERE} / node_memory_MemTotal_bytes{$HERE} $PLACED\n))",
                            "{{node}}",
                        ),
                    ),
                ),
            ),
        ),
    ),
)
