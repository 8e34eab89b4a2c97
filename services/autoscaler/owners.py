"""What owners are told without asking: that pods of theirs wait, and for what, once an hour for each reason. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .hours import Hour

TELL_SECONDS = 90
# What ends by itself, or by the pod's owner, is no news. Which pools are for other work is one where no pool fits.
NO_NEWS = {"undecided", "scheduling", "preempting", "gated", "priority"}
MISFITS = {"selector", "taint", "too-large"}
# A pod that was not seen for so long waits no more.
STALE_SECONDS = 60
# Why machines that should go stay.
STOPS = ("region-not-ready", "nodes-unknown")
TEAM = "team-"
SHOWN = 5
HELP = "`landbridge autoscaler explain {pod} --namespace {namespace}` tells all."


class Message(NamedTuple):
    """`team` is who is told; messages of one `key` are told once in an hour of notes."""

    team: str
    key: str
    text: str


def due(hour: Hour, cluster: str, owner: str, now: float) -> list[Message]:
    """Those not told yet in this hour. `owner` is the fleet's: work that is no team's, and regions in trouble."""
    found = [*_waits(hour, cluster, owner, now), *_stops(hour, cluster, owner)]
    known = set(hour.posted)
    return [one for one in {one.key: one for one in found}.values() if one.key not in known]


def _waits(hour: Hour, cluster: str, owner: str, now: float) -> Iterator[Message]:
    for wait in hour.waits.values():
        news = _news(wait["times"][-1]["causes"])
        if now - wait["to"] > STALE_SECONDS or now - wait["from"] < TELL_SECONDS or not news:
            continue
        space = str(wait["namespace"])
        team = space.removeprefix(TEAM) if space.startswith(TEAM) else owner
        pods = sorted(name for name, (_, to) in wait["pods"].items() if now - to <= STALE_SECONDS)
        if pods:
            codes = sorted({str(one["code"]) for one in news})
            yield Message(team, "/".join((space, str(wait["owner"]), *codes)), _message(cluster, wait, pods, news, now))


def _news(causes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """None while machines come."""
    codes = {str(one["code"]) for one in causes}
    shown = set() if "coming" in codes else (codes - MISFITS or codes) - NO_NEWS
    return [one for one in causes if one["code"] in shown]


def _message(
    cluster: str, wait: Mapping[str, Any], pods: Sequence[str], news: Sequence[Mapping[str, Any]], now: float
) -> str:
    whose = f" of {wait['owner']}" if wait["owner"] else f" ({pods[0]})" if len(pods) == 1 else ""
    many = f"{len(pods)} pods{whose} wait" if len(pods) > 1 else f"A pod{whose} waits"
    minutes = max(1, round((now - wait["from"]) / 60))
    lines = [f"• {one['group'] + ': ' if one.get('group') else ''}{one['text']} ({one['code']})" for one in news]
    more = [f"• and {len(lines) - SHOWN} more reasons"] if len(lines) > SHOWN else []
    asks = ", ".join(f"{amount} {name}" for name, amount in wait["requests"].items())
    head = f"{cluster}: {many} in {wait['namespace']} for {minutes} min. Each asks for {asks}."
    return "\n".join([head, *lines[:SHOWN], *more, HELP.format(pod=pods[0], namespace=wait["namespace"])])


def _stops(hour: Hour, cluster: str, owner: str) -> Iterator[Message]:
    for one in hour.decisions:
        why = str(one.get("why", ""))
        if one["decision"] == "no-end" and why.startswith(STOPS):
            where = f"{one['region']}: no machine ends there"
            yield Message(owner, f"{one['region']}/{why.partition(':')[0]}", f"{cluster}, {where}: {why}")
        elif one["decision"] == "region-problem":
            yield Message(owner, f"{one['region']}/problem", f"{cluster}: {one['region']} does not answer: {why}")
