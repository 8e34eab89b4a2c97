"""The fleet file's entry `monitoring`; what it must keep to beside its shape stands in `fleet.monitoring`."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from .fields import MAIL, Model, Name

# page: somebody is woken; ticket: on a working day.
Severity = Literal["page", "ticket"]
AlarmName = Annotated[
    str, Field(pattern=r"^[A-Z][A-Za-z0-9]{0,63}$", description="letters and digits, a capital first")
]


class Receiver(Model):
    """Who is told of alarms, and how. What nobody else may know lies in the cluster, by the receiver's name."""

    kind: Literal["webhook", "slack", "pagerduty", "email"]
    severities: list[Severity] = Field(default_factory=lambda: list(get_args(Severity)), min_length=1)
    owners: list[Name] = Field(default_factory=list, description="`operators`, and teams; everybody's unless named")
    watchdog: bool = Field(default=False, description="told each minute that alarms work: silence is the alarm there")
    to: str | None = Field(default=None, pattern=MAIL, description="of kind email: whom")
    sender: str | None = Field(default=None, pattern=MAIL, description="of kind email: who writes")
    server: str | None = Field(default=None, pattern=r"^[a-z0-9.-]+:\d+$", description="of kind email: HOST:PORT")
    password: bool = Field(default=True, description="of kind email: whether its server wants one")


class OwnAlarm(Model):
    """One of the fleet's own, beside those that come with the clusters."""

    when: str = Field(min_length=1, description="PromQL: on while it has an answer")
    after: str = Field(default="5m", pattern=r"^\d+(s|m|h|d)$", description="so long it must be so")
    severity: Severity = "ticket"
    owner: Name = Field(default="operators", description="`operators`, or a team")
    says: str = Field(min_length=1, description="a sentence; {{ $labels.node }} and {{ $value }} are filled in")
    runbook: str | None = Field(default=None, description="where it stands what to do")


class RemoteWrite(Model):
    """Where metrics are kept for longer, by what takes Prometheus' remote write."""

    url: str = Field(pattern=r"^https://[^\s/@]+(/\S*)?$", description="https, without a password in it")
    token: bool = Field(default=True, description="whether it wants one: it lies in the cluster")


class Logs(Model):
    """What pods print, kept when they and their machines are gone."""

    keep_days: int = Field(default=30, ge=1, le=365, description="at most; less where the disk is full before")
    disk_gib: int = Field(default=10, ge=1, le=29, description="on each of two system machines")


class Monitoring(Model):
    """Metrics and alarms of each cluster."""

    keep_days: int = Field(default=15, ge=1, le=365, description="at most; less where the disk is full before")
    disk_gib: int = Field(default=20, ge=1, le=30, description="on each of two system machines")
    receivers: dict[Name, Receiver] = Field(default_factory=dict, description="whom alarms reach")
    alarms: dict[AlarmName, OwnAlarm] = Field(default_factory=dict, description="the fleet's own, by name")
    remote_write: RemoteWrite | None = None
    logs: Logs | None = Field(default=None, description="`{}` keeps them")
    metrics_api: bool = Field(default=False, description="for `kubectl top` and HorizontalPodAutoscalers")
    keep_at_sites: bool = Field(
        default=False, description="a site that is cut off keeps what its nodes measure for a day, and sends it after"
    )
