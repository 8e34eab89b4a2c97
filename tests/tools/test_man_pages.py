"""Every command has a man page that the formatter takes without a warning, and that says what help says."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from landbridge.commands import landbridge

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import man_pages  # noqa: E402

PAGES = dict(man_pages.pages(landbridge, "1.2.3"))
# What may stand at the beginning of a line, where no formatter is here to ask.
REQUESTS = {".TH", ".SH", ".B", ".BR", ".PP", ".TP"}
GROFF = shutil.which("groff")


def plain(page: str) -> str:
    """As a terminal of any width shows it, on one line."""
    done = subprocess.run(
        [GROFF or "groff", "-man", "-Tascii", "-P-cbou"],
        input=page,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return " ".join(re.sub("-\n *", "-", done.stdout).split())


def test_every_command_has_a_page() -> None:
    def paths(command: click.Command, name: str, context: click.Context | None = None) -> list[str]:
        here = click.Context(command, info_name=name, parent=context)
        below = [paths(one, child, here) for child, one in man_pages.children(command, here)]
        return [here.command_path, *(path for some in below for path in some)]

    every = paths(landbridge, "landbridge")
    assert len(every) > 80
    assert sorted(PAGES) == sorted(f"{path.replace(' ', '-')}.1" for path in every)


def test_lines_begin_with_text_or_with_what_the_formatter_knows() -> None:
    strange = {line for page in PAGES.values() for line in page.splitlines() if line[:1] in (".", "'")}
    assert {line.split()[0] for line in strange} <= REQUESTS


@pytest.mark.skipif(GROFF is None, reason="groff is not installed")
def test_the_formatter_takes_all_without_a_warning() -> None:
    done = subprocess.run(
        [GROFF or "groff", "-ww", "-z", "-man"],
        input="".join(PAGES.values()),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stderr == ""


@pytest.mark.skipif(GROFF is None, reason="groff is not installed")
def test_what_help_says_is_read_there() -> None:
    page = plain(PAGES["landbridge-pool-roll.1"])
    assert "--deadline DURATION" in page
    assert "landbridge pool roll [OPTIONS] POOL" in page
    assert "landbridge-pool(1)" in page
    assert "landbridge 1.2.3" in page


def test_what_roff_would_read_as_its_own_is_plain() -> None:
    @click.command(help=".TH is 'text' with a back\\slash\n\n'so is \"this\"")
    @click.option("--x-y", help=".dot")
    def odd() -> None: ...

    ((name, page),) = man_pages.pages(odd, "1", name="odd")
    assert name == "odd.1"
    assert "\\&.TH is \\(aqtext\\(aq with a back\\eslash" in page
    if GROFF:
        assert ".TH is 'text' with a back\\slash" in plain(page)


def test_pages_of_commands_that_are_gone_go(tmp_path: Path) -> None:
    (tmp_path / "landbridge-gone.1").write_text("")
    assert man_pages.write(tmp_path) == len(PAGES)
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(PAGES)
