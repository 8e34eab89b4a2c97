"""What is watched, as tables: of each kind where it is, and what its objects show."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from evidence import nodes, pods, works
from evidence.observation import Json, Observation

PODS, NODES, EVENTS = "/api/v1/pods", "/api/v1/nodes", "/api/v1/events"


class Kind(NamedTuple):
    """`of` is what an object shows as it is."""

    name: str
    path: str
    of: Callable[[Json], list[Observation]]


POD = Kind("pod", PODS, pods.of_pod)
NODE = Kind("node", NODES, nodes.of_node)
JOB = Kind("job", "/apis/batch/v1/jobs", lambda thing: works.of_work(thing, "job"))
JOB_SET = Kind("jobset", "/apis/jobset.x-k8s.io/v1alpha2/jobsets", lambda thing: works.of_work(thing, "jobset"))
WORKLOAD = Kind("workload", "/apis/kueue.x-k8s.io/v1beta2/workloads", lambda thing: works.of_work(thing, "workload"))


def kinds(*, queues: bool) -> Sequence[Kind]:
    return (NODE, POD, JOB, *((JOB_SET, WORKLOAD) if queues else ()))
