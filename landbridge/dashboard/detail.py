"""The page of one run, and that of one machine. None where nothing of that name is seen. Pure."""

from collections.abc import Mapping

from landbridge.monitoring.alarms import Alarm

from . import page
from .cells import Machine, machines
from .front import ails, alarms
from .heat import block, sample, told
from .markup import NOTHING, Markup, table, tag, together
from .page import run_link, section, share, since
from .snapshot import Node, Snapshot
from .work import active, work


def run(seen: Snapshot, space: str, name: str) -> str | None:
    found = machines(seen)
    one = next((each for each in work(seen, found) if each.run and (each.space, each.run) == (space, name)), None)
    if one is None:
        return None
    there = {machine.node.name: machine for machine in found}
    facts = {
        "state": f"{one.state} in {one.place}" if one.place else one.state,
        "since": f"{since(seen, one.since)}, {one.since:%d %b %H:%M} UTC",
        "team": one.team,
        "who": one.person or "-",
        "GPUs": one.gpus,
        "at work": share(one.active),
        "why": one.why or "-",
    }
    hosts = [
        (
            pod.part,
            pod.rank,
            pod.name,
            page.link(pod.node, "nodes", pod.node, linked=True),
            pod.gpus,
            pod.phase,
            since(seen, pod.since),
            share(active([pod], there)),
            block(there[pod.node], linked=True, named=False) if pod.node in there else "",
        )
        for pod in sorted(one.pods, key=lambda pod: (pod.part, int(pod.rank) if pod.rank.isdigit() else 0, pod.name))
    ]
    heads = ("part", "rank", "pod", "machine", "GPUs", "phase", "since", "at work", "its machine's GPUs")
    none = "It has no pods: until it begins nothing is held or bought for it."
    commands = f"landbridge logs {name} -f · landbridge why run/{name}"
    return page.page(
        seen,
        f"Run {name}",
        section(name, _facts(facts), note=commands),
        section("Hosts", table(heads, hosts, ("rank", "GPUs", "at work"), none)),
    )


def node(seen: Snapshot, name: str) -> str | None:
    one = next((each for each in seen.nodes if each.name == name), None)
    if one is None:
        return None
    machine = next((each for each in machines(seen) if each.node.name == name), None)
    about = [alarm for alarm in seen.alarms if _concerns(alarm, one)]
    facts = {
        "state": ails(one),
        "place": one.place,
        "pool": f"{one.pool} ({one.kind})" if one.kind else one.pool,
        "GPUs": f"{one.gpus} {one.model}, {one.usable} usable" if one.gpus else "none",
        "there since": f"{since(seen, one.since)}, {one.since:%d %b %Y %H:%M} UTC",
    }
    conditions = [(each.kind, each.status, since(seen, each.since), each.text) for each in one.conditions]
    return page.page(
        seen,
        f"Machine {name}",
        section(name, _facts(facts), note=f"landbridge why node/{name}"),
        _gpus(seen, machine) if machine else NOTHING,
        alarms(seen, about, linked=True),
        section("What ails it", table(("by its own object",), ([each] for each in one.ails), none="Nothing.")),
        section("Conditions", table(("condition", "", "since", "what it says"), conditions, none="None.")),
        section("Taints", table(("taint",), ([each] for each in one.taints), none="None.")),
    )


def _gpus(seen: Snapshot, machine: Machine) -> Markup:
    cells = (
        tag("div", sample(cell), tag("small", f"GPU {cell.number}"), tag("small", told(cell))) for cell in machine.cells
    )
    rows = [
        (
            run_link(pod, linked=True),
            pod.name,
            pod.team or pod.space,
            pod.person,
            pod.gpus,
            pod.phase,
            since(seen, pod.since),
        )
        for pod in machine.pods
    ]
    heads = ("run", "pod", "team", "who", "GPUs", "phase", "since")
    none = "No pod holds any." if seen.whole else "None of your team's pods holds any."
    note = "where several share them, the busiest are drawn as theirs" if len(machine.pods) > 1 else ""
    holders = table(heads, rows, ("GPUs",), none)
    return section("GPUs", tag("div", together(cells), class_="big"), tag("h3", "Who holds them"), holders, note=note)


def _concerns(alarm: Alarm, node: Node) -> bool:
    """What names it; and of those that name no machine at all, what names its place."""
    if "node" in alarm.about:
        return alarm.about["node"] == node.name
    return bool(node.place) and alarm.about.get("place") == node.place


def _facts(facts: Mapping[str, object]) -> Markup:
    rows = together(tag("tr", tag("th", key), tag("td", said)) for key, said in facts.items())
    return tag("table", tag("tbody", rows))
