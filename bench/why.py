"""What `why` costs where a recorder has seen much: of parts of a minute, and of the files that recorders make of them.

    PYTHONPATH=. .venv/bin/python bench/why.py
    PYTHONPATH=. .venv/bin/python bench/why.py --hours 8 --deaths 2000

Two recorders' parts in an S3 of this process, a question of one pod in another. It ends with 1 unless the pod's cause is
told from both.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from bench.recorder import ended, pod
from evidence import pods
from evidence.observation import Observation
from evidence.record import gone, record
from fleet import records
from landbridge.clouds.aws.cloud import S3
from landbridge.why import ask
from landbridge.why.api import Api
from landbridge.why.looking import Looking
from landbridge.why.records import Records
from landbridge.why.target import target
from services.recorder.merging import Merging
from services.recorder.parts import Span, part
from services.recorder.store import opened
from tests.support import s3

BUCKET, SPACE, CLUSTER = "records", "team-research", "main"
REPLICAS = ("recorder-a.1", "recorder-b.2")
NODES, TIMES = 200, 5
BELOW = records.folder(CLUSTER)


class Cost(NamedTuple):
    seconds: float
    cpu_seconds: float
    files: int
    verdict: str


def death(n: int, at: float) -> Iterator[Observation]:
    """All that is written of a pod from its start to its end: a dozen events beside."""
    meta = {"namespace": SPACE, "uid": f"{n:032x}", "creationTimestamp": moment(at - 600)}
    made = {**pod(n, NODES), **ended(1)}
    made["metadata"] = {**made["metadata"], **meta}
    yield record(made, "pod", at, pool="west-gpu")
    yield from pods.of_pod(made)
    name = f"pod/{SPACE}/{made['metadata']['name']}"
    for k in range(12):
        text = f"{k}: the scheduler, the kubelet and others say something of about this length of a pod that starts"
        yield Observation(at - 600 + k, "kubelet", name, "event", text, meta["uid"], {"reason": "Pulled"})
    yield gone(made, "pod", at + 1, "its owner deleted it")


def moment(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}"


def write(store: Any, hours: float, deaths: int, now: float) -> None:
    minutes = int(hours * 60)
    every: list[list[Observation]] = [[] for _ in range(minutes)]
    begun = now - minutes * 60
    for n in range(deaths):
        minute = n * minutes // deaths
        every[minute] += death(n, begun + minute * 60)
    for minute, seen in enumerate(every):
        at = begun + minute * 60
        for replica in REPLICAS:
            key = records.part_key(BELOW, at + 60, replica)
            made = part(seen, Span(at, at + 60), key, replica)
            store.put(made.key, made.data)


def asked(url: str, name: str) -> Cost:
    """In this process."""
    client, now = s3.client(url), datetime.now(UTC)
    found = Records(lambda: S3(client, None, BUCKET), BELOW, now - timedelta(days=1), now)
    before = time.monotonic(), time.process_time()
    case = ask.case(Looking(Api(None, {}), None, found), target(f"pod/{name}"), SPACE, 1)  # type: ignore[arg-type]
    spent = time.monotonic() - before[0], time.process_time() - before[1]
    return Cost(*spent, sum(map(len, found.keys.values())), case.verdict.code)


def measured(url: str, name: str, what: str) -> Cost:
    """The median of some processes, each with its imports outside of what is measured."""
    words = [sys.executable, __file__, "--ask", url, name]
    found = [Cost(*json.loads(subprocess.check_output(words))) for _ in range(TIMES)]
    one = sorted(found)[TIMES // 2]
    print(f"{what}: {one.files} files, {one.seconds:.2f} s, {one.cpu_seconds:.2f} s of CPU: {one.verdict}")
    return one


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=2)
    parser.add_argument("--deaths", type=int, default=500)
    parser.add_argument("--ask", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.ask:
        print(json.dumps(asked(*given.ask)))
        return 0
    os.environ |= s3.CREDENTIALS
    with s3.serving() as url:
        os.environ["AWS_ENDPOINT_URL"] = url
        s3.client(url).create_bucket(Bucket=BUCKET)
        store, now = opened(f"s3://{BUCKET}"), time.time()
        write(store, given.hours, given.deaths, now)
        name = pod(given.deaths // 2, NODES)["metadata"]["name"]
        before = measured(url, name, "parts of a minute")
        Merging(store, [BELOW]).step(now)
        after = measured(url, name, "files that are made of them")
    print(
        f"CPU: {before.cpu_seconds / after.cpu_seconds:.1f} times as much before, {before.seconds / after.seconds:.1f} times as long"
    )
    return 0 if (before.verdict, after.verdict) == ("exited", "exited") else 1


if __name__ == "__main__":
    sys.exit(main())
