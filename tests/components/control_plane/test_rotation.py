"""Rotation of keys: at no moment does a machine that took a step refuse one that did not."""

import ssl
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest

from components.control_plane.machines import cluster_spec
from components.control_plane.pki import AUTHORITIES, BOTH, Certificate, Generations
from components.control_plane.rotation import (
    NEXT,
    SUBJECTS,
    WAITS,
    abandoned,
    all_generations,
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
        if back := abandoned(before):
            assert fits(generations(before), generations(back)), before


def test_only_neighbours_fit() -> None:
    path = [at(1, "steady"), at(1, "trust"), at(1, "issue"), at(2, "steady"), at(2, "trust"), at(2, "issue")]
    for m, n in product(range(len(path)), repeat=2):
        assert fits(generations(path[m]), generations(path[n])) is (abs(m - n) <= 1), (path[m], path[n])


def test_a_rotation_at_rest_has_no_way_back() -> None:
    assert abandoned(at(2, "steady")) is None
    assert abandoned(at(2, "issue")) == Standing(generation=2, phase="trust")
    assert abandoned(at(2, "trust")) == Standing(generation=2, phase="steady")


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
