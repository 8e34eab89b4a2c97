"""Devices of a node: what it tells of them as their plugin's pod comes, ails and goes."""

from typing import Any

import pytest

from components.pools.labels import GPU_RESOURCE
from local.workers import devices, hardware

(GPUS,) = devices.of(hardware.Hardware("1.36.2", "amd64", 8, 1024, 100, gpus=8, efa=0, rdma=0))


class Api:
    """What the node tells, and nothing of devices at first."""

    def __init__(self, **capacity: str) -> None:
        self.capacity, self.told = capacity, list[str]()

    def ask(self, method: str, _path: str, body: Any = None, _kind: str = "") -> Any:
        if method == "PATCH":
            assert body["status"]["capacity"] == body["status"]["allocatable"]
            self.told.append(body["status"]["capacity"][GPU_RESOURCE])
        return {"status": {"capacity": self.capacity}}


def plugin(uid: str = "a", *, ready: bool = True, space: str = devices.NAMESPACE) -> dict[str, Any]:
    label, name = GPUS.plugin
    return {
        "metadata": {"uid": uid, "namespace": space, "labels": {label: name}},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": str(ready)}]},
    }


def advertised(api: Api) -> devices.Advertised:
    return devices.Advertised(api, "node", GPUS)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "ready"), [("DELETED", True), ("MODIFIED", False)])
def test_they_are_there_while_their_plugin_runs(kind: str, *, ready: bool) -> None:
    api = Api()
    told = advertised(api)
    told.listed([])
    told.heard("ADDED", plugin(ready=False))
    told.heard("MODIFIED", plugin(space="team"))
    assert api.told == [], "nobody speaks of them yet"
    told.heard("MODIFIED", plugin())
    told.heard("ADDED", plugin("b"))
    told.heard(kind, plugin(ready=ready))
    assert api.told == ["8"], "another runs on"
    told.heard(kind, plugin("b", ready=ready))
    assert api.told == ["8", "0"]


def test_what_the_node_told_before_is_taken_back_if_no_plugin_runs_any_more() -> None:
    api = Api(**{GPU_RESOURCE: "8"})
    advertised(api).listed([plugin(ready=False)])
    assert api.told == ["0"]
