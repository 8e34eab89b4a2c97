"""Whether the fleet's own alarms are any, as Prometheus reads them: asked before anything is begun."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import installation
from components.addons.monitoring import own_alarms, prometheus
from fleet.errors import FleetError, Problem
from fleet.loader import load_with_lines
from fleet.monitoring_model import OwnAlarm
from fleet.world import World
from landbridge.errors import UsageError
from local.kubernetes import BIN

# Of promtool's line the reason: before it stand a temporary file and the rule's number.
REASON = re.compile(r"could not parse (?:expression|template)[^:]*: (.+)|rule \d+, \"\w+\": (.+)")


def check(world: World) -> None:
    """Raises FleetError with each that is wrong, and its line."""
    found = world.fleet.monitoring.alarms if world.fleet.monitoring else {}
    if not found:
        return
    taken = not _read(found)
    loaded = load_with_lines(world.path)

    def problem(name: str, key: str, what: str, remedy: str) -> Problem:
        return Problem(loaded.file, loaded.lines.of(("monitoring", "alarms", name, key)), what, remedy)

    wrong = [problem(name, *told) for name, alarm in found.items() for told in _wrong(name, alarm, taken=taken)]
    if wrong:
        raise FleetError(wrong)


def program() -> str:
    """promtool: that of set-up, else the one on the PATH. Raises UsageError."""
    found = shutil.which("promtool", path=f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None:
        raise UsageError(installation.missing("promtool", installation.SETUP_LOCAL))
    return found


def _wrong(name: str, alarm: OwnAlarm, *, taken: bool) -> Iterator[tuple[str, str, str]]:
    if name in re.findall(r"alert: (\w+)", "".join(prometheus.rules().values())):
        yield "when", f"alarm {name} is one that comes with the clusters", "Choose another name for it"
    # Each by itself only where they are not taken together: promtool does not say whose line is wrong.
    if said := "" if taken else _read({name: alarm}):
        example = "up == 0, or node_load1 > 100"
        yield "when", f"alarm {name} is none that Prometheus takes: {said}", f"Write PromQL, such as {example}"


def _read(alarms: Mapping[str, OwnAlarm]) -> str:
    """What promtool says of them; empty where it takes all. Raises UsageError."""
    rules = {"groups": [{"name": "own", "rules": [own_alarms.rule(name, one) for name, one in alarms.items()]}]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / own_alarms.FILE
        path.write_text(json.dumps(rules))
        words = [program(), "check", "rules", "--lint=none", str(path)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    said = REASON.search(done.stderr + done.stdout)
    return (said[1] or said[2]).strip().rstrip(".") if said else " ".join((done.stderr + done.stdout).split())
