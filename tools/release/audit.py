"""`make audit`: every package of the locks and every Go program that is built, against what is known of them."""

import datetime
from collections.abc import Iterator
from pathlib import Path

from . import asking, weaknesses
from .errors import FOUND, SILENT, SilentSourceError
from .programs import Program, lacking
from .weaknesses import Weakness

LOCKS = ("requirements.lock", "services/requirements.lock", "tools/audit.lock")


class Audit:
    """What was asked and found; `silent` says what got no answer, and then nothing has passed."""

    def __init__(self) -> None:
        self.found: list[Weakness] = []
        self.silent: list[str] = []
        self.asked: list[str] = []

    def packages(self, pip_audit: Path, root: Path, url: str | None) -> None:
        for name in LOCKS:
            try:
                self.found += asking.of_packages(pip_audit, root / name, name, url)
                self.asked.append(name)
            except SilentSourceError as error:
                self.silent.append(str(error))

    def programs(self, govulncheck: Path, programs: list[Program], url: str | None) -> None:
        for program in programs:
            try:
                self.found += asking.of_program(govulncheck, program, url)
                self.asked.append(program.name)
            except SilentSourceError as error:
                self.silent.append(str(error))

    def told(self, today: datetime.date, programs: list[Program], *, whole: bool) -> tuple[int, list[str]]:
        """Exit status and lines. `whole`: a program that is not built is one that got no answer."""
        verdict = weaknesses.judge(self.found, weaknesses.exceptions(), today)
        unbuilt = lacking(programs)
        silent = [*self.silent, *([f"not built: {', '.join(unbuilt)}"] if unbuilt and whole else [])]
        lines = [*_part("Weaknesses", verdict.standing), *_part("Excepted", verdict.excepted)]
        lines += [*_part("Exceptions that have to go", verdict.stale), *_part("Not known", silent)]
        if unbuilt and not whole:
            lines.append(f"Not built here, and not looked at: {', '.join(unbuilt)}. `make nightly` builds all")
        status = FOUND if verdict.standing or verdict.stale else SILENT if silent else 0
        end = {0: "nothing that stands", FOUND: "something stands", SILENT: "NOT PASSED: not everything was answered"}
        return status, [*lines, f"Asked about {len(self.asked)} locks and programs: {end[status]}"]


def _part(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{title}:"
        yield from (f"  {line}" for line in lines)
