"""A fixture for each cause: a pod that waits, and what the autoscaler and its cloud side know around it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from services.autoscaler.autoscaler_status import GroupStatus
from services.autoscaler.causes import Around
from services.autoscaler.settings import Settings

WEST, EAST = "west-gpu-a", "east-gpu-a"
NOW = 1_790_000_000.0
UNSCHEDULABLE = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/8 nodes have room.",
}
Json = dict[str, Any]


def pod(**spec: Any) -> Json:
    """Of eight GPUs, that the scheduler found no node for."""
    asks = {"limits": {"nvidia.com/gpu": "8"}, "requests": {"cpu": "500m"}}
    full = {
        "containers": [{"name": "work", "resources": asks}],
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "priority": 0,
        **spec,
    }
    owner = {"kind": "Job", "name": "train"}
    meta = {"name": "train-x7k2p", "namespace": "research", "ownerReferences": [owner]}
    return {"metadata": meta, "spec": full, "status": {"phase": "Pending", "conditions": [UNSCHEDULABLE]}}


def _group(pool: str, region: str, price: float | None) -> Json:
    labels = {"landbridge.dev/pool": pool, "landbridge.dev/place": region, "landbridge.dev/kind": "gpu"}
    taints = [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
        {"key": "startup-taint.cluster-autoscaler.kubernetes.io/gpu", "value": "starting", "effect": "NoSchedule"},
    ]
    allocatable = {"cpu": "190", "memory": "1900Gi", "nvidia.com/gpu": "8", "pods": "110"}
    template = {"metadata": {"labels": labels}, "spec": {"taints": taints}, "status": {"allocatable": allocatable}}
    about = {"pool": pool, "owner": "research", "region": region, "least": 0, "most": 40, "gpus": 8}
    return {"name": f"{pool}-a", **about, "price_usd": price, "template": template}


def settings(price: float | None = 55.0, **limits: Any) -> Settings:
    groups = [_group("west-gpu", "us-west-2", price), _group("east-gpu", "us-east-1", price)]
    clouds = {"us-west-2": "aws", "us-east-1": "aws"}
    told = {"cluster": "main", "region_clouds": clouds, "groups": groups, "limits": limits}
    return Settings.model_validate(told)


def said(**more: Any) -> GroupStatus:
    return GroupStatus(WEST, **{"target": 0, "ready": 0, "growth": "NoActivity", **more})


REST = {EAST: GroupStatus(EAST, 0, 0, "NoActivity")}
SITE = [{"landbridge.dev/place": "lab", "landbridge.dev/pool": "site-gpu"}] * 8
TWENTY = said(target=20, ready=20)


def around(west: GroupStatus | None = None, *, told: Settings | None = None, **more: Any) -> Around:
    """With two groups that rest, of which the first is as given."""
    given: Mapping[str, GroupStatus] = {WEST: west or said(), **REST}
    return Around(told or settings(), **{"statuses": given, "until": {}, **more})


class Fixture(NamedTuple):
    """`group` is the one that the cause is about, `text` what its sentence has in it."""

    pod: Json
    around: Around
    group: str
    text: str
    until: float = 0.0


def refused(code: str, sentence: str) -> Around:
    return around(said(growth="Backoff", code=code, sentence=sentence), until={WEST: NOW + 60})


def _with(status: Json, **spec: Any) -> Json:
    made = pod(**spec)
    return {**made, "status": {**made["status"], **status}}


CAPACITY = "We currently do not have sufficient p5.48xlarge capacity"
FIXTURES: dict[str, Fixture] = {
    "gated": Fixture(pod(schedulingGates=[{"name": "kueue.x-k8s.io/admission"}]), around(), "", "kueue.x-k8s.io"),
    "scheduling": Fixture(_with({"conditions": []}), around(), "", "has not found yet"),
    "preempting": Fixture(_with({"nominatedNodeName": "host-1.lab"}), around(), "", "leave host-1.lab"),
    "priority": Fixture(pod(priority=-100), around(), "", "its priority is -100"),
    "site": Fixture(
        pod(nodeSelector={"landbridge.dev/place": "lab"}), around(nodes=SITE), "", "8 nodes of lab alone, none has room"
    ),
    "selector": Fixture(
        pod(nodeSelector={"landbridge.dev/place": "us-east-1"}),
        around(),
        WEST,
        "it wants landbridge.dev/place=us-east-1, and this pool has us-west-2",
    ),
    "taint": Fixture(pod(tolerations=[]), around(), WEST, "nvidia.com/gpu=present:NoSchedule"),
    "too-large": Fixture(
        pod(containers=[{"name": "work", "resources": {"limits": {"nvidia.com/gpu": "16"}}}]),
        around(),
        WEST,
        "asks for 16 nvidia.com/gpu, and a machine has 8",
    ),
    "no-answer": Fixture(pod(), around(statuses={}), WEST, "us-west-2 has not told of it"),
    "refused-capacity": Fixture(pod(), refused("capacity", CAPACITY), WEST, CAPACITY),
    "refused-quota": Fixture(pod(), refused("quota", "VcpuLimitExceeded"), WEST, "VcpuLimitExceeded"),
    "refused-spot": Fixture(pod(), refused("spot", "no spot capacity"), WEST, "no spot capacity"),
    "refused-other": Fixture(pod(), refused("other", "The image id does not exist"), WEST, "image id"),
    "backoff": Fixture(pod(), refused("timeout", "did not join"), WEST, "asked again later: did not join", NOW + 60),
    "coming": Fixture(
        pod(), around(said(target=52, ready=40, growth="InProgress")), WEST, "40 of 52 machines are ready"
    ),
    "undecided": Fixture(pod(), around(), WEST, "may have 40 machines more"),
    "group-maximum": Fixture(pod(), around(said(target=40, ready=40)), WEST, "has 40 machines, and 40 at most"),
    "pool-maximum": Fixture(
        pod(),
        around(TWENTY, told=settings(pools={"west-gpu": {"machines": 20}})),
        WEST,
        "pool west-gpu has 20 machines",
    ),
    "owner-gpus": Fixture(
        pod(), around(TWENTY, told=settings(owners={"research": {"gpus": 160}})), WEST, "team research has 160 GPUs"
    ),
    "owner-price": Fixture(
        pod(), around(TWENTY, told=settings(owners={"research": {"price_usd": 1120}})), WEST, "1100.00 dollars an hour"
    ),
    "fleet-gpus": Fixture(pod(), around(TWENTY, told=settings(fleet={"gpus": 160})), WEST, "the fleet has 160 GPUs"),
    "fleet-price": Fixture(
        pod(), around(TWENTY, told=settings(fleet={"price_usd": 1120})), WEST, "the fleet spends 1100.00 dollars"
    ),
    "price-unknown": Fixture(
        pod(), around(told=settings(None, fleet={"price_usd": 1120})), WEST, "nobody has said what west-gpu costs"
    ),
}
