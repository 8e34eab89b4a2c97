"""When a gateway leaves a tunnel and when it takes it again: hours of a clock, in no time."""

from collections.abc import Callable, Mapping

from . import bed  # noqa: F401  (knows where the script lies)

from failover import (  # isort: skip
    DRAW_SECONDS,
    FORGIVEN_SECONDS,
    MOST_STEADY_SECONDS,
    NOTHING,
    STEADY_SECONDS,
    Memory,
    Path,
    drawn,
    reached,
    step,
)

WEST = ("west-1", "west-2")
EAST = ("east-1", "east-2")
TURN = 0.25
# Tunnel and moment → whether something comes out of it.
Speaks = Callable[[str, float], bool]


class Played:
    """A gateway whose tunnels speak as told, from turn to turn."""

    def __init__(self, *names: str, speaks: Speaks, believed: Callable[[str], bool] = lambda _: True) -> None:
        self.names, self.speaks, self.believed = names, speaks, believed
        self.heard: dict[str, float] = {}
        self.memory: Memory = NOTHING
        self.now = 0.0
        # When which tunnels were left.
        self.changes: list[tuple[float, tuple[str, ...]]] = []

    def until(self, end: float) -> list[tuple[float, tuple[str, ...]]]:
        while self.now < end:
            self.now += TURN
            self.heard |= {name: self.now for name in self.names if self.speaks(name, self.now)}
            paths = [
                Path(name, name.split("-")[0], self.heard.get(name), self.believed(name) and name not in self.left)
                for name in self.names
            ]
            before = tuple(sorted(self.left))
            self.memory = step(paths, self.memory, self.now)
            if (after := tuple(sorted(self.left))) != before:
                self.changes.append((self.now, after))
        return self.changes

    @property
    def left(self) -> Mapping[str, object]:
        return self.memory.left


def silent(name: str, since: float, until: float = 1e9) -> Speaks:
    return lambda one, now: one != name or not since <= now < until


def test_a_tunnel_that_falls_silent_is_left_after_two_seconds_and_taken_again_when_it_has_answered_for_thirty() -> None:
    (left, again) = Played(*WEST, *EAST, speaks=silent("west-1", 10, 50)).until(200)
    assert left == (10 + 2 - TURN, ("west-1",))
    assert again == (50 + STEADY_SECONDS, ())


def test_what_has_never_answered_is_none_that_fell_silent() -> None:
    assert Played(*WEST, speaks=silent("west-1", 0)).until(100) == []


def test_the_last_one_that_carries_is_never_left() -> None:
    assert Played("west-1", *EAST, speaks=silent("west-1", 10)).until(100) == []
    assert Played(*WEST, speaks=lambda _, now: now < 10).until(100) == [], "all are silent: it is our own uplink"
    assert Played(*WEST, speaks=silent("west-1", 10), believed=lambda name: name == "west-1").until(100) == []


def test_what_bgp_has_given_up_already_is_left_alone() -> None:
    assert Played(*WEST, speaks=silent("west-1", 10), believed=lambda name: name == "west-2").until(100) == []


def test_when_the_others_die_too_a_tunnel_that_was_left_is_taken_again_at_once() -> None:
    speaks: Speaks = lambda name, now: (now < 10 or now > 20) if name == "west-1" else now < 30  # noqa: E731
    changes = Played(*WEST, speaks=speaks).until(100)
    assert [names for _, names in changes] == [("west-1",), (), ("west-2",)]
    assert 30 < changes[1][0] <= 32 + TURN


def test_one_that_falls_silent_again_and_again_has_to_answer_for_longer_each_time() -> None:
    """Ten seconds without a word in every minute."""
    played = Played(*WEST, speaks=lambda name, now: name != "west-1" or now % 60 > 10)
    changes = played.until(4 * 3600)
    assert len(changes) == 3, "it comes back once, and then never answers for a minute"
    steady = Played(*WEST, speaks=lambda name, now: name != "west-1" or now % 700 > 10)
    gone = [moment for moment, names in steady.until(6 * 3600) if names]
    back = [moment for moment, names in steady.changes if not names]
    waits = [again - moment for moment, again in zip(gone, back, strict=False)]
    assert waits == sorted(waits), "each time longer"
    assert waits[-1] <= MOST_STEADY_SECONDS + 20


def test_after_a_time_without_trouble_all_is_forgotten() -> None:
    twice: Speaks = lambda name, now: name != "west-1" or not (10 <= now < 20 or 0 <= now - FORGIVEN_SECONDS - 100 < 10)  # noqa: E731
    changes = Played(*WEST, speaks=twice).until(FORGIVEN_SECONDS + 400)
    (_, first), (_, second) = ((changes[n], changes[n + 1]) for n in (0, 2))
    assert first[0] - 20 == STEADY_SECONDS
    assert second[0] - (FORGIVEN_SECONDS + 110) == STEADY_SECONDS


def test_one_answer_in_two_seconds_is_no_silence() -> None:
    """Ten minutes of a full tunnel, in which three questions of four are lost."""
    assert Played(*WEST, speaks=lambda name, now: name != "west-1" or now % 1.75 < TURN).until(600) == []


def test_a_region_is_reached_by_any_tunnel_that_carries_and_drawn_while_bgp_remembers_the_other() -> None:
    memory, carried, drawing = NOTHING, [], []
    for now in (9.0, 13.0, 13.0 + DRAW_SECONDS):
        heard = {"west-1": min(now, 10.0), "west-2": now, "east-1": now}
        paths = [Path(name, name.partition("-")[0], at, name != "east-1") for name, at in heard.items()]
        memory = step(paths, memory, now)
        carried.append(reached(paths, memory, now))
        drawing.append(drawn(paths, memory, now))
    assert carried == [{"west"}] * 3
    assert drawing == [set(), {"west"}, set()]
