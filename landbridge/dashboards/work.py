"""Work: what teams run and wait for, and the services that queue, buy machines, record and announce maintenance."""

from .board import CLUSTER, TEAM, Board, Panel, Query, Row

_TEAM = '$HERE, namespace=~"$team"'
_POD = "by (cluster, namespace, pod)"
_RUNS = f"""count by (cluster, namespace, label_landbridge_dev_run) (
  kube_pod_labels{{{_TEAM}, label_landbridge_dev_run!=""}}
  and on (cluster, namespace, pod) (kube_pod_status_phase{{{_TEAM}, phase="Running"}} == 1)
)"""
_WAITING = f"max by (cluster, namespace, pod, container, reason) (kube_pod_container_status_waiting_reason{{{_TEAM}}})"
_NO_NODE = f"count(max {_POD} (kube_pod_status_unschedulable{{{_TEAM}}}) == 1)"
_KUEUE, _AUTOSCALER, _CLOUD = ('$HERE, job="kueue"', '$HERE, job="cluster-autoscaler"', '$HERE, job="autoscaler-cloud"')
_RECORDER = '$HERE, job="recorder"'
_CALLS = "landbridge_autoscaler_cloud_calls_total"
_ONLY_WITH_QUEUES = "Empty in a cluster without queues."


def _all(asks: str) -> tuple[Query, ...]:
    return (Query(f"sum({asks}) or vector(0)"),)


