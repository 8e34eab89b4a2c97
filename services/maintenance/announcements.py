"""What clouds announce of their machines, as nodes have it, becomes plans; what they take back is called off."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from fleet import maintenance
from fleet.maintenance import AWAY, SOURCES, Plan, seconds, stamp
from kube_http import JSON, MERGE, Answer, Json, Kube

from .nodes import Node

MOST_NAME = 50
# Of a node at a time: clouds announce one or two.
MOST = 8
ROLL, FINDING = "pool-roll", "host-finding"
BY_CLOUDS = [name for name, one in SOURCES.items() if not one.ours and name not in (ROLL, FINDING)]
# Written before the answer was lost, gone, or changed since.
KNOWN = (404, 409)


def changes(
    nodes: Mapping[str, Node], plans: Mapping[str, Plan], closed_seconds: float, now: float
) -> Iterator[tuple[str, str, Json]]:
    """Method, name of the plan, and body: of each thing that stands otherwise."""
    announced: set[str] = set()
    for node in nodes.values():
        for one in read(node):
            name = name_of(node.name, str(one["id"]))
            announced.add(name)
            if (plan := plans.get(name)) is None:
                yield "POST", name, manifest(name, node.name, one, closed_seconds, now)
            elif (moved := _moved(plan, one)) is not None:
                yield "PATCH", name, {"spec": moved}
    for name, plan in plans.items():
        open_ = not plan.over and not plan.cancelled and any(one.phase != "done" for one in plan.nodes.values())
        if plan.event and name not in announced and plan.target_name in nodes and open_:
            # Who was emptied for it has it behind; of others it was taken back.
            begun = any(one.phase in AWAY for one in plan.nodes.values())
            yield "PATCH", name, {"spec": {"over": True} if begun else {"cancelled": True}}


def read(node: Node) -> list[Mapping[str, Any]]:
    """A node may write anything there: what is not understood is nothing."""
    seen = [*_rolled(node), *_unfit(node)]
    try:
        found = json.loads(node.announced) if node.announced else []
        return [*seen, *[one for one in found if _understood(one)][:MOST]]
    except (ValueError, TypeError):
        return seen


def _rolled(node: Node) -> Iterator[Mapping[str, Any]]:
    """A roll of its pool, which keeps it until its work has ended, or its owner's time is over."""
    why, until = node.rolling
    try:
        if until and seconds(until):
            yield {"id": f"{ROLL} {until}", "source": ROLL, "why": f"replaced: {why}", "start": until, "end": until}
    except ValueError:
        return


def _unfit(node: Node) -> Iterator[Mapping[str, Any]]:
    """What is wrong with it, from when it said so until it says that it is not."""
    for one in node.unfit:
        id_ = f"{FINDING} {one.condition} {one.since}"
        yield {"id": id_, "source": FINDING, "why": one.message, "start": one.since, "end": one.since}


def _understood(one: Any) -> bool:
    try:
        named = one["source"] in BY_CLOUDS and bool(one["id"])
        return named and all(not one[at] or seconds(one[at]) for at in ("start", "end"))
    except (KeyError, TypeError, ValueError):
        return False


def name_of(node: str, id_: str) -> str:
    """The same for the same event, so that nothing is planned twice."""
    base = re.sub(r"[^a-z0-9]+", "-", node.lower()).strip("-")[:MOST_NAME]
    return f"{base}-{hashlib.sha256(f'{node} {id_}'.encode()).hexdigest()[:8]}"


def manifest(name: str, node: str, one: Mapping[str, Any], closed_seconds: float, now: float) -> Json:
    """Its time is the cloud's, whatever notice that leaves. One that has begun has no time: it is now."""
    start = one["start"] or stamp(now)
    return {
        "apiVersion": maintenance.API,
        "kind": maintenance.KIND,
        "metadata": {"name": name},
        "spec": {
            "source": one["source"],
            "target": {"kind": "node", "name": node},
            "why": str(one.get("why") or one["source"])[: maintenance.MOST_SIGNS],
            "event": str(one["id"]),
            "start": start,
            "end": max(one["end"] or start, start),
            "noticeSeconds": 0,
            "closedSeconds": int(closed_seconds),
        },
    }


def _moved(plan: Plan, one: Mapping[str, Any]) -> Json | None:
    """A cloud may choose another time."""
    if not one["start"] or plan.start == seconds(one["start"]) or plan.over or plan.cancelled:
        return None
    return {"start": one["start"], "end": max(one["end"] or one["start"], one["start"])}


def write(kube: Kube, method: str, name: str, body: Json) -> None:
    """Raises Answer, OSError."""
    path, kind = (maintenance.PATH, JSON) if method == "POST" else (f"{maintenance.PATH}/{name}", MERGE)
    try:
        kube.ask(method, path, body, kind)
    except Answer as answer:
        if answer.status not in KNOWN:
            raise
