"""A day of random faults on two clouds and a site, and what `landbridge why` says of each death, against the day's own record.

    python -m tests.e2e.day --seed 1 --deaths 200 --folder .landbridge/day

Ends with 1 where fewer are told right than should be. With --keep the cloud stands in the folder for the next day.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from local import client
from tests.e2e.queued import begun
from tests.e2e.researcher import Researcher
from tests.support.cloud import Cloud, make

from .faults import FAULTS, Pods
from .node_faults import NODE_FAULTS, ended
from .world import FLEET, PLACES, SERVER, TEAM, World, pod, until

AT_ONCE, ASKED_AT_ONCE = 8, 2
# Of one round: pods that end by themselves or by somebody, and pods of each node that is taken from them.
ALONE, TOGETHER = 40, 5
# Nodes of a place: one that is taken, and one for the others.
LEAST = 2
# Until the recorder has read the last of the audit log.
KNOWN_SECONDS = 200.0
NOTHING = ("unknown", "nothing", "error")
# Of all that are told.
RIGHT = 0.98
CLASSES = {"day-low": -10, "day-high": 10}


class Death(NamedTuple):
    """What really ended a pod."""

    number: int
    fault: str
    place: str
    node: str
    namespace: str
    pod: str
    causes: tuple[str, ...]
    at: float


def say(text: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stdout.flush()


def opened(folder: Path) -> World:
    home = folder / "home"
    if client.status(home / "local"):
        cloud = Cloud(home, folder / "fleet.yaml")
    else:
        folder.mkdir(parents=True, exist_ok=True)
        cloud = make(folder, FLEET)
        begun(cloud)
    people = folder / f"ann-{int(time.time())}"
    people.mkdir()
    world = World(cloud, Researcher(cloud, "ann", people))
    known = {one["metadata"]["name"] for one in world.get("priorityclasses")["items"]}
    made = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in CLASSES.items()
        if name not in known
    ]
    if made:
        world.make_all(made)
    return world


def alone(world: World, number: int, name: str, place: str, node: str) -> list[Death]:
    fault = FAULTS[name]
    this = f"{name}-{number}"
    try:
        pods = fault.ends(world, this, node)
    except Exception as error:
        say(f"{this} on {node} was not done: {error}")
        return []
    return [
        Death(number, name, place, node, space, one, tuple(sorted(fault.causes)), time.time()) for space, one in pods
    ]


def together(world: World, number: int, name: str, place: str, node: str) -> list[Death]:
    fault = NODE_FAULTS[name]
    pods: Pods = [(TEAM, f"{name}-{number}-{each}") for each in range(TOGETHER)]
    try:
        world.make_all([pod(one, node) for _, one in pods])
        world.await_phase(pods, {"Running"}, 120)
        ended(world, fault, node, place, pods)
    except Exception as error:
        say(f"{name}-{number} on {node} was not done: {error}")
        return []
    return [Death(number, name, place, node, TEAM, one, tuple(sorted(fault.causes)), time.time()) for _, one in pods]


def enough(world: World, place: str) -> list[str]:
    """What the last round took is there again."""
    found = world.nodes(place)
    return found if len(found) >= LEAST else []


def rounds(world: World, seed: int, deaths: int) -> Iterator[Death]:
    draw = random.Random(seed)
    # Another day in the same cloud has other names.
    number, found = seed * 1000, 0
    while found < deaths:
        before = found
        nodes = {place: until(partial(enough, world, place), 600, f"nodes of {place}") for place in PLACES}
        names = draw.choices(sorted(FAULTS), k=ALONE)
        singles = [
            (number + at, name, place := draw.choice(sorted(PLACES)), draw.choice(nodes[place]))
            for at, name in enumerate(names)
        ]
        number += len(singles)
        pairs = []
        for place in sorted(PLACES):
            name = draw.choice([name for name, one in NODE_FAULTS.items() if place in one.places])
            pairs.append((number, name, place, draw.choice([one for one in nodes[place] if one != SERVER])))
            number += 1
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for doing, drawn in ((alone, singles), (together, pairs)):
                for done in pool.map(lambda one, doing=doing: doing(world, *one), drawn):
                    found += len(done)
                    yield from done
        say(f"{found} deaths")
        if found == before:
            raise AssertionError("no fault of a whole round could be done")


def asked(world: World, death: Death) -> dict[str, Any]:
    words = ("why", f"pod/{death.pod}", "-n", death.namespace, "--local", "--json")
    done = world.cloud.run(*words, code=None)
    if done.returncode:
        return {"cause": "error", "sentence": done.stderr.strip()}
    return dict(json.loads(done.stdout))


def judged(world: World, deaths: Iterable[Death]) -> list[dict[str, Any]]:
    with ThreadPoolExecutor(ASKED_AT_ONCE) as pool:
        rows = []
        for death, told in pool.map(lambda one: (one, asked(world, one)), deaths):
            right = told["cause"] in death.causes
            rows.append({**death._asdict(), "told": told, "right": right})
            if not right:
                say(f"{death.pod} on {death.node}, {'/'.join(death.causes)}: {told['cause']}: {told['sentence']}")
        return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deaths", type=int, default=200)
    parser.add_argument("--folder", type=Path, required=True, help="Where the cloud stands, and the record is written.")
    parser.add_argument("--ask-again", action="store_true", help="Only asks once more of the last day's deaths.")
    parser.add_argument("--keep", action="store_true", help="The cloud goes on standing.")
    given = parser.parse_args()
    world = opened(given.folder)
    try:
        well = day(world, given)
    finally:
        if not given.keep:
            world.cloud.stop()
    sys.exit(0 if well else 1)


def day(world: World, given: argparse.Namespace) -> bool:
    """Whether enough of its deaths are told right."""
    record = given.folder / f"deaths-{given.seed}.json"
    if given.ask_again:
        deaths = [Death(**one) for one in json.loads(record.read_text())]
    else:
        deaths = []
        for death in rounds(world, given.seed, given.deaths):
            deaths.append(death)
            record.write_text(json.dumps([one._asdict() for one in deaths]))
        time.sleep(KNOWN_SECONDS)
    rows = judged(world, deaths)
    (given.folder / f"told-{given.seed}.json").write_text(json.dumps(rows, indent=1))
    told = Counter((row["fault"], row["right"]) for row in rows)
    for fault in sorted({row["fault"] for row in rows}):
        say(f"{fault:16} {told[fault, True]:4} right {told[fault, False]:4} wrong")
    right, unknown = sum(row["right"] for row in rows), sum(row["told"]["cause"] in NOTHING for row in rows)
    say(f"{right} of {len(rows)} right, {unknown} unknown")
    return bool(right >= RIGHT * len(rows))


if __name__ == "__main__":
    main()
