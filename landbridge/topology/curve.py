"""The line of a link: a cubic Bézier curve between two edges, upright at both ends. Pure; lengths are in pixels."""

from operator import mul
from typing import NamedTuple

Point = tuple[float, float]


class Curve(NamedTuple):
    """`turns` is the height of both its handles, one over each end."""

    start: Point
    end: Point
    turns: float

    @property
    def path(self) -> str:
        (left, first), (right, last), turns = self
        return f"M{left:g} {first:g} C{left:g} {turns:g} {right:g} {turns:g} {right:g} {last:g}"

    def at(self, way: float) -> Point:
        """`way` is 0 at its start, and 1 at its end."""
        (left, first), (right, last), turns = self
        back = 1 - way
        shares = back**3, 3 * back**2 * way, 3 * back * way**2, way**3
        across, down = (left, left, right, right), (first, turns, turns, last)
        return sum(map(mul, shares, across)), sum(map(mul, shares, down))
