"""Alertmanager: two that tell each other whom they have told; which alarm reaches whom, and which says nothing new."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from fleet.monitoring import OPERATORS, SECRET, SPACE
from fleet.monitoring_model import Receiver
from fleet.team_storage import namespace

from ..images import ALERTMANAGER
from ..manifests import (
    Manifest,
    budget,
    chosen,
    compact,
    config_map,
    container,
    get,
    headless,
    stateful_set,
)
from ..spec import AddOnsSpec
from ..system_pods import NARROW, POD_NAME, REPLICAS, system_pod
from . import targets

ADDON = "alertmanager"
PORT, PEERS_PORT = 9093, 9094
CONFIG, SECRETS, DATA, FILE = (
    "/etc/landbridge/alertmanager",
    "/etc/landbridge/receivers",
    "/alertmanager",
    "config.yaml",
)
# No name in a fleet file has a space.
NOBODY = "no receiver"
WATCHDOG = "Watchdog"
# So long what belongs together is gathered, and then told again.
WAIT, INTERVAL = "30s", "5m"
AGAIN = {"page": "4h", "ticket": "24h"}
# A minute and its word: who hears nothing for five knows.
ALIVE = {"group_wait": "0s", "group_interval": "1m", "repeat_interval": "1m"}


def wanted(spec: AddOnsSpec) -> bool:
    return bool(spec.fleet.monitoring and spec.fleet.monitoring.receivers)


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    pods, data = chosen(ADDON, ADDON), {FILE: compact(config(spec))}
    return [
        config_map(ADDON, ADDON, data, SPACE),
        headless(ADDON, ADDON, {"web": PORT, "peers": PEERS_PORT}, SPACE),
        # It reads a changed configuration when it begins; what is silenced it hears again of the other one.
        stateful_set(ADDON, ADDON, REPLICAS, _pod(), data, space=SPACE),
        budget(ADDON, ADDON, pods, SPACE),
    ]


def config(spec: AddOnsSpec) -> Manifest:
    """config.yaml: Alertmanager's documentation, "Configuration"."""
    receivers = spec.fleet.monitoring.receivers if spec.fleet.monitoring else {}
    return {
        "route": {
            "receiver": NOBODY,
            "group_by": ["alertname", "fleet", "cluster", "place"],
            "group_wait": WAIT,
            "group_interval": INTERVAL,
            "routes": [
                *_alive(receivers),
                *(route for name, one in receivers.items() for route in _routes(name, one)),
            ],
        },
        "receivers": [{"name": NOBODY}, *({"name": name, **_told(name, one)} for name, one in receivers.items())],
        "inhibit_rules": INHIBITED,
    }


# One message of what has one cause.
INHIBITED: list[Manifest] = [
    # Of a place that is cut off nothing else is news.
    {
        "source_matchers": ['alertname="PlaceCutOff"'],
        "target_matchers": ['alertname!="PlaceCutOff"'],
        "equal": ["fleet", "cluster", "place"],
    },
    {
        "source_matchers": ['alertname="EtcdNearlyFull"'],
        "target_matchers": ['alertname="EtcdFilling"'],
        "equal": ["fleet", "cluster", "ring"],
    },
]


def _alive(receivers: dict[str, Receiver]) -> Iterator[Manifest]:
    """Told to those who miss it, and to nobody else."""
    that = {"matchers": [f'alertname="{WATCHDOG}"']}
    for name, one in receivers.items():
        if one.watchdog:
            yield {**that, "receiver": name, "continue": True, **ALIVE}
    yield {**that, "receiver": NOBODY}


def _routes(name: str, receiver: Receiver) -> Iterator[Manifest]:
    """One for each severity, which is told again in its own time, and each of those whose alarms it hears."""
    for severity in receiver.severities:
        for matchers in _whose(receiver):
            yield {
                "receiver": name,
                "matchers": [f'severity="{severity}"', *matchers],
                "continue": True,
                "repeat_interval": AGAIN[severity],
            }


