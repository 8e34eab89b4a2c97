"""Figures that the lab's tests have measured, for the end of the run."""

from typing import NamedTuple


class Figure(NamedTuple):
    what: str
    measured: str
    bound: str


FIGURES: list[Figure] = []


def note(what: str, measured: object, bound: object = "") -> None:
    FIGURES.append(Figure(what, str(measured), str(bound)))


def table() -> list[str]:
    rows = [Figure("measured in the lab", "figure", "bound"), *FIGURES]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
