"""Stacks wait for what they depend on, run side by side otherwise, and stop when told to."""

import os
import signal
import threading
import time

from landbridge.up import schedule

TREE = {"west": (), "east": (), "links": ("west", "east"), "cluster": ("west",), "pool": ("cluster", "links")}


def test_each_begins_after_all_it_depends_on() -> None:
    ended: list[str] = []

    def work(name: str) -> bool:
        assert set(TREE[name]) <= set(ended)
        time.sleep(0.01)
        ended.append(name)
        return True

    schedule.run(TREE, work)
    assert sorted(ended) == sorted(TREE)


def test_independent_ones_run_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=5)

    def work(_name: str) -> bool:
        both.wait()
        return True

    schedule.run({"west": (), "east": ()}, work)


def test_after_a_failure_dependents_are_skipped_and_the_others_finish() -> None:
    done: list[str] = []
    skipped: dict[str, str | None] = {}

    def work(name: str) -> bool:
        done.append(name)
        return name != "east"

    schedule.run(TREE, work, lambda name, refusal: skipped.update({name: refusal.after}))
    assert sorted(done) == ["cluster", "east", "west"]
    assert skipped == {"links": "east", "pool": "links"}


def test_a_stack_outside_the_run_counts_as_met() -> None:
    done: list[str] = []

    def work(name: str) -> bool:
        done.append(name)
        return True

    schedule.run({"pool": ("cluster", "west")}, work)
    assert done == ["pool"]


def test_an_interrupt_lets_the_running_end_and_begins_nothing_new() -> None:
    stop, asked, done, skipped = threading.Event(), threading.Event(), [], []

    def work(name: str) -> bool:
        os.kill(os.getpid(), signal.SIGTERM)
        assert asked.wait(5), "the engine must be asked to stop while it works"
        done.append(name)
        return True

    schedule.run({"west": (), "links": ("west",)}, work, lambda n, r: skipped.append((n, r.after)), stop, asked.set)
    assert done == ["west"]
    assert skipped == [("links", None)]
    assert stop.is_set()


def test_signals_mean_what_they_meant_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    schedule.run({"west": ()}, lambda _name: True)
    assert signal.getsignal(signal.SIGINT) is before
