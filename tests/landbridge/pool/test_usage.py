"""How many GPUs a pod asks for."""

from typing import Any

from landbridge.pool.usage import gpus


def box(number: int, **more: Any) -> dict[str, Any]:
    return {"resources": {"requests": {"nvidia.com/gpu": str(number)}}, **more}


def test_containers_count_together_and_init_containers_one_by_one() -> None:
    assert gpus({"spec": {"containers": [box(2), box(1), {}]}}) == 3
    assert gpus({"spec": {"initContainers": [box(4), box(1)], "containers": [box(2)]}}) == 4
    assert gpus({"spec": {"initContainers": [box(1, restartPolicy="Always"), box(2)], "containers": [box(1)]}}) == 3
    assert gpus({"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}) == 8
