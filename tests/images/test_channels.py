"""Promotion, rollback and garbage collection as plans, of what places have."""

import datetime
from collections.abc import Sequence

import pytest

from images import channels, collecting
from images.channels import There
from images.errors import ImageError
from images.stores.store import Pointer, PointerKey, Published, Record, State

NOW = datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC)
DAY = datetime.timedelta(days=1)
CANDIDATE, STABLE, RETIRED = (PointerKey("cpu", "1.36.2", channel) for channel in ("candidate", "stable", "retired"))


def image(
    name: str,
    days: int = 0,
    state: State = "available",
    variant: str = "cpu",
    since_days: int = 0,
    version: str = "1.36.2",
) -> Published:
    created = NOW - days * DAY
    return Published("west", f"ami-{name}", name, variant, version, "d", None, created, state, NOW - since_days * DAY)


def place(images: Sequence[Published], **said: str | tuple[str, str]) -> There:
    """Channel → an image's id, with the one before it where that matters."""
    pointers = {}
    for channel, one in said.items():
        now, before = one if isinstance(one, tuple) else (one, "")
        slot = PointerKey("cpu", "1.36.2", channel)
        pointers[slot] = Pointer("west", slot, now, before, Record("alice", NOW, "", ""))
    return There(images, pointers)


OLD, NEW = image("old", 9), image("new")
BOTH = [OLD, NEW]


def told(moves: Sequence[channels.Move]) -> list[tuple[str, str, str]]:
    return [(one.place, one.key.channel, one.name) for one in moves]


def test_what_was_stable_retires_before_the_next_one_takes_its_place() -> None:
    there = place(BOTH, candidate="ami-new", stable="ami-old")
    moves = channels.promotion({"west": there, "east": there}, "new", "stable", force=False)
    both = [[(where, "retired", "old"), (where, "stable", "new")] for where in ("west", "east")]
    assert told(moves) == [*both[0], *both[1]]
    assert moves[1].before == "old"
    assert told(channels.promotion({"west": place(BOTH, candidate="ami-new")}, "new", "stable", force=False)) == [
        ("west", "stable", "new")
    ]


def test_a_promotion_that_ended_halfway_goes_on() -> None:
    done = place(BOTH, candidate="ami-new", stable="ami-new", retired="ami-old")
    half = place(BOTH, candidate="ami-new", stable="ami-old", retired="ami-old")
    moves = channels.promotion({"west": done, "east": half}, "new", "stable", force=False)
    assert told(moves) == [("east", "stable", "new")]
    assert channels.promotion({"west": done}, "new", "stable", force=False) == []


@pytest.mark.parametrize(
    ("images", "said", "to", "why"),
    [
        ([OLD], {}, "stable", r"new is not published in west: `landbridge image publish new`"),
        ([image("new", state="pending")], {}, "stable", r"new is pending in west.*goes on with it"),
        (BOTH, {"candidate": "ami-old"}, "stable", r"new is not the candidate .* in west, which is old.*--force"),
        (BOTH, {}, "stable", r"not the candidate .* which is none"),
        (BOTH, {"stable": "ami-new"}, "retired", r"Machines in west start from new"),
        ([image("new", variant="gpu")], {}, "stable", r"new has no driver.*--variant gpu --driver NAME"),
        ([image("new", variant="gpu")], {}, "candidate", r"new has no driver"),
        (BOTH, {}, "steady", r"no channel steady. Name one of: candidate, stable, retired"),
    ],
)
def test_what_may_not_be_promoted(images: list[Published], said: dict[str, str], to: str, why: str) -> None:
    with pytest.raises(ImageError, match=why):
        channels.promotion({"west": place(images, **said)}, "new", to, force=False)


def test_force_skips_candidate_alone() -> None:
    there = {"west": place(BOTH, stable="ami-old")}
    assert told(channels.promotion(there, "new", "stable", force=True))[-1] == ("west", "stable", "new")
    with pytest.raises(ImageError, match="has no driver"):
        channels.promotion({"west": place([image("new", variant="gpu")])}, "new", "stable", force=True)


