"""Times on the command line: 90s, 30m, 24h, 2d."""

import re
from datetime import timedelta

import click

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
# Beyond it a moment from now may be none that a calendar has.
MOST = timedelta(days=365)
WRITTEN = re.compile(r"(\d+(?:\.\d+)?)([smhd])")


class Duration(click.ParamType[timedelta]):
    """A number and its unit, as a timedelta."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        found = WRITTEN.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is no time: write a number and s, m, h or d, such as 24h.", param, ctx)
        try:
            duration = timedelta(**{UNITS[found[2]]: float(found[1])})
        except OverflowError:
            duration = timedelta.max
        if duration > MOST:
            self.fail(f"{value} is too long: {MOST.days}d at most.", param, ctx)
        return duration
