"""The first page: the fleet at a glance. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from landbridge.monitoring.alarms import Alarm

from . import page
from .cells import HOLDS, Machine, counted, machines
from .heat import MOST_NAMED, heat_map, legend
from .markup import NOTHING, Markup, table, tag, together
from .page import section, share, since
from .picture import picture
from .snapshot import Node, Snapshot, dollars
from .work import Work, work

One = TypeVar("One")
Key = TypeVar("Key")
# The rest is in the JSON.
MOST_ROWS = 40
NO_PLACE = "no place"


def front(seen: Snapshot, *, linked: bool = True) -> str:
    found = machines(seen)
    doing = work(seen, found)
    return page.page(
        seen,
        "GPUs at a glance",
        tiles(seen, found, doing),
        picture(seen, found),
        gpu_map(found, linked=linked),
        alarms(seen, seen.alarms, linked=linked) if seen.alarms else NOTHING,
        _work(seen, [one for one in doing if one.waits], linked=linked, waits=True),
        _work(seen, [one for one in doing if not one.waits], linked=linked, waits=False),
        pools(seen, found),
        links(seen),
        shares(seen),
        linked=linked,
    )


def tiles(seen: Snapshot, found: Sequence[Machine], doing: Sequence[Work]) -> Markup:
    """What is seen by a team alone is told as theirs."""
    there = counted(found)
    held = sum(there[state] for state in HOLDS)
    numbers: dict[str, tuple[object, str]] = {
        "GPUs": (there.total(), ""),
        "held" if seen.whole else f"held by {seen.whose}": (held, ""),
        "at work": (there["work"] if seen.activity else "-", ""),
        "held, idle": (there["idle"] if seen.activity else "-", "bad" if there["idle"] else ""),
        "free" if seen.whole else "free, or others'": (there["free"] + there["unseen"], ""),
        **({"free, but closed": (there["shut"], "")} if there["shut"] else {}),
        "not usable": (there["broken"], "bad" if there["broken"] else ""),
        "runs wait": (sum(one.waits for one in doing), ""),
        **({"dollars an hour": (f"{cost:,.0f}", "")} if (cost := dollars(seen, seen.nodes)) is not None else {}),
        "alarms": (len(seen.alarms) if seen.measured else "-", "bad" if seen.alarms else ""),
    }
    made = (
        tag("div", tag("b", number), tag("span", words), class_=f"tile {look}".strip())
        for words, (number, look) in numbers.items()
    )
    return tag("div", together(made), class_="tiles")


def gpu_map(found: Sequence[Machine], *, linked: bool) -> Markup:
    groups = _grouped(found, lambda one: (one.node.place or NO_PLACE, one.node.pool))
    named = len(found) <= MOST_NAMED
    parts = []
    for (place, pool), mine in groups.items():
        parts.append(tag("h3", place, tag("span", f"{pool} · {_told(mine)}")))
        parts.append(heat_map(mine, linked=linked, named=named))
    body = parts or [tag("p", "No machine with GPUs is there.", class_="none")]
    return section("GPUs", legend(found) if parts else NOTHING, *body, note="a cell each, a block a machine")


def _told(mine: Sequence[Machine]) -> str:
    ready = sum(one.node.ready for one in mine)
    there = counted(mine)
    held = sum(there[state] for state in HOLDS)
    machine = "machine" if len(mine) == 1 else "machines"
    return f"{len(mine)} {machine}, {ready} ready · {there.total()} GPUs, {held} held"


def alarms(seen: Snapshot, found: Sequence[Alarm], *, linked: bool) -> Markup:
    rows = [
        (
            tag("b", one.name),
            tag("span", one.severity, class_=one.severity),
            since(seen, one.since),
            one.owner,
            _about(one, linked=linked),
            seen.runbooks.get(one.name, ""),
        )
        for one in found
    ]
    heads = ("alarm", "", "since", "whose", "about", "what to do")
    return section("Alarms", table(heads, rows, none="None is on." if seen.measured else "Not seen."))


def _about(alarm: Alarm, *, linked: bool) -> Markup:
    words = [
        tag("span", f"{name} ", page.link(value, "nodes", value, linked=linked and name == "node"))
        for name, value in sorted(alarm.about.items())
    ]
    return together(part for word in words for part in (word, " "))


def _work(seen: Snapshot, found: Sequence[Work], *, linked: bool, waits: bool) -> Markup:
    heads = ["run", "team", "who", "GPUs", "", "since", *(["for what"] if waits else ["hosts", "at work", ""])]
    rows = [_row(seen, one, linked=linked, waits=waits) for one in found[:MOST_ROWS]]
    more = len(found) - MOST_ROWS
    rest = tag("p", f"{more} more are in /api/snapshot.json.", class_="none") if more > 0 else NOTHING
    none = "Nothing waits." if waits else "Nothing has GPUs."
    made = table(heads, rows, right=("GPUs", "hosts", "at work"), none=none)
    return section("What waits" if waits else "What has GPUs", made, rest)


def _row(seen: Snapshot, one: Work, *, linked: bool, waits: bool) -> Iterator[object]:
    yield tag("b", page.link(one.name, "runs", one.space, one.run, linked=linked))
    yield from (one.team, one.person, one.gpus)
    yield f"{one.state} in {one.place}" if one.place else one.state
    yield since(seen, one.since)
    yield from ([one.why] if waits else [len(one.pods), share(one.active), one.why])


def pools(seen: Snapshot, found: Sequence[Machine]) -> Markup:
    groups = _grouped(seen.nodes, lambda one: (one.place or NO_PLACE, one.pool))
    with_gpus = {machine.node.name: machine for machine in found}
    rows = []
    for (place, pool), nodes in groups.items():
        there = counted(with_gpus[one.name] for one in nodes if one.name in with_gpus)
        held = sum(there[state] for state in HOLDS)
        numbers = (held, there["work"] if seen.activity else "-", there["free"] if seen.whole else "-", there["broken"])
        shut = sum(bool(one.closed) for one in nodes)
        gpus = (there.total(), *numbers) if there else ("",) * 5
        cost = dollars(seen, nodes)
        price = "" if cost is None else f"{cost:,.2f}"
        rows.append((place, pool, nodes[0].kind, len(nodes), sum(one.ready for one in nodes), shut or "", *gpus, price))
    right = ("machines", "ready", "closed", "GPUs", "held", "at work", "free", "not usable", "dollars an hour")
    shown = table(("place", "pool", "kind", *right), rows, right, "No node is there.")
    return section("Places and their pools", shown, note=seen.priced if dollars(seen, seen.nodes) is not None else "")


def links(seen: Snapshot) -> Markup:
    """As clouds see their ends; none where nothing tells of any."""
    if not seen.links:
        return NOTHING
    rows = ((tag("b", one.name), one.connection, one.place, _tunnels(one.up)) for one in seen.links)
    return section("Links", table(("link", "connection", "leads to", "tunnels"), rows))


def _tunnels(up: float) -> Markup:
    if up >= 1:
        return tag("span", "up")
    return tag("span", f"{up:.0%} up" if up else "down", class_="page" if not up else "ticket")


def shares(seen: Snapshot) -> Markup:
    if not seen.queues:
        return NOTHING
    teams = [
        (tag("b", one.team), one.owns, "all" if one.may_borrow is None else one.may_borrow, one.holds, one.waiting)
        for one in seen.queues.shares
    ]
    heads = ("owns", "may borrow", "holds", "waiting")
    places = [(tag("b", one.place), one.gpus, one.held, one.free) for one in seen.queues.places]
    numbers = ("GPUs that can be there", "held", "free")
    return section(
        "Queues",
        table(("team", *heads), teams, heads),
        tag("h3", "Places, as the queues count them"),
        table(("place", *numbers), places, numbers),
    )


def _grouped(found: Sequence[One], key: Callable[[One], Key]) -> Mapping[Key, list[One]]:
    groups = defaultdict[Key, list[One]](list)
    for one in found:
        groups[key(one)].append(one)
    return groups


def ails(node: Node) -> str:
    return "; ".join(why for why in (node.broken, node.closed) if why) or "ready"