_TEAMS = Row(
    "Runs and pods",
    (
        Panel("number", "Runs that run", "short", (Query(f"count({_RUNS}) or vector(0)"),)),
        Panel("number", "Pods that run", "short", _all(f'kube_pod_status_phase{{{_TEAM}, phase="Running"}}')),
        Panel("number", "Pods that wait", "short", _all(f'kube_pod_status_phase{{{_TEAM}, phase="Pending"}}')),
        Panel("bad", "Pods without a node", "short", (Query(f"{_NO_NODE} or vector(0)"),)),
        Panel("number", "GPUs held", "short", _all(f"landbridge:gpus_held{{{_TEAM}}}"), "By pods that run."),
        Panel("number", "GPUs at work", "short", _all(f"landbridge:gpus_used{{{_TEAM}}}")),
        Panel("areas", "Runs by team", "short", (Query(f"count by (namespace) (\n{_RUNS}\n)", "{{namespace}}"),)),
        Panel(
            "areas",
            "Pods by phase",
            "short",
            (Query(f"sum by (phase) (kube_pod_status_phase{{{_TEAM}}})", "{{phase}}"),),
        ),
        Panel(
            "lines",
            "GPUs by team",
            "short",
            (
                Query(f"sum by (namespace) (landbridge:gpus_held{{{_TEAM}}})", "held: {{namespace}}"),
                Query(f"sum by (namespace) (landbridge:gpus_used{{{_TEAM}}})", "at work: {{namespace}}"),
            ),
            "Where several share a machine, each has the machine's mean.",
        ),
        Panel(
            "areas",
            "Why pods wait",
            "short",
            (Query(f"count by (reason) ({_WAITING} == 1)", "{{reason}}"), Query(_NO_NODE, "no node for it")),
            "`landbridge why` names the cause of one.",
        ),
    ),
)
_QUEUES = Row(
    "Queues",
    (
        Panel(
            "areas",
            "Runs that wait",
            "short",
            (Query(f"sum by (cluster_queue) (kueue_pending_workloads{{{_KUEUE}}})", "{{cluster_queue}}"),),
            _ONLY_WITH_QUEUES,
        ),
        Panel(
            "areas",
            "Runs that have room",
            "short",
            (Query(f"sum by (cluster_queue) (kueue_reserving_active_workloads{{{_KUEUE}}})", "{{cluster_queue}}"),),
            _ONLY_WITH_QUEUES,
        ),
        Panel(
            "lines",
            "Tries to begin runs, in an hour",
            "short",
            (Query(f"sum(increase(kueue_admission_attempts_total{{{_KUEUE}}}[1h]))", "tries"),),
            _ONLY_WITH_QUEUES,
        ),
        Panel(
            "lines",
            "Runs put back, in an hour",
            "short",
            (Query(f"sum by (reason) (increase(kueue_evicted_workloads_total{{{_KUEUE}}}[1h]))", "{{reason}}"),),
            _ONLY_WITH_QUEUES,
        ),
    ),
)
_BUYING = Row(
    "Autoscaler",
    (
        Panel(
            "lines",
            "Since it last looked",
            "s",
            (
                Query(
                    f'time() - max by (cluster) (cluster_autoscaler_last_activity{{{_AUTOSCALER}, activity="main"}})',
                    "autoscaler {{cluster}}",
                ),
            ),
            limit=600,
        ),
        Panel(
            "areas",
            "Nodes as it sees them",
            "short",
            (
                Query(
                    f"sum by (state) (max by (cluster, state) (cluster_autoscaler_nodes_count{{{_AUTOSCALER}}}))",
                    "{{state}}",
                ),
            ),
        ),
        Panel(
            "areas",
            "Machines of its scaling groups",
            "short",
            (
                Query(
                    f"sum by (state) (max by (cluster, group, state) (landbridge_autoscaler_machines{{{_CLOUD}}}))",
                    "{{state}}",
                ),
            ),
            "Owed ones were asked for and have not come.",
        ),
        Panel(
            "lines",
            "Scaling groups that were refused machines",
            "short",
            (
                Query(
                    "sum by (cluster) (max by (cluster, node_group) (\n"
                    f"  cluster_autoscaler_node_group_backoff_status{{{_AUTOSCALER}}}\n))",
                    "groups {{cluster}}",
                ),
            ),
        ),
        Panel(
            "lines",
            "Share of calls to clouds that fail",
            "percentunit",
            (
                Query(
                    f'sum by (region) (rate({_CALLS}{{{_CLOUD}, outcome!="ok"}}[$__rate_interval]))\n'
                    f"/ (sum by (region) (rate({_CALLS}{{{_CLOUD}}}[$__rate_interval])) > 0)",
                    "{{region}}",
                ),
            ),
            limit=0.5,
        ),
        Panel(
            "lines",
            "Since clouds last told of machines",
            "s",
            (
                Query(
                    f"time() - max by (cluster, region) (landbridge_autoscaler_region_seen_seconds{{{_CLOUD}}})",
                    "{{region}}",
                ),
            ),
            limit=900,
        ),
        Panel(
            "lines",
            "Errors in an hour",
            "short",
            (Query(f"sum by (type) (increase(cluster_autoscaler_errors_total{{{_AUTOSCALER}}}[1h]))", "{{type}}"),),
        ),
        Panel(
            "lines",
            "Machines that should go and stay, in an hour",
            "short",
            (
                Query(
                    f"sum by (region, code) (increase(landbridge_autoscaler_kept_total{{{_CLOUD}}}[1h]))",
                    "{{region}}: {{code}}",
                ),
            ),
            limit=20,
        ),
    ),
)
_REST = Row(
    "Recorder and maintenance",
    (
        Panel(
            "lines",
            "Of how long ago nothing is recorded yet",
            "s",
            (
                Query(
                    f"time() - max by (cluster) (landbridge_recorder_written_until_seconds{{{_RECORDER}}})",
                    "recorder {{cluster}}",
                ),
            ),
            "Where nothing happens it writes every ten minutes.",
            limit=1800,
        ),
        Panel(
            "lines",
            "What waits for the fleet bucket",
            "bytes",
            (Query(f"max by (pod) (landbridge_recorder_unsent_bytes{{{_RECORDER}}})", "{{pod}}"),),
        ),
        Panel(
            "areas",
            "Nodes closed for maintenance, by place",
            "short",
            (
                Query(
                    "count by (place) (landbridge:node_in_maintenance{$HERE}\n"
                    "  * on (cluster, node) group_left (place)\n"
                    "  group by (cluster, node, place) (landbridge:node_place{$HERE})\n)",
                    "{{place}}",
                ),
            ),
        ),
        Panel(
            "lines",
            "Replicas that answer",
            "short",
            (
                Query(
                    'sum by (job) (up{$HERE, job=~"cluster-autoscaler|autoscaler-cloud|recorder|maintenance"})',
                    "{{job}}",
                ),
            ),
        ),
    ),
)
BOARD = Board(
    "work",
    "Landbridge: work",
    "Runs and pods of teams, queues, and what brings machines, records and announces maintenance.",
    (CLUSTER, TEAM),
    (_TEAMS, _QUEUES, _BUYING, _REST),
)
