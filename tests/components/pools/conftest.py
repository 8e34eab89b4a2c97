"""Time, for tests of the joining service."""

from collections.abc import Callable

import pytest

from tests.components.pools import joining_bed  # noqa: F401  (makes the scripts modules)

import gpu_taints  # isort: skip
import instances  # isort: skip
import join_approver  # isort: skip
import kube_lease  # isort: skip


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Moves the time on."""
    at = [1000.0]

    def ahead(seconds: float) -> None:
        at[0] += seconds

    for module in (instances, gpu_taints, kube_lease, join_approver):
        monkeypatch.setattr(module.time, "monotonic", lambda: at[0])
    return ahead
