"""Which images a fleet takes: of its cluster's minor version, and not too old."""

import datetime

import pytest

from fleet.images import refusals

NOW = datetime.datetime(2026, 6, 1, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("held", "created", "words"),
    [
        ("1.36.2", "2026-05-31T00:00:00.000Z", []),
        ("1.36.1", "2026-03-03T00:00:00.000Z", []),
        ("1.36.2", "2026-03-02T00:00:00.000Z", ["is 91 days old, and the fleet takes images for 90"]),
        ("1.35.8", "2026-05-31T00:00:00.000Z", ["holds Kubernetes 1.35.8, and the cluster runs 1.36.2"]),
        (None, "2026-05-31T00:00:00.000Z", ["does not say which Kubernetes is in it"]),
        ("1.36.2", "", ["is of an unknown day ('')"]),
        ("1.36.2", "2026-05-31", ["is of an unknown day ('2026-05-31')"]),
        ("1.35.8", "2025-06-01T00:00:00Z", ["holds Kubernetes 1.35.8, and the cluster runs 1.36.2", "is 365 days old"]),
    ],
)
def test_what_an_image_is_refused_for(held: str | None, created: str, words: list[str]) -> None:
    told = list(refusals("1.36.2", held, created, 90, NOW))
    assert len(told) == len(words)
    assert all(what.startswith(word) for (what, _), word in zip(told, words, strict=True))
    assert all(remedy for _, remedy in told)


@pytest.mark.parametrize(
    ("gpus", "driver", "words"),
    [
        (0, None, ""),
        (0, "none", ""),
        (8, "595.71.05", ""),
        (8, "none", "says that it has no NVIDIA driver, and the machines have 8 GPUs"),
        (1, None, "does not say (landbridge:driver) which driver, and the machines have 1 GPUs"),
        (1, "", "does not say (landbridge:driver) which driver, and the machines have 1 GPUs"),
    ],
)
def test_machines_with_gpus_take_no_image_without_a_driver(gpus: int, driver: str | None, words: str) -> None:
    told = list(refusals("1.36.2", "1.36.2", "2026-05-31T00:00:00Z", 90, NOW, gpus=gpus, driver=driver))
    assert [what for what, _ in told] == ([words] if words else [])
    assert all("variant gpu" in remedy for _, remedy in told)
