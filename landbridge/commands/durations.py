"""Times on the command line: 90s, 30m, 24h, 2d."""

from datetime import timedelta

import click

from landbridge.durations import duration


class Duration(click.ParamType[timedelta]):
    """A number and its unit, as a timedelta."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        try:
            found = duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if found is None:
            self.fail(f"{value!r} is no time: write a number and s, m, h or d, such as 24h.", param, ctx)
        return found