def test_a_rollback_leads_to_what_was_stable_and_another_one_back() -> None:
    there = place(BOTH, stable=("ami-new", "ami-old"), retired="ami-old")
    assert told(channels.rollback({"west": there}, None, None)[0]) == [
        ("west", "stable", "old"),
        ("west", "retired", "new"),
    ]
    back = place(BOTH, stable=("ami-old", "ami-new"), retired="ami-new")
    assert told(channels.rollback({"west": back}, "cpu", "1.36.2")[0])[0] == ("west", "stable", "new")


def moved(there: There, hours: int, stable: tuple[str, str], retired: str = "") -> There:
    """What a rollback has written, so many hours from now."""
    pointers = dict(there.pointers)
    now, before = stable
    when = NOW + datetime.timedelta(hours=hours)
    record = Record("alice", when, "rollback", before)
    pointers[STABLE] = pointers[STABLE]._replace(image=f"ami-{now}", previous=f"ami-{before}", record=record)
    if retired:
        after = record._replace(when=when + datetime.timedelta(seconds=1))
        pointers[RETIRED] = Pointer("west", RETIRED, f"ami-{retired}", "", after)
    return There(there.images, pointers)


PROMOTED = place(BOTH, stable=("ami-new", "ami-old"), retired="ami-old")
FIRST = place(BOTH, stable="ami-new")
HALF = moved(PROMOTED, 1, ("old", "new"))
BACK = moved(PROMOTED, 1, ("old", "new"), "new")
FORTH = moved(BACK, 2, ("new", "old"), "old")
FORTH_HALF = moved(BACK, 2, ("new", "old"))


@pytest.mark.parametrize(
    ("west", "east", "moves"),
    [
        (HALF, FIRST, [("west", "retired", "new")]),
        (HALF, PROMOTED, [("west", "retired", "new"), ("east", "stable", "old"), ("east", "retired", "new")]),
        (BACK, PROMOTED, [("east", "stable", "old"), ("east", "retired", "new")]),
        (BACK, HALF, [("east", "retired", "new")]),
        # One that found nothing retired, but a history.
        (moved(place(BOTH, stable="ami-new"), 1, ("old", "new")), BACK, [("west", "retired", "new")]),
        # All is done: back again, which goes on from halfway, too.
        (BACK, BACK, [(where, *one) for where in ("west", "east") for one in (("stable", "new"), ("retired", "old"))]),
        (FORTH, BACK, [("east", "stable", "new"), ("east", "retired", "old")]),
        (FORTH_HALF, BACK, [("west", "retired", "old"), ("east", "stable", "new"), ("east", "retired", "old")]),
        (FORTH, FORTH_HALF, [("east", "retired", "old")]),
        # A region that keeps its first image has it still, and always will.
        (BACK, FIRST, [("west", "stable", "new"), ("west", "retired", "old")]),
    ],
)
def test_a_rollback_that_ended_early_goes_on_and_never_back(
    west: There, east: There, moves: list[tuple[str, str, str]]
) -> None:
    assert told(channels.rollback({"west": west, "east": east}, None, None)[0]) == moves


def test_a_retired_image_that_was_named_since_is_where_a_rollback_leads() -> None:
    third = image("third", 20)
    back = There([*BOTH, third], BACK.pointers)
    later = Record("bob", NOW + DAY, "promote", "new")
    named = There(back.images, {**back.pointers, RETIRED: Pointer("west", RETIRED, "ami-third", "ami-new", later)})
    assert told(channels.rollback({"west": named}, None, None)[0])[0] == ("west", "stable", "third")


def test_a_region_where_an_image_was_the_first_keeps_it_and_holds_up_no_other_one() -> None:
    places = {"west": place(BOTH, stable=("ami-new", "ami-old")), "east": place(BOTH, stable="ami-new")}
    moves, kept = channels.rollback(places, None, None)
    assert told(moves) == [("west", "stable", "old"), ("west", "retired", "new")]
    assert kept == {"east": "new"}


