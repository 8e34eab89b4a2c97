"""Each policy takes its accepted fixtures and refuses its refused ones.

A refused fixture begins with comments: the texts that its violations must contain, and there are no others.
"""

from pathlib import Path

import pytest

from fleet.world import World
from policies import pack

from .judging import HERE, example, judge

FIXTURES = HERE / "fixtures"


@pytest.fixture(scope="module")
def world() -> World:
    return example()


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.rglob("*.accepted.yaml")), ids=lambda path: str(path.relative_to(FIXTURES))
)
def test_accepted(path: Path, world: World) -> None:
    assert judge(path, world) == []


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.rglob("*.refused.yaml")), ids=lambda path: str(path.relative_to(FIXTURES))
)
def test_refused(path: Path, world: World) -> None:
    expected = [line[2:] for line in path.read_text().splitlines() if line.startswith("# ")]
    messages = judge(path, world)
    assert expected
    for text in expected:
        assert any(text in message for message in messages), messages
    assert all(any(text in message for text in expected) for message in messages), messages


def test_every_policy_has_both_fixtures() -> None:
    for policy in pack.RULES:
        for verdict in ("accepted", "refused"):
            assert list(FIXTURES.glob(f"{policy}-*.{verdict}.yaml")), f"{policy} lacks {verdict}"


def test_one_unknown_property_is_told_once(world: World) -> None:
    assert len(judge(FIXTURES / "exposure-ingress-unknown-once.refused.yaml", world)) == 1
