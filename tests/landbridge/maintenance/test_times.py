"""Times as people type them; what is none, or too far for any calendar, is one clear error."""

from datetime import datetime, timedelta, timezone

import pytest

from landbridge.errors import UsageError
from landbridge.maintenance.times import moment

HERE = timezone(timedelta(hours=1))
NOW = datetime(2026, 11, 29, 18, 30, tzinfo=HERE)


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("22:00", "2026-11-29T22:00:00+01:00"),
        ("9:05", "2026-11-30T09:05:00+01:00"),
        ("2h", "2026-11-29T20:30:00+01:00"),
        ("1.5d", "2026-12-01T06:30:00+01:00"),
        ("2026-12-01T22:00", "2026-12-01T22:00:00+01:00"),
        ("2026-12-01T22:00Z", "2026-12-01T22:00:00+00:00"),
        ("2026-12-01", "2026-12-01T00:00:00+01:00"),
    ],
)
def test_it_is_by_the_clock_of_who_types(text: str, means: str) -> None:
    assert moment(text, NOW).isoformat() == means


@pytest.mark.parametrize(
    "text", ["", "soon", "25:00", "12:99", "2026-02-30", "99999999999h", "400d", "9999-12-31T23:00"]
)
def test_what_is_none_is_told_with_the_forms(text: str) -> None:
    with pytest.raises(UsageError, match=r"Write 22:00, 2026-12-01T22:00"):
        moment(text, NOW)