def _whose(receiver: Receiver) -> Iterator[list[str]]:
    if not receiver.owners:
        yield []
    for owner in receiver.owners:
        if owner == OPERATORS:
            yield [f'owner="{OPERATORS}"']
        else:
            yield ['owner="team"', f'namespace="{namespace(owner)}"']


def _told(name: str, receiver: Receiver) -> Manifest:
    """What is secret of it is read from a file each time it is told."""
    way = WAYS[receiver.kind]
    secret = {way.secret: f"{SECRETS}/{name}"} if receiver.password else {}
    return {way.configs: [{**secret, "send_resolved": True, **way.more(receiver)}]}


# What is wrong and what to do, of each alarm of a group.
SLACK = {
    "title": "{{ .Status | toUpper }}: {{ .CommonLabels.alertname }} ({{ .CommonLabels.cluster }})",
    "text": "{{ range .Alerts }}{{ .Annotations.summary }} [{{ .Annotations.runbook }}]\n{{ end }}",
}


def _mail(receiver: Receiver) -> Manifest:
    named = {"auth_username": receiver.sender} if receiver.password else {}
    return {"to": receiver.to, "from": receiver.sender, "smarthost": receiver.server, "require_tls": True, **named}


class Way(NamedTuple):
    """Alertmanager's names: of the list, of the field that names a secret's file; and what else it is told."""

    configs: str
    secret: str
    more: Callable[[Receiver], Manifest] = lambda _: {}


WAYS: dict[str, Way] = {
    "webhook": Way("webhook_configs", "url_file"),
    "slack": Way("slack_configs", "api_url_file", lambda _: SLACK),
    "pagerduty": Way("pagerduty_configs", "routing_key_file"),
    "email": Way("email_configs", "auth_password_file", _mail),
}


def _peer(number: int) -> str:
    return f"{ADDON}-{number}.{ADDON}.{SPACE}.svc:{PEERS_PORT}"


def _pod() -> Manifest:
    manager = container(
        ADDON,
        ALERTMANAGER,
        "10m",
        "64Mi",
        command=["/bin/alertmanager"],
        args=[
            f"--config.file={CONFIG}/{FILE}",
            f"--storage.path={DATA}",
            f"--web.listen-address=:{PORT}",
            f"--cluster.listen-address=$(POD_IP):{PEERS_PORT}",
            # They find each other again by names, whichever addresses they have by then.
            *(f"--cluster.peer={_peer(number)}" for number in range(REPLICAS)),
            "--cluster.reconnect-timeout=5m",
        ],
        env=[POD_NAME, {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
        ports=[{"name": targets.METRICS, "containerPort": PORT}, {"name": "peers", "containerPort": PEERS_PORT}],
        readinessProbe=get(PORT, "/-/ready", "", periodSeconds=10),
        livenessProbe=get(PORT, "/-/healthy", "", periodSeconds=10, timeoutSeconds=5, failureThreshold=6),
        securityContext=NARROW,
        volumeMounts=[
            {"name": "config", "mountPath": CONFIG, "readOnly": True},
            {"name": "receivers", "mountPath": SECRETS, "readOnly": True},
            {"name": "data", "mountPath": DATA},
        ],
    )
    pod = system_pod(
        ADDON,
        # It asks the API nothing.
        automountServiceAccountToken=False,
        containers=[manager],
        volumes=[
            {"name": "config", "configMap": {"name": ADDON}},
            # A person makes it; until then whom it concerns is told of nothing, which is an alarm of its own.
            {"name": "receivers", "secret": {"secretName": SECRET, "optional": True, "defaultMode": 0o440}},
            {"name": "data", "emptyDir": {"sizeLimit": "256Mi"}},
        ],
    )
    return {field: value for field, value in pod.items() if field != "serviceAccountName"}
