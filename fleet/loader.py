"""Reads a fleet file: YAML, then shape (pydantic) and rules. All problems at once, each with its line."""

from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from . import price_book, shape_book
from .errors import FleetError, Problem
from .model import Fleet
from .partial import mentions, valid_part
from .rules import violations
from .shape_problems import shape_problems
from .yaml import Lines, plain, read


class Loaded(NamedTuple):
    """A fleet with the lines of its entries, for errors that are found later."""

    fleet: Fleet
    lines: Lines
    file: str


def load(path: Path) -> Fleet:
    """The fleet in a file. Raises FleetError."""
    return load_with_lines(path).fleet


def load_with_lines(path: Path, *, fetched: bool = True) -> Loaded:
    """Raises FleetError with every problem of the file. Not `fetched`: as it may be while its prices and
    shapes are unknown.
    """
    data, lines = read(path)
    prices, shapes = price_book.load(price_book.book_path(path)), shape_book.load(shape_book.book_path(path))
    raw, dropped, problems = plain(data), set[str](), list[Problem]()
    try:
        fleet: Fleet | None = Fleet.model_validate(raw)
    except ValidationError as error:
        problems += shape_problems(Fleet, path.name, lines, error)
        fleet, dropped = valid_part(raw, error)
    fleet = fleet and fleet.with_prices(prices).with_shapes(shapes)
    broken = [v for v in violations(fleet, fetched=fetched) if not mentions(v.what, dropped)] if fleet else []
    problems += (Problem(path.name, lines.of(v.entry), v.what, v.remedy) for v in broken)
    if problems or fleet is None:
        raise FleetError(problems)
    return Loaded(fleet, lines, path.name)
