"""What one team's storm on the API does to another team's requests: without the add-on `fairness`, and with it.

    PYTHONPATH=. .venv/bin/python bench/fairness.py
    PYTHONPATH=. .venv/bin/python bench/fairness.py --pods 5000 --seconds 20

Real etcd and API server. The storm is that of one team: 20 of its service accounts, which all the time list all of its
50,000 pods and open watches of them that begin with everything. A person of another team meanwhile reads and writes
small things of their own, some times a second, and is timed. It ends with 1 if the add-on does not help.

A server takes so many requests at a time as suits its machine: here `--inflight` for each core, as profiles have 600 for
machines of four cores. The storm's own processes are at nice 19, since they would be on other machines.
"""

import argparse
import contextlib
import http.client
import json
import multiprocessing
import os
import ssl
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from components.addons import fairness
from fleet.people import group
from fleet.team_storage import namespace
from tests.components.addons import bed
from tests.support.apiserver import HERE, Server, server

THREADS, ACCOUNTS, PROGRAMS, LINES_EACH = 8, 20, 2, 6
PAUSE_SECONDS, SETTLING_SECONDS, WATCH_SECONDS = 0.05, 5.0, 3
INFLIGHT_A_CORE = 150
CHUNK = 1 << 20


class Person(NamedTuple):
    """`pair` is the file of certificate and key."""

    port: int
    authority: str
    pair: str

    def line(self) -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cafile=self.authority)
        context.load_cert_chain(self.pair)
        return http.client.HTTPSConnection(HERE, self.port, context=context, timeout=120)


class Told(NamedTuple):
    """Milliseconds of requests; how many were refused; how many of the storm were answered meanwhile."""

    times: list[float]
    refused: int
    stormed: int

    @property
    def p99(self) -> float:
        return statistics.quantiles(self.times, n=100)[98]


def person(kube: Server, user: str, *groups: str) -> Person:
    crt, key = kube.authority.leaf(user, groups)
    pair = kube.folder / f"{user.replace(':', '-')}.pem"
    pair.write_text(crt + key)
    return Person(kube.port, str(kube.folder / "ca.crt"), str(pair))


def account(kube: Server, team: str, number: int) -> Person:
    space, groups = namespace(team), "system:serviceaccounts"
    return person(kube, f"system:serviceaccount:{space}:worker-{number}", groups, f"{groups}:{space}")


