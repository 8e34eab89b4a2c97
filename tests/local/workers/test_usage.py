"""What processes use, as the kubelet of local machines tells it: real ones, in namespaces of their own."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.workers import usage
from tests.components.pools.joining_client import eventually
from tests.support.children import DYING_WITH_US

MIB = 48
# It works for a second by a child, which it waits for, and then keeps what it has.
CODE = f"""
import subprocess, sys, time
kept = bytearray(range(256)) * ({MIB} << 12)
subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 1: pass"])
print("done", flush=True)
time.sleep(600)
"""


@contextmanager
def container() -> Iterator[usage.Container]:
    """Its process 1 has done its work."""
    user = ["--user", "--map-root-user"]
    words = ["unshare", *user, "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "-c", CODE]
    process = subprocess.Popen([*DYING_WITH_US, *words], stdout=subprocess.PIPE)
    try:
        assert process.stdout
        assert process.stdout.readline() == b"done\n"
        (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield usage.Container("team", "train", "main", int(child), 12.5)
    finally:
        process.kill()
        process.wait()


def values(text: str) -> dict[str, float]:
    return {name: float(value) for name, value, _ in (line.split() for line in text.splitlines())}


def test_of_a_container_its_processes_count_and_those_that_they_waited_for() -> None:
    labels = '{container="main",namespace="team",pod="train"}'
    with container() as one:
        before = values(usage.text([], time.time()))
        found = values(usage.text([one], 1.5))
        assert 1.0 <= found[f"container_cpu_usage_seconds_total{labels}"] <= 2.0
        memory = found[f"container_memory_working_set_bytes{labels}"]
        assert MIB << 20 <= memory <= (MIB + 40) << 20
        assert found[f"container_start_time_seconds{labels}"] == 12.5
        assert found["node_memory_working_set_bytes"] > memory
        assert found["node_cpu_usage_seconds_total"] >= before["node_cpu_usage_seconds_total"]
        text = usage.text([one], 1.5)
        assert {line.rpartition(" ")[2] for line in text.splitlines()} == {"1500"}, "milliseconds"
    eventually(lambda: not Path(f"/proc/{one.pid}").exists(), 10)
    assert values(usage.text([one], 1.5)).keys() == before.keys()


def test_a_machine_that_has_no_containers_tells_of_itself() -> None:
    found = values(usage.text([], time.time()))
    assert found.keys() == {"node_cpu_usage_seconds_total", "node_memory_working_set_bytes"}
    assert all(value > 0 for value in found.values())
