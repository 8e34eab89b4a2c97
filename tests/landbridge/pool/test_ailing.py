"""What `landbridge pool list` says of nodes that are not well, and keeps to itself."""

from typing import Any

import pytest

from landbridge.pool import listing


def node(name: str, *conditions: tuple[str, str, str]) -> dict[str, Any]:
    told = [{"type": kind, "status": status, "reason": reason} for kind, status, reason in conditions]
    return {"metadata": {"name": name}, "spec": {}, "status": {"conditions": told}}


READY = ("Ready", "True", "KubeletReady")


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (("GPUUnhealthy", "True", "GPUOffBus"), ["GPUUnhealthy: sick"]),
        (("DiskPressure", "True", "KubeletHasDiskPressure"), ["DiskPressure: sick"]),
        (("HostUnfit", "True", "HostIsUnfit"), ["HostUnfit: sick"]),
        (("GPUUnhealthy", "False", "NoGPUProblem"), []),
        (("NetworkUnavailable", "True", "SomebodyElse"), []),
    ],
)
def test_what_a_node_says_of_itself_is_told(condition: tuple[str, str, str], said: list[str]) -> None:
    assert listing.of_nodes([node("well", READY), node("sick", READY, condition)]) == said
