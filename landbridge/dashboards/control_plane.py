"""The control plane: API servers, etcd, schedulers and controller managers, each by what it tells itself."""

from .board import CLUSTER, Board, Panel, Query, Row

_OF = '$HERE, job="apiserver"'
# Watches, logs and shells last as long as somebody looks.
_WRITES = f'{_OF}, verb=~"POST|PUT|PATCH|DELETE", subresource!~"attach|exec|log|portforward|proxy"'
_READS = f'{_OF}, verb=~"GET|LIST", subresource!~"attach|exec|log|portforward|proxy"'
_MEMBERS, _SCHEDULERS = '$HERE, job="etcd"', '$HERE, job="scheduler"'
_ETCD = f'{_OF}, operation=~"create|update|delete"'
_SLI, _ETCD_SECONDS = "apiserver_request_sli_duration_seconds", "etcd_request_duration_seconds"


def _rate(metric: str, of: str) -> str:
    return f"rate({metric}{{{of}}}[$__rate_interval])"


def _slower(metric: str, of: str, seconds: str) -> str:
    """Which share took longer. Of parts of a second Prometheus keeps few, so that a median would be a guess."""
    quick = _rate(f"{metric}_bucket", f'{of}, le=~"{seconds}"')
    return f"1 - sum({quick})\n/ (sum({_rate(f'{metric}_count', of)}) > 0)"


def _mean(of: str) -> str:
    return f"sum by (verb) ({_rate(f'{_SLI}_sum', of)})\n/ (sum by (verb) ({_rate(f'{_SLI}_count', of)}) > 0)"


def _slowest(metric: str, of: str) -> str:
    return f"histogram_quantile(0.99, sum by (le) (\n  {_rate(f'{metric}_bucket', of)}\n))"


_ERRORS = f"""sum({_rate("apiserver_request_total", f'{_OF}, code=~"5.."')})
/ (sum({_rate("apiserver_request_total", _OF)}) > 0)"""
_REFUSED = _rate("apiserver_flowcontrol_rejected_requests_total", _OF)
_WEBHOOKS = _rate("apiserver_admission_webhook_rejection_count", f'{_OF}, error_type="calling_webhook_error"')

_FULL = f"etcd_mvcc_db_total_size_in_bytes{{{_MEMBERS}}} / etcd_server_quota_backend_bytes{{{_MEMBERS}}}"
_FSYNC = _rate("etcd_disk_wal_fsync_duration_seconds_bucket", _MEMBERS)

