"""What becomes of a node next that somebody is to work on. Pure: decided from what is, so whoever is killed goes on."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from fleet import fitness
from fleet.maintenance import AWAY, SOURCES, NodeState, Plan

from .nodes import Node
from .pods import Pods

# Names of pods in a status, which all have to fit in one object.
MOST_NAMED = 10
# By then a machine that was worked on has looked at itself, and its Node has what it found.
LOOKED_SECONDS = fitness.EACH_SECONDS + 15.0
LOOKS = "it looks whether it is fit for work"
GONE, CANCELLED, ENDED = "its machine is gone", "cancelled", "all work there has ended"
Act = Literal["", "evict", "delete"]


class Times(NamedTuple):
    """Of one node: nobody's drain begins before they were told so long ago as they were promised."""

    closes: float
    begins: float


def times(plan: Plan, told: float) -> Times:
    begins = max(plan.start, told + plan.notice_seconds)
    return Times(begins - plan.closed_seconds, begins)


def drains(plan: Plan) -> bool:
    """What may not come to it, and what a link is down for, ends nobody's work."""
    return SOURCES[plan.source].drains and plan.target != "link"


def after(
    plan: Plan,
    state: NodeState | None,
    node: Node | None,
    pods: Pods | None,
    now: float,
    holds: Callable[[], str],
    stuck: str = "",
) -> NodeState:
    """`pods` is None where they were not looked at just now, `node` where there is none any more.

    `holds` says why no machine of the node's kind may go just now, empty if one may; `stuck` why pods that were asked
    to leave do not.
    """
    # Whole seconds are kept, and none is promised that is not given.
    moment = float(math.ceil(now))
    if state is None:
        state = NodeState("told", moment, moment)
    if state.phase == "done":
        return state
    if node is None or plan.cancelled:
        return state._replace(phase="done", since=moment, why=GONE if node is None else CANCELLED, work=())
    if pods is not None:
        named = tuple(pods.names)
        state = state._replace(work=named[:MOST_NAMED], teams=tuple(pods.teams))
    if state.phase == "draining":
        state = state._replace(why=stuck)
    found = _next(plan, state, node, pods, now, holds)
    return found if found.phase == state.phase else found._replace(since=moment)


def _next(
    plan: Plan, state: NodeState, node: Node, pods: Pods | None, now: float, holds: Callable[[], str]
) -> NodeState:
    closes, begins = times(plan, state.told)
    if state.phase in ("told", "closed"):
        if now < closes:
            return state._replace(phase="told", why="")
        # It is closed for a look at least: the scheduler may have placed somebody there by then.
        if state.phase == "told":
            return state._replace(phase="closed", why="")
        if not drains(plan):
            return state._replace(phase="checking") if plan.over or now >= max(plan.end, begins) else state
        if now < begins and not (pods is not None and not pods.work):
            return state._replace(why="")
        why = holds()
        return state._replace(why=why) if why else state._replace(phase="draining", why="")
    if state.phase == "draining":
        if plan.over and SOURCES[plan.source].comes_back:
            # It is behind the machine: whoever has stayed, stays.
            return state._replace(phase="checking", why="")
        return state._replace(phase="drained", why="") if pods is not None and not pods.all else state
    if state.phase == "drained":
        ends = max(plan.end, state.since + plan.end - plan.start)
        over = SOURCES[plan.source].comes_back and (plan.over or (plan.ours and now >= ends))
        return state._replace(phase="checking") if over else state
    if node.wrong:
        return state._replace(why="; ".join(node.wrong))
    return state._replace(phase="done", why="") if now >= looked(plan, state) else state._replace(why=LOOKS)


def looked(plan: Plan, state: NodeState) -> float:
    """When a machine may take work again at the earliest: nobody has worked on one that was not drained."""
    return state.since + (LOOKED_SECONDS if drains(plan) else 0.0)


def act(plan: Plan, state: NodeState, now: float) -> Act:
    """What its pods are asked."""
    if state.phase != "draining":
        return ""
    return "delete" if plan.deadline and now >= plan.deadline else "evict"


def over(plan: Plan) -> bool:
    """Whether nothing comes of it any more. A plan for a pool is over when it is done with those that it had."""
    return all(one.phase == "done" for one in plan.nodes.values())


def due(plan: Plan, states: Mapping[str, NodeState], now: float) -> float:
    """When time alone changes something next."""
    moments = [moment for one in states.values() for moment in times(plan, one.told)]
    moments += [one.since + plan.end - plan.start for one in states.values() if one.phase == "drained"]
    moments += [looked(plan, one) for one in states.values() if one.phase == "checking"]
    return min((one for one in [*moments, plan.end, plan.deadline] if one > now), default=float("inf"))


def phase(plan: Plan) -> str:
    """Of all nodes: that of the one that is behind most."""
    if plan.cancelled:
        return CANCELLED
    order: Sequence[str] = ("told", "closed", *AWAY, "done")
    return min((one.phase for one in plan.nodes.values()), key=order.index, default="planned")
