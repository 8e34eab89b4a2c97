"""Who must agree to what before anything is changed, with and without a terminal."""

import pytest

from fleet.model import Limits
from landbridge.engine.stack_report import Step
from landbridge.errors import NO_CONSENT, ConsentError
from landbridge.up import consent
from landbridge.up.blast_radius import Blast, blast
from landbridge.up.run_context import How

HARMLESS = blast({"west": [Step("created", "aws:ec2/subnet:Subnet", "a", False, (), {})]})
LOSS = blast({"west": [Step("deleted", "aws:efs/fileSystem:FileSystem", "shares", True, (), {})]})


def answer(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda *_args, **_kwargs: text)


def ask_up(found: Blast, *, yes: bool, interactive: bool, allowed: dict[str, int] | None = None) -> None:
    consent.ask_up(found, Limits(), allowed or {}, yes=yes, interactive=interactive)


def test_yes_is_enough_within_the_limits() -> None:
    ask_up(HARMLESS, yes=True, interactive=False)


def test_without_a_terminal_and_without_yes_nothing_happens() -> None:
    with pytest.raises(ConsentError, match="To agree: --yes") as refusal:
        ask_up(HARMLESS, yes=False, interactive=False)
    assert refusal.value.code == NO_CONSENT


def test_yes_alone_does_not_cover_a_loss() -> None:
    with pytest.raises(ConsentError, match=r"destroys 1, allowed are 0 .*To agree: --allow-destroy 1$"):
        ask_up(LOSS, yes=True, interactive=False)


def test_yes_and_the_number_cover_a_loss() -> None:
    ask_up(LOSS, yes=True, interactive=False, allowed={"destroy": 1})


def test_on_a_terminal_a_loss_is_asked_about_even_with_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, "n")
    with pytest.raises(ConsentError, match="Nothing was changed"):
        ask_up(LOSS, yes=True, interactive=True)
    answer(monkeypatch, "y")
    ask_up(LOSS, yes=True, interactive=True)


def test_destroy_without_a_terminal_needs_yes() -> None:
    with pytest.raises(ConsentError, match="To agree: --yes"):
        consent.ask_destroy(HARMLESS, How(), "example", yes=False, interactive=False)


def test_destroy_with_yes_spares_what_is_protected() -> None:
    with pytest.raises(ConsentError, match=r"shares of west.*--ignore-protect"):
        consent.ask_destroy(LOSS, How(), "example", yes=True, interactive=False)
    agreed = How(ignore_protect=True)
    assert consent.ask_destroy(LOSS, agreed, "example", yes=True, interactive=False) == agreed


def test_destroy_on_a_terminal_wants_the_fleets_name(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, "y")
    with pytest.raises(ConsentError, match="Nothing was destroyed"):
        consent.ask_destroy(LOSS, How(), "example", yes=False, interactive=True)
    answer(monkeypatch, "example")
    assert consent.ask_destroy(LOSS, How(), "example", yes=False, interactive=True).ignore_protect
