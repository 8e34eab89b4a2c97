"""What is wrong with a file, said once: file, line, what, and what would be right."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake in one file. `line` counts from 1 and is None only when the file as a whole is meant."""

    file: str
    line: int | None
    what: str
    remedy: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.what}. {self.remedy}."


class FleetError(Exception):
    """Every problem of a fleet file or its ledger at once; `str` prints a line for each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(problems, key=lambda p: (p.file, p.line or 0, p.what))
        super().__init__("\n".join(str(problem) for problem in self.problems))
