"""Rotation of keys: at no moment does a machine that took a step refuse one that did not."""

import ssl
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest

from components.control_plane.machines import cluster_spec
from components.control_plane.pki import AUTHORITIES, BOTH, Certificate, Generations
from components.control_plane.rotation import (
    BACK,
    ON,
    SUBJECTS,
    Way,
    all_generations,
    dropped_generations,
    earliest,
    finished,
    fits,
    following,
    generations,
    refusals,
    settled,
)
from fleet.rotations import Standing
from fleet.world import current
from tests.support.pki import Vault

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
PHASES = tuple(ON.steps)


def at(generation: int, phase: str) -> Standing:
    return Standing(generation=generation, phase=phase)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("standing", "trusted", "signing", "ordered"),
    [
        (Standing(), (1,), 1, (1,)),
        (at(1, "trust"), (1, 2), 1, (1, 2)),
        (at(1, "issue"), (1, 2), 2, (2, 1)),
        (at(1, "back"), (1, 2), 1, (1, 2)),
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
    assert finished(standing)
    for _ in range(6):
        standing = following(standing)
        assert not finished(standing)
        standing = settled(standing, NOW)
        assert finished(standing)
        seen.append((standing.generation, standing.phase))
    assert seen == [(1, "trust"), (1, "issue"), (2, "steady"), (2, "trust"), (2, "issue"), (3, "steady")]
    assert standing.since == NOW


def test_every_step_and_every_way_back_fits_what_runs() -> None:
    for generation, phase in product((1, 2, 9), PHASES):
        before = at(generation, phase)
        assert fits(generations(before), generations(following(before))), before
        if phase in BACK.steps:
            assert fits(generations(before), generations(following(before, BACK))), before


def test_what_turns_back_in_the_middle_of_a_phase_fits_both_of_its_sides() -> None:
    turned = set()
    for phase, came in product(BACK.reversible, (at(1, "steady"), at(1, "trust"), at(1, "back"))):
        if following(came).phase == phase:
            goal = generations(following(following(came), BACK))
            assert fits(generations(following(came)), goal)
            assert fits(generations(came), goal)
            turned.add(phase)
    assert turned == set(BACK.reversible)


def test_only_neighbours_fit() -> None:
    path = [at(1, "steady"), at(1, "trust"), at(1, "issue"), at(2, "steady"), at(2, "trust"), at(2, "issue")]
    for m, n in product(range(len(path)), repeat=2):
        assert fits(generations(path[m]), generations(path[n])) is (abs(m - n) <= 1), (path[m], path[n])


def test_the_way_back_ends_at_the_old_key_and_never_uses_the_new_one_s_number_again() -> None:
    back = following(at(2, "issue"), BACK)
    assert back == Standing(generation=2, phase="back")
    rest = following(back, BACK)
    assert rest == following(at(2, "trust"), BACK) == Standing(generation=2, given_up=1)
    assert "steady" not in BACK.steps, "at rest a new rotation is the way"
    assert generations(rest) == Generations((2,), 2)
    again = following(rest)
    assert generations(again) == Generations((2, 4), 2)
    assert generations(following(again)) == Generations((2, 4), 4)
    assert following(following(again)) == Standing(generation=4)
    assert following(following(again), BACK) == Standing(generation=2, phase="back", given_up=1)


def test_which_keys_end_with_a_step() -> None:
    def ends(before: Standing, way: Way) -> list[int]:
        return dropped_generations(before, following(before, way))

    assert [ends(at(1, phase), ON) for phase in ("steady", "trust", "issue", "back")] == [[], [], [1], []]
    assert [ends(at(1, phase), BACK) for phase in ("trust", "issue", "back")] == [[2], [], [2]]


@pytest.mark.parametrize(
    ("way", "subject", "phase"),
    [(way, *key) for way in (ON, BACK) for key in way.waits],
    ids=lambda one: one if isinstance(one, str) else "on" if one is ON else "back",
)
def test_some_phases_take_their_time(way: Way, subject: str, phase: str) -> None:
    standing = Standing(generation=1, phase=phase, since=NOW)  # type: ignore[arg-type]
    assert earliest(subject, standing, way) == NOW + timedelta(hours=way.waits[subject, phase])
    assert earliest("etcd-clients", standing, way) is None
    assert earliest(subject, Standing(), way) is None


def test_a_key_that_signed_is_given_up_as_slowly_as_one_that_is_replaced() -> None:
    """What waits before a step drops a key that signed is the same both ways; one that never signed waits for nothing."""
    on = {subject: hours for (subject, phase), hours in ON.waits.items() if phase == "issue"}
    assert on == {subject: hours for (subject, phase), hours in BACK.waits.items() if phase == "back"}
    assert {phase for _, phase in BACK.waits} == {"back"}


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


class Party:
    """A machine in a phase: what it shows and whom it trusts, at both ends of a connection."""

    def __init__(self, vault: Vault, at_: Generations, folder: Path) -> None:
        wish = Certificate("peer", "etcd-main-peers", "peer", BOTH, "", hosts=("peer",))
        crt, key = vault.leaf(wish, at_.signing)
        trusted = "".join(vault.authority(wish.authority, number)[0] for number in at_.ordered)
        (folder / "crt").write_text(crt + key)
        self.contexts = {}
        for side, protocol in (("client", ssl.PROTOCOL_TLS_CLIENT), ("server", ssl.PROTOCOL_TLS_SERVER)):
            context = ssl.SSLContext(protocol)
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(cadata=trusted)
            context.load_cert_chain(folder / "crt")
            self.contexts[side] = context

    def meets(self, server: "Party") -> bool:
        """Whether a connection comes about, each with the other's certificate checked."""
        there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
        ends = [
            self.contexts["client"].wrap_bio(back, there, server_hostname="peer"),
            server.contexts["server"].wrap_bio(there, back, server_side=True),
        ]
        for _ in range(4):
            for end in ends:
                try:
                    end.do_handshake()
                except ssl.SSLWantReadError:
                    continue
                except ssl.SSLError:
                    return False
        return True


def test_machines_of_two_phases_meet_where_these_are_neighbours_and_not_beyond(tmp_path: Path) -> None:
    """Dropped before it was issued, or issued before it was trusted, a key parts the machines."""
    world = current(Path(__file__).parents[3] / "fleet.yaml")
    vault = Vault(cluster_spec(world.fleet, world.plan, "main"))
    path = [at(1, "steady"), at(1, "trust"), at(1, "issue"), at(2, "steady")]
    parties = [Party(vault, generations(standing), tmp_path) for standing in path]
    met = {(m, n) for (m, one), (n, other) in product(enumerate(parties), repeat=2) if one.meets(other)}
    # Trust does meet the last phase as a client: the other way it is refused.
    assert {(m, n) for m, n in met if (n, m) in met} == {
        (m, n) for m, n in product(range(len(path)), repeat=2) if abs(m - n) <= 1
    }