BOARD = Board(
    "control-plane",
    "Landbridge: control plane",
    "API servers: what they are asked, how often they fail, how long they take. etcd: its size and its writes.",
    (CLUSTER,),
    (
        Row(
            "Now",
            (
                Panel(
                    "number",
                    "API servers that answer",
                    "short",
                    (Query(f"count(max by (cluster, instance) (up{{{_OF}}}) == 1) or vector(0)"),),
                ),
                Panel(
                    "bad",
                    "API servers that do not",
                    "short",
                    (Query(f"count(max by (cluster, instance) (up{{{_OF}}}) == 0) or vector(0)"),),
                ),
                Panel("number", "Requests", "reqps", (Query(f"sum({_rate('apiserver_request_total', _OF)})"),)),
                Panel("number", "Of them failed", "percentunit", (Query(f"{_ERRORS} or vector(0)"),)),
                Panel(
                    "number",
                    "Fullest database",
                    "percentunit",
                    (Query(f"max({_FULL})"),),
                    "Of its quota. At all of it nothing can be written.",
                ),
            ),
        ),
        Row(
            "Requests",
            (
                Panel(
                    "areas",
                    "By what they want",
                    "reqps",
                    (Query(f"sum by (verb) ({_rate('apiserver_request_total', _OF)})", "{{verb}}"),),
                ),
                Panel(
                    "areas",
                    "By API server",
                    "reqps",
                    (Query(f"sum by (machine) ({_rate('apiserver_request_total', _OF)})", "{{machine}}"),),
                ),
                Panel("lines", "Share that fails", "percentunit", (Query(_ERRORS, "failed"),), limit=0.05),
                Panel(
                    "lines",
                    "Refused for load",
                    "reqps",
                    (Query(f"sum by (priority_level) ({_REFUSED})", "{{priority_level}}"),),
                    limit=0.1,
                ),
                Panel(
                    "lines",
                    "In flight",
                    "short",
                    (
                        Query(
                            f"sum by (request_kind) (apiserver_current_inflight_requests{{{_OF}}})", "{{request_kind}}"
                        ),
                    ),
                ),
                Panel(
                    "lines",
                    "Webhooks that can't be asked",
                    "reqps",
                    (Query(f"sum by (name) ({_WEBHOOKS})", "{{name}}"),),
                ),
            ),
        ),
        Row(
            "How long answers take",
            (
                Panel("lines", "Writes: mean", "s", (Query(_mean(_WRITES), "{{verb}}"),)),
                Panel("lines", "Reads: mean", "s", (Query(_mean(_READS), "{{verb}}"),)),
                Panel(
                    "lines",
                    "Share that takes longer than a second",
                    "percentunit",
                    (
                        Query(_slower(_SLI, _WRITES, r"1(\\.0)?"), "writes"),
                        Query(_slower(_SLI, _READS, r"1(\\.0)?"), "reads"),
                    ),
                    limit=0.01,
                ),
                Panel(
                    "lines",
                    "API: one write in a hundred takes longer than",
                    "s",
                    (Query(_slowest(_SLI, _WRITES), "writes"),),
                    "Below a second it is a guess: parts of it are not kept.",
                    limit=1,
                ),
            ),
        ),
        Row(
            "etcd",
            (
                Panel(
                    "lines",
                    "Its databases, of their quota",
                    "percentunit",
                    (Query(f"max by (ring) ({_FULL})", "{{ring}}"),),
                    limit=0.75,
                    most=1,
                ),
                Panel(
                    "lines",
                    "Members that answer",
                    "short",
                    (Query(f"sum by (ring) (max by (cluster, ring, machine) (up{{{_MEMBERS}}}))", "{{ring}}"),),
                ),
                Panel(
                    "lines",
                    "Changes of the leader in an hour",
                    "short",
                    (
                        Query(
                            f"max by (ring) (increase(etcd_server_leader_changes_seen_total{{{_MEMBERS}}}[1h]))",
                            "{{ring}}",
                        ),
                    ),
                    limit=6,
                ),
                Panel(
                    "lines",
                    "Disks: one write in a hundred takes longer than",
                    "s",
                    (
                        Query(
                            f"histogram_quantile(0.99, sum by (ring, machine, le) (\n  {_FSYNC}\n))",
                            "{{ring}} {{machine}}",
                        ),
                    ),
                    limit=0.1,
                ),
                Panel(
                    "lines",
                    "Kinds with most objects",
                    "short",
                    (
                        Query(
                            f"topk(8, max by (cluster, resource) (apiserver_resource_objects{{{_OF}}}))", "{{resource}}"
                        ),
                    ),
                ),
                Panel(
                    "lines",
                    "API: share of writes to it slower than a tenth of a second",
                    "percentunit",
                    (Query(_slower(_ETCD_SECONDS, _ETCD, "0.1"), "writes"),),
                ),
                Panel(
                    "lines",
                    "API: one write to it in a hundred takes longer than",
                    "s",
                    (Query(_slowest(_ETCD_SECONDS, _ETCD), "writes"),),
                    limit=0.5,
                ),
            ),
        ),
        Row(
            "Scheduler",
            (
                Panel(
                    "areas",
                    "Pods that wait for a node",
                    "short",
                    (
                        Query(
                            f"sum by (queue) (max by (cluster, queue) (scheduler_pending_pods{{{_SCHEDULERS}}}))",
                            "{{queue}}",
                        ),
                    ),
                ),
                Panel(
                    "lines",
                    "Tries to place a pod",
                    "reqps",
                    (
                        Query(
                            f"sum by (result) ({_rate('scheduler_schedule_attempts_total', _SCHEDULERS)})", "{{result}}"
                        ),
                    ),
                ),
            ),
        ),
        Row(
            "Machines of API servers",
            (
                Panel(
                    "lines",
                    "Cores in use",
                    "short",
                    (Query(f"max by (machine) ({_rate('process_cpu_seconds_total', _OF)})", "{{machine}}"),),
                ),
                Panel(
                    "lines",
                    "Memory",
                    "bytes",
                    (Query(f"max by (machine) (process_resident_memory_bytes{{{_OF}}})", "{{machine}}"),),
                ),
            ),
        ),
    ),
)
