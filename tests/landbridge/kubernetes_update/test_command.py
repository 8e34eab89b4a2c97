"""What is asked before an update."""

from datetime import timedelta

from landbridge.commands.cluster_update import short


def test_less_time_than_the_notice_is_said() -> None:
    assert short(timedelta(hours=24), 60) == short(timedelta(hours=1), 60) == ""
    assert short(timedelta(minutes=10), 60) == (
        " Work on machines of pools has 10 min, less than the 60 min of the fleet file."
    )
