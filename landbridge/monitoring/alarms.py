"""Alarms that are on: asked of Prometheus in its own pod, whose way is the same in each cloud: kubectl exec."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple, get_args

from ruamel.yaml import YAML

from components.addons.monitoring import prometheus
from fleet.monitoring import SPACE
from fleet.monitoring_model import Monitoring, Severity
from landbridge.cluster.kube import Kube, KubeError
from landbridge.errors import LandbridgeError

# A set of two, of which either answers.
REPLICAS = ("prometheus-0", "prometheus-1")
ASK = ("/bin/promtool", "query", "instant", "--format=json", "http://127.0.0.1:9090")
# When each began to be true.
FIRING = 'ALERTS_FOR_STATE and ignoring(alertstate) ALERTS{alertstate="firing"}'
# How bad, worst first. The alarm that always is on is none.
SEVERITIES = get_args(Severity)
ALARM, SEVERITY, OWNER = "alertname", "severity", "owner"
_OWN = {"__name__", ALARM, SEVERITY, OWNER, "fleet", "cluster", "replica", "alertstate"}
Json = dict[str, Any]


class Alarm(NamedTuple):
    """`about` are the labels that say what it is about, `since` when it began to be true."""

    name: str
    severity: str
    owner: str
    since: datetime
    about: dict[str, str]

    def as_json(self) -> Json:
        return {**self._asdict(), "since": f"{self.since:%Y-%m-%dT%H:%M:%SZ}"}


def runbooks(given: Monitoring | None) -> dict[str, str]:
    """By names of alarms: pages of docs/runbooks, and where the fleet's own say that it stands."""
    yaml = YAML(typ="safe")
    groups = [group for text in prometheus.rules().values() for group in yaml.load(text)["groups"]]
    ours = {one["alert"]: one["annotations"]["runbook"] for group in groups for one in group["rules"] if "alert" in one}
    own = {name: one.runbook for name, one in given.alarms.items() if one.runbook} if given else {}
    return {**{name: f"docs/runbooks/{page}" for name, page in ours.items()}, **own}


def on(kube: Kube) -> list[Alarm]:
    """Worst first, then the newest. Raises LandbridgeError."""
    return sorted(read(asked(kube, FIRING)), key=lambda one: (SEVERITIES.index(one.severity), -one.since.timestamp()))


def asked(kube: Kube, query: str) -> list[Json]:
    """What Prometheus answers: of each series its labels and its value. Raises LandbridgeError."""
    problem: KubeError | None = None
    for replica in REPLICAS:
        try:
            said = kube.done("exec", replica, f"--namespace={SPACE}", "--", *ASK, query)
        except KubeError as error:
            if error.forbidden:
                raise
            problem = problem or error
            continue
        found: list[Json] = json.loads(said)
        return found
    assert problem
    if problem.missing:
        raise LandbridgeError(
            "This cluster has no monitoring. Give the fleet file an entry `monitoring: {}`, and run `landbridge up`."
        )
    raise LandbridgeError(f"Prometheus does not answer: {problem}")


def read(series: Iterable[Json]) -> list[Alarm]:
    """Of what stands in the answer, those that are wrong."""
    return [
        Alarm(
            labels[ALARM],
            labels[SEVERITY],
            labels[OWNER],
            datetime.fromtimestamp(float(one["value"][1]), UTC),
            {name: value for name, value in labels.items() if name not in _OWN},
        )
        for one in series
        if (labels := one["metric"])[SEVERITY] in SEVERITIES
    ]
