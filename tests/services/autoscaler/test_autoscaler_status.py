"""The autoscaler's own status, and the end of a backoff, which it does not write down."""

from typing import Any

import pytest

from services.autoscaler import autoscaler_status, backoffs
from services.autoscaler.backoffs import Backoffs, written

FLAGS = Backoffs(60, 900, 3600)
WRITTEN = """\
time: 2026-11-22 13:40:18.16778776 +0000 UTC
nodeGroups:
- name: example-west-gpu-a
  health:
    status: Healthy
    nodeCounts:
      registered:
        total: 40
        ready: 38
    cloudProviderTarget: 40
  scaleUp:
    status: Backoff
    backoffInfo:
      errorCode: capacity
      errorMessage: no capacity
- name: example-cpu-all
"""


AT = 1795354818.167787


def test_groups_are_read_as_it_writes_them() -> None:
    told = autoscaler_status.read(WRITTEN)
    found, west = told.groups, told.groups["example-west-gpu-a"]
    assert (west.target, west.ready, west.code, west.sentence, west.coming) == (40, 38, "capacity", "no capacity", 2)
    assert west.backs_off
    assert told.at == AT
    assert not found["example-cpu-all"].backs_off
    assert autoscaler_status.read("") == (0, {})


@pytest.mark.parametrize(
    ("began", "until"),
    [
        ([1000], 1060),
        ([1000, 1070], 1070 + 120),
        # While it backs off: another failure of the same burst.
        ([1000, 1030], 1030 + 60),
        ([1000, 1070, 1300, 2000, 3000, 5000], 5000 + 900),
        ([1000, 1070, 1070 + 3601], 1070 + 3601 + 60),
    ],
)
def test_each_backoff_lasts_twice_as_long_until_one_is_forgotten(began: list[float], until: float) -> None:
    assert backoffs.until(began, FLAGS) == until


def test_durations_are_go_s() -> None:
    assert [backoffs.seconds(text) for text in ("1m", "15m", "1h", "1m30s", "20s")] == [60, 900, 3600, 90, 20]
    with pytest.raises(ValueError, match="5 is no duration"):
        backoffs.seconds("5")


def line(before: float, decision: str) -> dict[str, Any]:
    """So many seconds before the status."""
    return {"at": written(AT - before), "decision": decision, "group": "example-west-gpu-a"}


@pytest.mark.parametrize(
    ("decisions", "began"),
    [
        # From the refusal, or from the status that tells of it: machines that never joined, say.
        ([(10, "grow"), (4, "refused")], 4),
        ([(900, "grow")], 0),
        ([], 0),
        # Known already, also after the program began anew.
        ([(10, "grow"), (4, "refused"), (4, "backoff")], None),
        ([(10, "grow"), (4, "backoff"), (-3, "grow")], None),
        # The next one.
        ([(200, "grow"), (190, "refused"), (190, "backoff"), (10, "grow"), (4, "refused")], 4),
    ],
)
def test_a_backoff_is_noted_once(decisions: list[tuple[float, str]], began: float | None) -> None:
    found = [*backoffs.begun(autoscaler_status.read(WRITTEN), [line(*one) for one in decisions])]
    assert [(one["group"], one["at"]) for one in found] == (
        [] if began is None else [("example-west-gpu-a", written(AT - began))]
    )


def test_it_ends_as_the_flags_say() -> None:
    lines = [line(190, "refused"), line(4, "refused"), line(4, "backoff")]
    (found,) = backoffs.ends(autoscaler_status.read(WRITTEN), lines, FLAGS).items()
    assert found[0] == "example-west-gpu-a"
    assert found[1] == pytest.approx(AT - 4 + 120)