def call(line: http.client.HTTPSConnection, verb: str, path: str, body: object = None) -> int:
    """The answer's code; what it says is read and thrown away."""
    line.request(verb, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
    answer = line.getresponse()
    while answer.read(CHUNK):
        pass
    return answer.status


def storm(who: Sequence[Person], space: str, over: Any, answered: Any) -> None:
    """Half of the lines list, the others watch, which begins with all there is."""
    os.nice(19)
    path = f"/api/v1/namespaces/{space}/pods"
    begin = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    asks = (path, f"{path}?{begin}&timeoutSeconds={WATCH_SECONDS}")

    def one(number: int) -> None:
        line = who[number // LINES_EACH].line()
        while not over.is_set():
            try:
                code = call(line, "GET", asks[number % 2])
            except (OSError, http.client.HTTPException):
                line.close()
                continue
            with answered.get_lock():
                answered.value += code == http.HTTPStatus.OK
            if code == http.HTTPStatus.TOO_MANY_REQUESTS:
                time.sleep(PAUSE_SECONDS)

    lines = len(who) * LINES_EACH
    with ThreadPoolExecutor(lines) as pool:
        list(pool.map(one, range(lines)))


@contextlib.contextmanager
def stormy(kube: Server, team: str) -> Iterator[Any]:
    """While it lasts; gives how many of its requests were answered."""
    away = multiprocessing.get_context("spawn")
    over, answered = away.Event(), away.Value("q", 0)
    accounts = [account(kube, team, number) for number in range(ACCOUNTS)]
    programs = [
        away.Process(target=storm, args=(accounts[n::PROGRAMS], namespace(team), over, answered), daemon=True)
        for n in range(PROGRAMS)
    ]
    for program in programs:
        program.start()
    try:
        time.sleep(SETTLING_SECONDS)
        yield answered
    finally:
        over.set()
        for program in programs:
            program.join(10)
            program.kill()


def timed(who: Person, space: str, seconds: float, stormed: Any = None) -> Told:
    """Of reading one thing, listing a few, and writing one, in turn."""
    path = f"/api/v1/namespaces/{space}/configmaps"
    asks = (
        ("GET", f"{path}/kept", None),
        ("GET", f"{path}?limit=100", None),
        ("PATCH", f"{path}/kept", '{"data": {"at": ""}}'),
    )
    times, refused, before, line = [], 0, stormed.value if stormed else 0, who.line()
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        verb, where, body = asks[number % len(asks)]
        number += 1
        begun = time.perf_counter()
        line.request(verb, where, body, {"Content-Type": "application/merge-patch+json"})
        answer = line.getresponse()
        answer.read()
        times.append((time.perf_counter() - begun) * 1000)
        refused += answer.status != http.HTTPStatus.OK
        time.sleep(PAUSE_SECONDS)
    return Told(times, refused, (stormed.value if stormed else 0) - before)


def seed(kube: Server, team: str, other: str, pods: int) -> None:
    admin = person(kube, "admin", "system:masters")
    for space in (namespace(team), namespace(other)):
        call(admin.line(), "POST", "/api/v1/namespaces", {"metadata": {"name": space}})
        rights = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
        who = [{"kind": "Group", "name": name} for name in (group(other), f"system:serviceaccounts:{namespace(team)}")]
        binding = {"metadata": {"name": "all"}, "roleRef": rights, "subjects": who}
        call(admin.line(), "POST", f"/apis/rbac.authorization.k8s.io/v1/namespaces/{space}/rolebindings", binding)
    call(admin.line(), "POST", f"/api/v1/namespaces/{namespace(other)}/configmaps", {"metadata": {"name": "kept"}})
    path = f"/api/v1/namespaces/{namespace(team)}/pods"

    def some(first: int) -> None:
        line = admin.line()
        for number in range(first, pods, THREADS):
            env = [{"name": f"VARIABLE_{k}", "value": "x" * 40} for k in range(12)]
            box = {"name": "run", "image": "registry.example.com/train:1", "env": env}
            made = call(line, "POST", path, {"metadata": {"name": f"p-{number}"}, "spec": {"containers": [box]}})
            assert made == http.HTTPStatus.CREATED, made

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(some, range(THREADS)))


def measured(kube: Server, team: str, other: str, seconds: float) -> Iterator[tuple[str, Told]]:
    who, space = person(kube, "someone", group(other)), namespace(other)
    yield "quiet", timed(who, space, seconds)
    with stormy(kube, team) as answered:
        yield "storm, without it", timed(who, space, seconds, answered)
    time.sleep(SETTLING_SECONDS)
    apply, spec = bed.Applying(kube), bed.spec()
    teams = {name: spec.fleet.teams[name] for name in spec.fleet.teams}
    some = next(iter(teams.values()))
    fleet = spec.fleet.model_copy(update={"teams": {**teams, team: some, other: some}})
    for manifest in fairness.manifests(spec._replace(fleet=fleet)):
        apply(manifest)
    time.sleep(SETTLING_SECONDS)
    with stormy(kube, team) as answered:
        yield "storm, with it", timed(who, space, seconds, answered)
    time.sleep(SETTLING_SECONDS)
    yield "quiet again", timed(who, space, seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--inflight", type=int, default=INFLIGHT_A_CORE * (os.cpu_count() or 1))
    given = parser.parse_args()
    reads = given.inflight * 2 // 3
    more = [f"--max-requests-inflight={reads}", f"--max-mutating-requests-inflight={given.inflight - reads}"]
    found = {}
    with tempfile.TemporaryDirectory() as folder, server(Path(folder), controllers=False, more=more) as kube:
        begun = time.monotonic()
        seed(kube, "storm", "calm", given.pods)
        print(f"{given.pods} pods made in {time.monotonic() - begun:.0f} s", flush=True)
        for name, told in measured(kube, "storm", "calm", given.seconds):
            found[name] = told
            median = statistics.median(told.times)
            print(
                f"{name:18} p50 {median:7.1f} ms  p99 {told.p99:7.1f} ms  of {len(told.times)}, {told.refused} refused;"
                f" {told.stormed} of the storm answered",
                flush=True,
            )
    quiet = max(found["quiet"].p99, found["quiet again"].p99)
    ratios = {name: found[name].p99 / quiet for name in ("storm, without it", "storm, with it")}
    print(" · ".join(f"{name}: {ratio:.1f} times quiet" for name, ratio in ratios.items()))
    return int(ratios["storm, with it"] >= ratios["storm, without it"])


if __name__ == "__main__":
    sys.exit(main())
