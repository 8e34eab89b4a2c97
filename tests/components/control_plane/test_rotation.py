"""Rotation of keys: at no moment does a machine that took a step refuse one that did not."""

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from components.control_plane.pki import AUTHORITIES, Generations
from components.control_plane.rotation import (
    NEXT,
    SUBJECTS,
    WAITS,
    abandoned,
    all_generations,
    earliest,
    fits,
    following,
    generations,
    refusals,
)
from fleet.rotations import Standing

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
PHASES = tuple(NEXT)


def at(generation: int, phase: str) -> Standing:
    return Standing(generation=generation, phase=phase)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("standing", "trusted", "signing", "ordered"),
    [
        (Standing(), (1,), 1, (1,)),
        (at(1, "trust"), (1, 2), 1, (1, 2)),
        (at(1, "issue"), (1, 2), 2, (2, 1)),
        (at(2, "steady"), (2,), 2, (2,)),
        (at(7, "issue"), (7, 8), 8, (8, 7)),
    ],
)
def test_what_each_phase_trusts_and_signs_with(
    standing: Standing, trusted: tuple[int, ...], signing: int, ordered: tuple[int, ...]
) -> None:
    made = generations(standing)
    assert (made.trusted, made.signing, made.ordered) == (trusted, signing, ordered)


def test_a_whole_rotation_ends_one_generation_on() -> None:
    standing, seen = Standing(), []
    for _ in range(6):
        standing = following(standing, NOW)
        seen.append((standing.generation, standing.phase))
    assert seen == [(1, "trust"), (1, "issue"), (2, "steady"), (2, "trust"), (2, "issue"), (3, "steady")]
    assert standing.since == NOW


def test_every_step_and_every_way_back_fits_what_runs() -> None:
    for generation, phase in product((1, 2, 9), PHASES):
        before = at(generation, phase)
        assert fits(generations(before), generations(following(before, NOW))), before
        if back := abandoned(before, NOW):
            assert fits(generations(before), generations(back)), before


def test_only_neighbours_fit() -> None:
    path = [at(1, "steady"), at(1, "trust"), at(1, "issue"), at(2, "steady"), at(2, "trust"), at(2, "issue")]
    for m, n in product(range(len(path)), repeat=2):
        assert fits(generations(path[m]), generations(path[n])) is (abs(m - n) <= 1), (path[m], path[n])


def test_a_rotation_at_rest_has_no_way_back() -> None:
    assert abandoned(at(2, "steady"), NOW) is None
    assert abandoned(at(2, "issue"), NOW) == Standing(generation=2, phase="trust", since=NOW)
    assert abandoned(at(2, "trust"), NOW) == Standing(generation=2, phase="steady", since=NOW)


@pytest.mark.parametrize(("subject", "phase"), WAITS)
def test_some_phases_take_their_time(subject: str, phase: str) -> None:
    standing = Standing(generation=1, phase=phase, since=NOW)  # type: ignore[arg-type]
    assert earliest(subject, standing) == NOW + timedelta(hours=WAITS[subject, phase])
    assert earliest("etcd-clients", standing) is None
    assert earliest(subject, Standing()) is None


def test_every_subject_has_generations_and_no_other_has() -> None:
    found = all_generations({"kubernetes": at(1, "trust")})
    assert tuple(found) == SUBJECTS
    assert set(AUTHORITIES) < set(found)
    assert found.pop("kubernetes") == Generations((1, 2), 1)
    assert set(found.values()) == {Generations()}
    with pytest.raises(ValueError, match="there is no key kubernets in a cluster"):
        all_generations({"kubernets": Standing()})


def test_a_stale_checkout_is_refused() -> None:
    up = all_generations({"kubernetes": at(1, "issue"), "encryption": at(3, "steady")})
    assert refusals(up, up) == []
    assert refusals({}, up) == []
    stale = refusals(up, all_generations({}))
    assert len(stale) == 2
    assert stale[0].startswith(
        "the keys of kubernetes can't go from signing 2, trusted 1 and 2 to signing 1, trusted 1 in one step"
    )
    assert stale[1].startswith("the keys of encryption can't go from signing 3, trusted 3 to signing 1, trusted 1")
