"""Which version of Kubernetes a cluster goes to when nobody says, and what is refused."""

import pytest

from landbridge.errors import UsageError
from landbridge.kubernetes_update.versions import chosen

KNOWN = {"1.35.8", "1.35.9", "1.36.2", "1.36.10", "1.37.0"}


@pytest.mark.parametrize(
    ("running", "known", "goes_to"),
    [
        ("1.35.8", KNOWN, "1.35.9"),
        ("1.35.9", KNOWN, "1.36.10"),
        ("1.36.9", KNOWN, "1.36.10"),
        # The next minor is none that this Landbridge is tested with.
        ("1.36.10", KNOWN, "1.36.10"),
        ("1.36.10", {"1.36.2"}, "1.36.10"),
    ],
)
def test_the_newest_patch_comes_first_and_then_the_next_minor(running: str, known: set[str], goes_to: str) -> None:
    assert chosen(running, [running], running, known, None) == goes_to


def test_what_the_fleet_file_says_already_is_gone_on_with() -> None:
    assert chosen("1.35.8", ["1.35.8"], "1.36.2", KNOWN, None) == "1.36.2"
    assert chosen("1.36.2", ["1.35.8", "1.36.2"], "1.36.2", KNOWN, "1.36.2") == "1.36.2"


def test_there_is_a_way_back_until_an_api_server_has_a_newer_minor() -> None:
    assert chosen("1.36.2", ["1.35.8", "1.35.8"], "1.36.2", KNOWN, "1.35.8") == "1.35.8"
    assert chosen("1.36.10", ["1.36.10"], "1.36.10", KNOWN, "1.36.2") == "1.36.2", "patches go both ways"
    with pytest.raises(UsageError, match=r"Kubernetes 1.35.8 is older than 1.36.2, which runs"):
        chosen("1.36.2", ["1.35.8", "1.36.2"], "1.36.2", KNOWN, "1.35.8")


@pytest.mark.parametrize(
    ("running", "asked", "words"),
    [
        ("1.35.8", "1.37.0", "skips a minor version after 1.35.8, which runs: go to 1.36 first"),
        ("1.36.2", "1.37.0", "1.37.0 is no version that this Landbridge is tested with"),
        ("1.36.2", "1.36.3", r"nobody has promoted an image of it. Known: 1.35.8, 1.35.9, 1.36.2, 1.36.10"),
    ],
)
def test_what_can_t_be_is_refused(running: str, asked: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        chosen(running, [running], running, KNOWN, asked)
