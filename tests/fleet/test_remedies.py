"""Remedies lead to a file that is taken: where an error says what to write, that is written."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.errors import FleetError
from fleet.loader import load

HERE = Path(__file__).parent
Mend = Callable[[re.Match[str], str], str]


def quoted(found: re.Match[str], line: str) -> str:
    return re.sub(rf"(?<![\w\"]){re.escape(found[1])}(?![\w\"])", f'"{found[1]}"', line, count=1)


def smaller(found: re.Match[str], line: str) -> str:
    return re.sub(r"\bmax: \d+", f"max: {found[1]}", line)


def whole_version(found: re.Match[str], line: str) -> str:
    return re.sub(r"(?<=kubernetes: )[^,}]+", found[1], line)


def nearest(found: re.Match[str], line: str) -> str:
    return line.replace(found[1], found[2])


def meant(found: re.Match[str], line: str) -> str:
    return line.replace(f"gpu: {found[1]}", f"gpu: {found[1]}, {found[2]}")


# What an error says → what its reader does in that line.
MENDS: tuple[tuple[str, Mend], ...] = (
    (r'in quotes: "(.+)"\.', quoted),
    (r"Set max to at most (\d+)\.", smaller),
    (r"kubernetes is .* must be a whole version, such as ([\d.]+\d)", whole_version),
    (r"has the GPU model (\S+), .*Perhaps you mean (\S+);", nearest),
    (r"has the GPU model (\S+), .* add (gpu_unlisted: true) ", meant),
)
CASES = [
    pytest.param(file, pattern, mend, id=f"{file.stem}-{mend.__name__}")
    for file in sorted(HERE.glob("bad/*/*.yaml"))
    for pattern, mend in MENDS
    if len(file.with_suffix(".error").read_text().splitlines()) == 1
    and re.search(pattern, file.with_suffix(".error").read_text())
]


@pytest.mark.parametrize(("file", "pattern", "mend"), CASES)
def test_what_an_error_says_to_write_is_taken(file: Path, pattern: str, mend: Mend, tmp_path: Path) -> None:
    with pytest.raises(FleetError) as caught:
        load(file)
    (problem,) = caught.value.problems
    found = re.search(pattern, str(problem))
    assert found
    assert problem.line
    lines = file.read_text().splitlines()
    lines[problem.line - 1] = mend(found, lines[problem.line - 1])
    (tmp_path / "fleet.yaml").write_text("\n".join(lines) + "\n")
    assert load(tmp_path / "fleet.yaml").regions


def test_every_form_of_a_remedy_is_tried() -> None:
    assert {case.values[2] for case in CASES} == {mend for _, mend in MENDS}
