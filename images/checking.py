"""Runs the suite of checks (`checks/`, pytest-testinfra) on a root file system, a booted image or a live node."""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from fleet import extras

from .errors import ImageError
from .running import path as system_path
from .running import run

CHECKS = Path(__file__).with_name("checks")
Outcome = Literal["passed", "failed", "skipped"]


class Check(NamedTuple):
    """`why` is what was found instead, or why it was left out."""

    name: str
    outcome: Outcome
    seconds: float
    why: str


def of_root(root: Path) -> list[Check]:
    """Without a boot; wants root, for it runs the image's own programs (chroot)."""
    return _run(["--connection=chroot", f"--hosts={root}"])


def of_machine(host: str, ssh_config: Path | None = None) -> list[Check]:
    """A machine that runs, over SSH: `[USER@]HOST[:PORT]`, who may become root there.

    Raises ImageError where it can't be reached or that is not so, once instead of in each check.
    """
    config = ["-F", str(ssh_config)] if ssh_config else []
    try:
        run(["ssh", *config, "-o", "BatchMode=yes", "-o", "ConnectTimeout=60", f"ssh://{host}", "sudo -n true"])
    except ImageError as error:
        raise ImageError(f"{host} can't be checked: one has to come in by SSH and become root. {error}") from None
    return _run([f"--hosts=ssh://{host}", "--sudo", *([f"--ssh-config={ssh_config}"] if ssh_config else [])])


def _run(options: Sequence[str]) -> list[Check]:
    if why := extras.missing("images"):
        raise ImageError(f"{why[0].upper()}{why[1:]}")
    with tempfile.TemporaryDirectory() as temporary:
        report = Path(temporary) / "report.xml"
        # Nothing of the settings of whoever's folder this runs in, and no traces in the image.
        command = [sys.executable, "-B", "-m", "pytest", "-c", "/dev/null", "--rootdir", str(CHECKS), "-q"]
        command += ["-p", "no:cacheprovider", "-p", "no:xdist", f"--junitxml={report}", *options, str(CHECKS)]
        agent = {name: os.environ[name] for name in ("SSH_AUTH_SOCK",) if name in os.environ}
        env = {"PATH": system_path(), "HOME": temporary, **agent}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
        if not report.exists():
            raise ImageError(f"The checks could not be run:\n{(done.stdout + done.stderr)[-2000:]}")
        checks = list(_read(report))
    if not checks:
        raise ImageError(f"Nothing was checked:\n{done.stdout[-2000:]}")
    return checks


def _read(report: Path) -> Iterator[Check]:
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 - pytest's own, written just now
        name = case.attrib["name"].removeprefix("test_").partition("[")[0].replace("_", " ")
        wrong = next((found for kind in ("failure", "error") if (found := case.find(kind)) is not None), None)
        left_out = case.find("skipped")
        outcome: Outcome = "failed" if wrong is not None else "skipped" if left_out is not None else "passed"
        detail = wrong if wrong is not None else left_out
        why = "" if detail is None else detail.attrib.get("message", "").strip()
        yield Check(name, outcome, float(case.attrib["time"]), why)