def test_what_can_t_be_rolled_back() -> None:
    with pytest.raises(ImageError, match="nothing to go back from"):
        channels.rollback({"west": place(BOTH, candidate="ami-new")}, None, None)
    with pytest.raises(ImageError, match=r"Nothing was stable before new in west"):
        channels.rollback({"west": place(BOTH, stable="ami-new")}, None, None)
    two = place(BOTH, stable=("ami-new", "ami-old"))
    other = PointerKey("gpu", "1.36.2", "stable")
    two = There(BOTH, {**two.pointers, other: two.pointers[STABLE]._replace(key=other)})
    with pytest.raises(ImageError, match=r"--variant cpu --kubernetes 1.36.2, --variant gpu"):
        channels.rollback({"west": two}, None, None)
    assert channels.rollback({"west": two}, "cpu", None)[0][0].key == STABLE


def steps(there: There, keep: int, users: dict[str, list[str]] | None = None) -> dict[str, tuple[str, str]]:
    return {one.image.name: (one.action, one.why) for one in collecting.decided(there, users or {}, keep, NOW)}


def test_the_newest_of_each_kind_stay_and_the_others_go_step_by_step() -> None:
    old = [
        image("a", 50), image("b", 51, "deprecated", since_days=1), image("c", 52, "deprecated", since_days=15),
        image("d", 53, "disabled", since_days=13), image("e", 54, "disabled", since_days=14),
        image("f", 1, "failed"), image("p", 60, "pending"),
    ]  # fmt: skip
    kept = [image("n", 1), image("other", 70, version="1.35.8"), image("gpu", 70, variant="gpu")]
    found = steps(There([*old, *kept], {}), 1)
    assert {name: action for name, (action, _) in found.items()} == {
        "a": "deprecate", "b": "wait", "c": "disable", "d": "wait", "e": "remove", "f": "remove",
        "n": "keep", "other": "keep", "gpu": "keep", "p": "keep",
    }  # fmt: skip
    assert found["b"][1] == "deprecated; disable in 13 days"
    patch = image("patch", 2, version="1.36.1")
    assert steps(There([patch, image("n", 1)], {}), 1)["patch"][0] == "deprecate", "patches of a minor are of one kind"


@pytest.mark.parametrize("channel", ["candidate", "stable", "retired"])
def test_what_a_channel_says_or_said_last_stays(channel: str) -> None:
    gone = image("gone", 90, "disabled", since_days=90)
    assert steps(place([NEW, gone]), 1)["gone"][0] == "remove"
    assert steps(place([NEW, gone], **{channel: "ami-gone"}), 1)["gone"] == (
        "keep",
        f"used by channel cpu/1.36.2/{channel}",
    )


def test_what_was_stable_last_stays_and_of_other_channels_it_does_not() -> None:
    gone = image("gone", 90, "disabled", since_days=90)
    before = steps(place([NEW, gone], stable=("ami-new", "ami-gone")), 1)["gone"]
    assert before == ("keep", "used by channel cpu/1.36.2/stable, before")
    assert steps(place([NEW, gone], candidate=("ami-new", "ami-gone")), 1)["gone"][0] == "remove"


def test_what_anything_uses_stays() -> None:
    gone = image("gone", 90, "disabled", since_days=90)
    found = steps(place([NEW, gone]), 1, {"ami-gone": ["machine i-1", "machine i-2", "machine i-3"]})["gone"]
    assert found == ("keep", "used by machine i-1 and 2 more")


@pytest.mark.parametrize(
    ("due", "kept", "refused"),
    [(5, 0, []), (6, 11, ["6 of 17 images in west would go a step"]), (6, 12, []), (7, 14, []), (8, 13, ["8 of 21"])],
)
def test_a_run_that_takes_more_than_a_third_wants_consent(due: int, kept: int, refused: list[str]) -> None:
    plan = [collecting.Decision(image(f"d{n}"), "remove", "") for n in range(due)]
    plan += [collecting.Decision(image(f"k{n}"), "keep", "") for n in range(kept)]
    found = collecting.above(plan)
    assert len(found) == len(refused)
    assert all(said.startswith(told) for said, told in zip(found, refused, strict=True))
