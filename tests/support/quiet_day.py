"""A day of a cluster in which nothing happens, from a few minutes of it: which alarms that day would bring.

What counts goes on to count as fast as it did, times go on with the clock, and all else stays as it was. promtool runs
our rules over that day, minute by minute, so that what needs an hour to be noticed has had it.
"""

import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from components.addons.monitoring import prometheus
from local.kubernetes import BIN

Json = dict[str, Any]
Series = Mapping[str, float]
HOURS, STEP_SECONDS = 24, 60
# It is on by itself.
WATCHDOG = "Watchdog"
COUNTS = re.compile(r".+_(total|count|sum|bucket)")
# Seconds since 1970; promtool's own day begins then.
TIMES = re.compile(r".+_(timestamp_seconds|last_activity|written_until_seconds|region_seen_seconds)")


def metrics() -> list[str]:
    """Names of all that our rules ask for, but what they reckon themselves; labels among them are no metric's name."""
    groups = [group for text in prometheus.rules().values() for group in YAML(typ="safe").load(text)["groups"]]
    text = "\n".join(re.sub(r'"[^"]*"', "", rule["expr"]) for group in groups for rule in group["rules"])
    return sorted(set(re.findall(r"(?<![\w:])([a-zA-Z_]\w*)(?![\w(:])", text)))


def query(back_seconds: int = 0) -> str:
    offset = f" offset {back_seconds}s" if back_seconds else ""
    return f'{{__name__=~"{"|".join(metrics())}"}}{offset}'


def read(found: Iterable[Json]) -> dict[str, float]:
    """Of promtool's answer: series as rules name them, and their values."""
    return {series(one["metric"]): float(one["value"][1]) for one in found}


def series(labels: Mapping[str, str]) -> str:
    told = ",".join(f"{name}={json.dumps(value)}" for name, value in sorted(labels.items()) if name != "__name__")
    return f"{labels['__name__']}{{{told}}}"


def notation(name: str, value: float, before: float, seconds: float, now: float, steps: int) -> str:
    """As promtool writes what goes on: `start+change x times`."""
    metric = name.partition("{")[0]
    if TIMES.fullmatch(metric):
        assert value > now / 2, name
        change = STEP_SECONDS if value > before else 0
        return f"{value - now:g}{change:+g}x{steps}"
    change = max(0.0, value - before) / seconds * STEP_SECONDS if COUNTS.fullmatch(metric) else 0
    return f"{value:.12g}{change:+.12g}x{steps}"


def fired(folder: Path, now: float, seconds: float, after: Series, before: Series) -> set[str]:
    """Alarms that are on at any half hour of the day that follows `now`, seconds since 1970.

    `after` is what is there then, and `before` what was `seconds` earlier.
    """
    steps = HOURS * 3600 // STEP_SECONDS
    given = [
        {"series": name, "values": notation(name, value, before.get(name, value), seconds, now, steps)}
        for name, value in after.items()
    ]
    (folder / "rules").mkdir()
    for name, text in prometheus.rules().items():
        (folder / "rules" / name).write_text(text)
    names = set(re.findall(r"- alert: (\w+)", "".join(prometheus.rules().values()))) - {WATCHDOG}
    silent = [
        {"eval_time": f"{half * 30}m", "alertname": name, "exp_alerts": []}
        for half in range(1, HOURS * 2 + 1)
        for name in sorted(names)
    ]
    test = {"interval": "1m", "input_series": given, "alert_rule_test": silent}
    document = {"rule_files": ["rules/*.yaml"], "evaluation_interval": "1m", "tests": [test]}
    (folder / "day.test.yaml").write_text(json.dumps(document))
    command = [BIN / "promtool", "test", "rules", "day.test.yaml"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    on = set(re.findall(r"alertname: (\w+), time", done.stdout + done.stderr))
    assert on or done.returncode == 0, done.stdout + done.stderr
    return on
