"""From what looks after a machine's services to the node's condition: shares of a site, and laptops' way in."""

import contextlib
import os
import time
from pathlib import Path

import pytest

from tests.components.pools import joining_bed  # noqa: F401  (the scripts' folders)
from tests.components.pools.test_node_findings import Bed

import health  # isort: skip
import node_looks  # isort: skip

NOT_SERVED, FULL = "the shares are not served: the kernel serves no NFS", "the disk is 93% full"


def report(folder: Path, *wrong: str, service: str = "nfs") -> Path:
    """As the script of a service ends that looks after it."""
    metrics = folder / f"{service}.prom"
    with contextlib.suppress(SystemExit):
        health.report(metrics, {"served": "1 if it is"}, [health.Measured("served", 0.0, one) for one in wrong])
    return metrics.with_suffix(".wrong")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(node_looks, "HEALTH", tmp_path / "metrics")
    return tmp_path / "metrics"


def test_what_is_wrong_is_said_until_it_is_well(folder: Path) -> None:
    assert node_looks.services(()) == {}, "a machine that serves nothing"
    report(folder, NOT_SERVED, FULL)
    report(folder, service="laptops")
    (said,) = node_looks.services(()).values()
    assert said is not None
    assert (said.condition, said.reason, said.subject) == ("ServiceUnwell", "ServiceIsUnwell", "nfs")
    assert said.message == f"nfs: {NOT_SERVED}; {FULL}"
    assert node_looks.services(("nfs",)) == {"nfs": None}
    report(folder)
    assert node_looks.services(("nfs",)) == {}


def test_what_nobody_looks_after_any_more_says_nothing(folder: Path) -> None:
    file = report(folder, NOT_SERVED)
    before = time.time() - node_looks.FRESH_SECONDS
    os.utime(file, (before + 60, before + 60))
    assert node_looks.services(()).keys() == {"nfs"}
    os.utime(file, (before - 60, before - 60))
    assert node_looks.services(("nfs",)) == {}


def test_the_node_says_so_of_itself(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_looks, "PROC", tmp_path / "proc")
    monkeypatch.setattr(node_looks, "SYS", tmp_path / "sys")
    bed = Bed(tmp_path)
    report(folder, "laptops are not served: no such file", service="laptops")
    bed.round()
    report(folder, service="laptops")
    bed.round()
    os.close(bed.writer)
    assert [(one["type"], one["status"], one["message"]) for one in bed.api.told()] == [
        ("ServiceUnwell", "True", "laptops: laptops are not served: no such file"),
        ("ServiceUnwell", "False", "what this machine serves is well"),
    ]
