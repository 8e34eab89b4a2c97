"""What the queries that join several metrics answer of a small fleet, by promtool."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from landbridge.dashboards.board import PLACE_LABEL, POOL_LABEL
from tests.landbridge.dashboards.queries import of, promtool

GPUS = 'resource="nvidia_com_gpu"'
WEST, SITE = (
    f'{{{PLACE_LABEL}="{place}", {POOL_LABEL}="{pool}"}}' for place, pool in (("west", "h100"), ("site", "l4"))
)
# Two clusters with nodes of the same name: place and pool of each, its GPUs, how many are held, and whether it is Ready.
NODES = {
    ("one", "a"): ("west", "h100", 8, 3, 1),
    ("one", "b"): ("west", "h100", 8, 0, 0),
    ("one", "c"): ("site", "l4", 4, 4, 1),
    ("two", "a"): ("site", "l4", 4, 1, 1),
}
ANSWERS = {
    "fleet/Nodes by place and pool/Ready/0": {WEST: 1, SITE: 2},
    "fleet/Nodes by place and pool/Not Ready, or in maintenance/0": {WEST: 1},
    "fleet/Nodes by place and pool/Not Ready, or in maintenance/1": {SITE: 1},
    "fleet/GPUs by place and pool/Held/0": {WEST: 3, SITE: 5},
    "fleet/GPUs by place and pool/At work/0": {WEST: 1.5},
    # Node b is not Ready, and of site's two one is full.
    "fleet/GPUs by place and pool/Free/0": {WEST: 5, SITE: 3},
    "fleet/GPUs by place and pool/Share of what is held that works/0": {WEST: 0.25},
    "fleet/Now/GPUs/0": {"{}": 24},
    "fleet/Now/Nodes not Ready/0": {"{}": 1},
    "fleet/Now/Alarms that wake/0": {"{}": 1},
    "fleet/Now/Alarms that wait/0": {"{}": 0},
    "fleet/Alarms/Alarms that are on/0": {
        '{alertname="PlaceCutOff", severity="page", place="west", owner="operators"}': 540
    },
    "fleet/Machines/Fullest disks": {'{node="a", mountpoint="/"}': 0.1},
    "work/Runs and pods/Runs that run/0": {"{}": 1},
    "work/Runs and pods/Pods that wait/0": {"{}": 1},
    "work/Recorder and maintenance/Nodes closed for maintenance, by place/0": {'{place="site"}': 1},
    "control-plane/How long answers take/Share that takes longer than a second/0": {"{}": 0.5},
    "control-plane/Requests/Share that fails/0": {"{}": 0.25},
    "control-plane/etcd/Members that answer/0": {'{ring="main"}': 2},
    "control-plane/etcd/Its databases, of their quota/0": {'{ring="main"}': 0.5},
}


def series() -> Iterator[tuple[str, str]]:
    for (cluster, node), (place, pool, gpus, held, ready) in NODES.items():
        where = f'cluster="{cluster}", node="{node}"'
        # While one pod of kube-state-metrics takes over from another, both tell.
        for instance in ("old", "new"):
            given = f'{where}, instance="{instance}"'
            yield f'kube_node_labels{{{given}, {PLACE_LABEL}="{place}", {POOL_LABEL}="{pool}"}}', "1x20"
            yield f"kube_node_status_allocatable{{{given}, {GPUS}}}", f"{gpus}x20"
            yield f"kube_node_status_capacity{{{given}, {GPUS}}}", f"{gpus}x20"
        yield f'landbridge:node_place{{{where}, place="{place}"}}', "1x20"
        yield f'landbridge:node_ready{{{where}, place="{place}"}}', f"{ready}x20"
        if held:
            yield f'landbridge:gpus_held{{{where}, namespace="team-vision"}}', f"{held}x20"
    yield 'landbridge:node_in_maintenance{cluster="one", node="c"}', "1x20"
    for gpu, active in enumerate((0.5, 1)):
        yield f'landbridge:gpu_active{{cluster="one", node="a", gpu="{gpu}"}}', f"{active}x20"
    yield 'landbridge:gpus_used{cluster="one", node="a", namespace="team-vision"}', "0.75x20"
    yield 'landbridge:disk_free{cluster="one", node="a", mountpoint="/"}', "0.1x20"
    for name, severity in (("PlaceCutOff", "page"), ("Watchdog", "none")):
        alarm = f'alertname="{name}", severity="{severity}", owner="operators", place="west"'
        yield f'ALERTS{{{alarm}, alertstate="firing"}}', "1x20"
        yield f"ALERTS_FOR_STATE{{{alarm}}}", "60x20"
    for pod, phase in (("one", "Running"), ("two", "Running"), ("three", "Pending")):
        of_one = f'namespace="team-vision", pod="{pod}"'
        yield f'kube_pod_labels{{{of_one}, label_landbridge_dev_run="mnist"}}', "1x20"
        yield f'kube_pod_status_phase{{{of_one}, phase="{phase}"}}', "1x20"
    writes = 'job="apiserver", verb="POST", machine="api-1"'
    yield f'apiserver_request_sli_duration_seconds_bucket{{{writes}, le="1.0"}}', "0+60x20"
    yield f"apiserver_request_sli_duration_seconds_count{{{writes}}}", "0+120x20"
    # Each is asked by way of each API machine, of which one is away.
    for machine, answers in (("etcd-1", 1), ("etcd-2", 1), ("etcd-3", 0)):
        for by, there in (("api-1", 1), ("api-2", 0)):
            member = f'cluster="one", job="etcd", ring="main", machine="{machine}", instance="{by}"'
            yield f"up{{{member}}}", f"{answers * there}x20"
            yield f"etcd_mvcc_db_total_size_in_bytes{{{member}}}", "4e9x20"
            yield f"etcd_server_quota_backend_bytes{{{member}}}", "8e9x20"
    for code, many in (("200", 75), ("500", 25)):
        yield f'apiserver_request_total{{{writes}, code="{code}"}}', f"0+{many}x20"


def test_they_say_what_is_so(tmp_path: Path) -> None:
    given = [{"series": name, "values": values} for name, values in series()]
    asked = [
        {"expr": of(where), "eval_time": "10m", "exp_samples": [*samples(found)]} for where, found in ANSWERS.items()
    ]
    document = {"tests": [{"interval": "1m", "input_series": given, "promql_expr_test": asked}]}
    assert promtool(tmp_path, ("test", "rules"), document) == ""


def samples(found: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    for labels, value in found.items():
        yield {"labels": labels, "value": value}
