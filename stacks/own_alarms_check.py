"""Whether the fleet's own alarms are any, as Prometheus reads them: asked before anything is begun."""

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from components.addons.monitoring import own_alarms, prometheus
from fleet.errors import FleetError, Problem
from fleet.loader import load_with_lines
from fleet.monitoring_model import OwnAlarm
from fleet.world import World

# Of promtool's line the reason: before it stand a temporary file and the rule's number.
REASON = re.compile(r"could not parse (?:expression|template)[^:]*: (.+)|rule \d+, \"\w+\": (.+)")


def of_fleet(world: World) -> dict[str, OwnAlarm]:
    """By names."""
    return world.fleet.monitoring.alarms if world.fleet.monitoring else {}


def check(world: World, promtool: str | None) -> None:
    """`promtool` is that program's path; without it names alone are looked at. Raises FleetError with each alarm that
    is wrong, and its line.
    """
    found = of_fleet(world)
    if not found:
        return
    taken = promtool is None or not _read(promtool, found)
    loaded = load_with_lines(world.path)

    def problem(name: str, key: str, what: str, remedy: str) -> Problem:
        return Problem(loaded.file, loaded.lines.of(("monitoring", "alarms", name, key)), what, remedy)

    wrong = [problem(name, *told) for name in found for told in _named(name)]
    # Each by itself only where they are not taken together: promtool does not say whose line is wrong.
    if promtool and not taken:
        wrong += [problem(name, *told) for name, alarm in found.items() for told in _asked(promtool, name, alarm)]
    if wrong:
        raise FleetError(wrong)


def _named(name: str) -> Iterator[tuple[str, str, str]]:
    if name in re.findall(r"alert: (\w+)", "".join(prometheus.rules().values())):
        yield "when", f"alarm {name} is one that comes with the clusters", "Choose another name for it"


def _asked(promtool: str, name: str, alarm: OwnAlarm) -> Iterator[tuple[str, str, str]]:
    if said := _read(promtool, {name: alarm}):
        example = "up == 0, or node_load1 > 100"
        yield "when", f"alarm {name} is none that Prometheus takes: {said}", f"Write PromQL, such as {example}"


def _read(promtool: str, alarms: Mapping[str, OwnAlarm]) -> str:
    """What promtool says of them; empty where it takes all."""
    rules = {"groups": [{"name": "own", "rules": [own_alarms.rule(name, one) for name, one in alarms.items()]}]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / own_alarms.FILE
        path.write_text(json.dumps(rules))
        words = [promtool, "check", "rules", "--lint=none", str(path)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    said = REASON.search(done.stderr + done.stdout)
    return (said[1] or said[2]).strip().rstrip(".") if said else " ".join((done.stderr + done.stdout).split())
