"""Waiting for descriptors of any number: a burst's machines have thousands."""

import os
import resource
from collections.abc import Iterator

import pytest

from local.machines.waiting import readable

HIGH = 3000


@pytest.fixture
def high() -> Iterator[tuple[int, int]]:
    """The two ends of a pipe, the one that is read far above what select(2) takes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, HIGH + 1), hard))
    low, told = os.pipe()
    os.dup2(low, HIGH)
    yield HIGH, told
    for one in (low, told, HIGH):
        os.close(one)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_descriptor_of_any_number_is_waited_for(high: tuple[int, int]) -> None:
    heard, told = high
    other, _ = ends = os.pipe()
    assert readable(heard, other, seconds=0) == set()
    os.write(told, b"x")
    assert readable(heard, other) == {heard}
    for one in ends:
        os.close(one)


def test_a_process_that_has_ended_is_seen() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    handle = os.pidfd_open(pid)
    assert readable(handle, seconds=60) == {handle}
    os.waitpid(pid, 0)
    os.close(handle)
