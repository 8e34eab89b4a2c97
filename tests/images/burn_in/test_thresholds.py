"""The data file: mistakes have their line, and the guide's tables are the file's."""

from pathlib import Path

import pytest

from images.burn_in import thresholds
from images.burn_in.findings import TITLES
from images.burn_in.thresholds import THRESHOLDS, Limit
from images.errors import ImageError
from tests.images.burn_in.bed import LIMITS
from tests.test_docs import ROOT, tables

GUIDE = ROOT / "docs/guide/gpu-burn-in.md"
COLUMNS = ("gpus", "graphics_clock", "nvlinks", "nvlink_rate", "host_to_device", "device_to_host", "device_to_device")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("rows_uncorrectable: {at_most: 512", "rows_uncorrectable: {at_most: many", "at_most"),
        ("rows_uncorrectable: {at_most: 512", "rows_uncorrectable: {at_most: 512, at_least: 1", "one of exactly"),
        ("mig_mode:", "mig_mood:", "mig_mode is missing"),
        ("mig_mode:", "mig_mood:", "mig_mood is no limit"),
        (
            "recovery_action: {exactly: None, source: nvml}",
            "recovery_action: {exactly: None, source: hearsay}",
            "no source",
        ),
        ("names: [NVIDIA H200]", "names: [NVIDIA H100 80GB HBM3]", "a name of h100-sxm, too"),
        ("level: 3", "level: 5", "dcgm.level"),
        ("graphics_clock: {at_least: 1410", "graphic_clock: {at_least: 1410", "models.a100-sxm.graphic"),
    ],
)
def test_a_mistake_has_its_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    text = THRESHOLDS.read_text()
    assert old in text
    file = tmp_path / "mine.yaml"
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(ImageError) as error:
        thresholds.load(file)
    assert told in str(error.value)
    assert "mine.yaml:" in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="no such file"):
        thresholds.load(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("limit", "value", "allowed"),
    [
        (Limit(at_least=2, source=""), 2, True),
        (Limit(at_least=2, source=""), 1.99, False),
        (Limit(at_least=2, source=""), float("nan"), False),
        (Limit(at_most=0, source=""), 0, True),
        (Limit(at_most=0, source=""), 0.1, False),
        (Limit(at_most=0, source=""), float("nan"), False),
        (Limit(at_most=9, source=""), "1", False),
        (Limit(exactly="No", source=""), "No", True),
        (Limit(exactly=8, source=""), "8", False),
        (Limit(exactly=8, source=""), 8.0, True),
    ],
)
def test_limits(limit: Limit, value: float | str, allowed: bool) -> None:
    assert limit.allows(value) == allowed


def test_every_test_has_a_title_for_people() -> None:
    assert set(LIMITS.limits) | {*COLUMNS, "all_reduce"} <= set(TITLES)


def test_the_guide_has_the_limits_of_every_gpu() -> None:
    rows = tables(GUIDE)["Of every GPU"][0][1:]
    assert rows == [[name, limit.bound, limit.source] for name, limit in LIMITS.limits.items()]
    text = " ".join(GUIDE.read_text().split())
    assert f"in the last {LIMITS.xids.hours} hours: {', '.join(map(str, LIMITS.xids.fatal))}." in text
    assert f"each GPU: {', '.join(LIMITS.dcgm.required)}." in text
    assert f"`dcgmi diag` of level {LIMITS.dcgm.level}" in text


def test_the_guide_has_those_of_each_model() -> None:
    head, *rows = tables(GUIDE)["Of each model"][0]
    assert head == ["test", *LIMITS.models, "source"]
    wanted = [
        [name, *(getattr(model, name).bound for model in LIMITS.models.values()), source(name)] for name in COLUMNS
    ]
    counts = sorted({count for model in LIMITS.models.values() for count in model.all_reduce})
    for count in counts:
        told = [model.all_reduce[count].bound for model in LIMITS.models.values()]
        wanted.append([f"all_reduce of {count}", *told, "azure"])
    assert rows == wanted


def source(name: str) -> str:
    found = {getattr(model, name).source for model in LIMITS.models.values()}
    assert len(found) == 1
    return str(found.pop())
