"""Remedies lead to a file that is taken: where an error says what to write, that is written."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.errors import FleetError
from fleet.loader import load

HERE = Path(__file__).parent
# Of what the error's pattern found and the line that it names → that line as its reader leaves it.
Mend = Callable[[re.Match[str], str], str]


def quoted(found: re.Match[str], line: str) -> str:
    return re.sub(rf"(?<![\w\"]){re.escape(found[1])}(?![\w\"])", f'"{found[1]}"', line, count=1)


def bounded(found: re.Match[str], line: str) -> str:
    return re.sub(r"\bmax: \d+", f"max: {found[1]}", line)


def whole_version(found: re.Match[str], line: str) -> str:
    return re.sub(r"(?<=kubernetes: )[^,}]+", found[1], line)


def replaced(found: re.Match[str], line: str) -> str:
    """A word by the one that is proposed; the first of several."""
    return re.sub(rf"(?<![\w.-]){re.escape(found[1])}(?![\w-])", found[2], line, count=1)


def exchanged(found: re.Match[str], line: str) -> str:
    """The value of the key that the error names."""
    key, example = found[1].rpartition(".")[2], found[2]
    return re.sub(rf"(\b{key}: )(\[[^\]]*\]|\{{[^}}]*\}}|[^,}}]*)", rf"\g<1>{example}", line, count=1)


def meant(found: re.Match[str], line: str) -> str:
    return line.replace(f"gpu: {found[1]}", f"gpu: {found[1]}, {found[2]}")


def fewer(found: re.Match[str], line: str) -> str:
    """A list's first entries."""
    most = int(found[2])
    return re.sub(
        rf"({found[1]}: )\[([^\]]*)\]", lambda m: f"{m[1]}[{', '.join(m[2].split(', ')[:most])}]", line, count=1
    )


def chosen(found: re.Match[str], line: str) -> str:
    """The first of the values that there are."""
    key = found[1].rpartition(".")[2]
    return re.sub(rf"(\b{key}: ){re.escape(found[2])}", rf"\g<1>{found[3]}", line, count=1)


def added(found: re.Match[str], line: str) -> str:
    return line.replace("}", f", {found[1]}}}", 1)


def left_out(found: re.Match[str], line: str) -> str:
    return re.sub(rf", {found[1]}: [^,}}]+", "", line)


VALUE = r"'?([^' ]+)'?"
# What an error says → what its reader does in that line.
MENDS: tuple[tuple[str, Mend], ...] = (
    (r'in quotes: "(.+)"\.', quoted),
    (r"Set max to at most (\d+)\.", bounded),
    (r"Lower its max to ([1-9]\d*),", bounded),
    (r"has max \d+ below min (\d+)\. Raise max", bounded),
    (r"kubernetes is .* must be a whole version, such as ([\d.]+\d)", whole_version),
    (r"has the GPU model (\S+), .*Perhaps you mean (\S+);", replaced),
    (r"has the GPU model (\S+), .* add (gpu_unlisted: true) ", meant),
    (r"([\w-]+) is not known\. Perhaps you mean (\S+)\.", replaced),
    (r"has no region (\S+) that is known here\. Perhaps you mean (\S+)\.", replaced),
    (rf"names the \w+ {VALUE}, which is not declared\. Known: ([\w-]+)", replaced),
    (r"lists the host (\S+), which .* Known: ([\w-]+)", replaced),
    (r"asn (\d+) .*such as (\d+)", replaced),
    (r"(\S+) is not a network address: the prefix that holds it is (\S+)\. ", replaced),
    (r"main keeps its (copies) in .*\. Choose (\S+) or \S+\.", exchanged),
    (rf"(\S+) is {VALUE}\. It must be '?(?!text)(\w+)'?(?:,| or ) ", chosen),
    (r"(\S+) is \S+\. It must be at least (\d+)\.", exchanged),
    (r"(\S+) is '[^']*'\. It must be .*such as (?!arn:)(\S+?)(?:: the form .*|\.)$", exchanged),
    (r"told of alarms of (\S+), which is no team\. Known: (\w+)", replaced),
    (r"Add it, such as ((?:to|sender|server): \S+)\.$", added),
    (r"Leave (\w+) out[:.]", left_out),
    (r"such as (organization: \w+)\.$", added),
    (r"(state\.backend) (?:is|has) .* Write (\w+://[^\s,]+?)[,.](?:\s|$)", exchanged),
    (r"and its (secrets) in .* Use (\S+) beside", exchanged),
    (r"which encrypts no (secrets) by default\. Use (\S+)\.$", exchanged),
    (r"Write (lends|disk_gib): (\d+) or less\.", exchanged),
    (r"([a-z]+) has \d+ entries\. Give at most (\d+)\.", fewer),
)
# Whose remedy is right, and meets what else is wrong there: a second `regions`, a pool of kind gpu.
MORE = {"unknown-key", "gpus-negative"}
CASES = [
    pytest.param(file, pattern, mend, id=f"{file.stem}-{mend.__name__}")
    for file in sorted(HERE.glob("bad/*/*.yaml"))
    for pattern, mend in MENDS
    if len(file.with_suffix(".error").read_text().splitlines()) == 1
    and re.search(pattern, file.with_suffix(".error").read_text(), re.MULTILINE)
    and file.stem not in MORE
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
    assert {case.values[1] for case in CASES} == {pattern for pattern, _ in MENDS}
