"""Times on the command line."""

from datetime import timedelta

import click
import pytest

from landbridge.commands.durations import Duration


@pytest.mark.parametrize(
    ("text", "hours"), [("90s", 0.025), ("30m", 0.5), ("24h", 24), ("2d", 48), ("1.5h", 1.5), ("365d", 365 * 24)]
)
def test_a_number_and_its_unit(text: str, hours: float) -> None:
    assert Duration().convert(text, None, None) == timedelta(hours=hours)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1w", "is no time"),
        ("soon", "is no time"),
        ("366d", "365d at most"),
        ("9999999d", "365d at most"),
        ("9" * 400 + "s", "365d at most"),
    ],
)
def test_what_is_none_or_longer_than_a_year_is_refused(text: str, why: str) -> None:
    with pytest.raises(click.BadParameter, match=why):
        Duration().convert(text, None, None)
