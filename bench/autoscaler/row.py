"""A line of the table."""

from typing import NamedTuple


class Row(NamedTuple):
    """`goal` in the words of the table; `met` is None where there is none."""

    what: str
    measured: str
    goal: str = ""
    met: bool | None = None

    def told(self) -> str:
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        return f"| {self.what} | {self.measured} | {self.goal} | {verdict} |"


HEAD = "| what | measured | goal | |\n|---|---|---|---|"
