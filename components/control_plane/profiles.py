"""What a control plane needs for 500, 2,500 and 5,000 nodes: one table for machines, disks and flags.

Sources: etcd's "Hardware recommendations"; kops' scale test for 5,000 nodes (tests/e2e/scenarios/scalability); the
Kubernetes page "Considerations for large clusters".
"""

from typing import NamedTuple

# etcd's FAQ: the 99th percentile of its log's fsync should be below 10 ms.
FSYNC_P99_MS = 10


class Volume(NamedTuple):
    """A disk of one etcd member, never its root disk."""

    kind: str
    size_gib: int
    iops: int
    throughput_mib: int


class Profile(NamedTuple):
    """`…_type` is AWS's machine type, `…_size` Azure's.

    `inflight` are read-only and mutating requests at a time; a 0 for the second lets both share the first.
    """

    nodes: int
    etcd_type: str
    api_type: str
    etcd_size: str
    api_size: str
    main: Volume
    events: Volume
    inflight: tuple[int, int]
    compaction_seconds: int
    controller_qps: int
    scheduler_qps: int
    delete_workers: int


# fsync latency is what etcd lives by; io2 keeps 99 % of writes below a millisecond.
PROFILES = {
    "small": Profile(
        500,
        etcd_type="m7i.large",
        api_type="m7i.xlarge",
        etcd_size="Standard_D2s_v5",
        api_size="Standard_D4s_v5",
        main=Volume("gp3", 40, 3_000, 125),
        events=Volume("gp3", 20, 3_000, 125),
        inflight=(400, 200),
        compaction_seconds=300,
        controller_qps=50,
        scheduler_qps=50,
        delete_workers=1,
    ),
    "medium": Profile(
        2_500,
        etcd_type="m7i.2xlarge",
        api_type="m7i.4xlarge",
        etcd_size="Standard_D8s_v5",
        api_size="Standard_D16s_v5",
        main=Volume("io2", 80, 6_000, 0),
        events=Volume("gp3", 40, 6_000, 250),
        inflight=(640, 0),
        compaction_seconds=150,
        controller_qps=200,
        scheduler_qps=100,
        delete_workers=8,
    ),
    "large": Profile(
        5_000,
        etcd_type="m7i.4xlarge",
        api_type="r7i.8xlarge",
        etcd_size="Standard_D16s_v5",
        api_size="Standard_E32s_v5",
        main=Volume("io2", 120, 10_000, 0),
        events=Volume("io2", 80, 6_000, 0),
        inflight=(640, 0),
        compaction_seconds=150,
        controller_qps=500,
        scheduler_qps=100,
        delete_workers=16,
    ),
}
