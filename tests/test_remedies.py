"""Every command that an error, a help text or a note names exists, with the options that it is named with."""

import re
import subprocess
from functools import cache

import pytest

from landbridge.commands import landbridge
from tests.support import remedies
from tests.support.remedies import ROOT, Remedy

TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
OURS = {"landbridge": landbridge, "make": TARGETS}
FOUND = list(remedies.found())


def of(*programs: str) -> list[Remedy]:
    return [one for one in FOUND if remedies.words(one.text)[0] in programs]


def test_commands_are_found_in_all_kinds_of_strings() -> None:
    assert len(of("landbridge")) > 100
    assert len(of("make")) > 10
    source = 'f"Run `landbridge up{options} {name}`." "Then `make setup`."\n"""Or `kubectl get\n pods`."""\n'
    texts = [one.text for one in remedies.in_source(source, "x.py")]
    assert texts == ["landbridge up\0 \0", "make setup", "kubectl get pods"]


def test_our_commands_and_targets_exist() -> None:
    told = {f"{one.where}: {one.text}": remedies.wrong(one.text, OURS) for one in of(*OURS)}
    assert {name: why for name, why in told.items() if why} == {}


@pytest.mark.parametrize(
    "text",
    [
        "make control-plane",
        "landbridge upp",
        "landbridge up --lokal",
        "landbridge local halt",
        "landbridge access remove bob eve",
        "landbridge pool roll\0 \0 --fast",
    ],
)
def test_one_that_does_not_exist_is_seen(text: str) -> None:
    assert remedies.wrong(text, OURS)


@cache
def helped(program: str, *words: str) -> tuple[int, str]:
    """What the real program says of a command of its own."""
    done = subprocess.run(
        [ROOT / ".landbridge/bin" / program, *words], capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, done.stdout + done.stderr


def wrong_of_program(text: str) -> str | None:
    """Of kubectl and pulumi: their help of a command has the options that we name, or all commands have."""
    program, *rest = remedies.words(text)
    if rest[:1] == ["landbridge"]:  # kubectl's plugin, which is the whole command line
        return None
    path = [word for word in rest[:2] if re.fullmatch(r"[a-z][a-z-]+", word)]
    everywhere = helped(program, "options")[1] if program == "kubectl" else ""
    for words in (path, path[:1]):
        code, said = helped(program, *words, "--help")
        if code == 0 and words and f"{program} {words[0]}" in said:
            break
    else:
        return f"{program} has no command {' '.join(path)}" if path else None
    options = {word.partition("=")[0] for word in rest if re.match(r"--[a-z]", word)}
    lacking = [
        one for one in sorted(options) if f"{one} " not in said + everywhere and f"{one}=" not in said + everywhere
    ]
    return f"no option {', '.join(lacking)}" if lacking else None


def test_commands_of_kubectl_and_pulumi_exist() -> None:
    told = {f"{one.where}: {one.text}": wrong_of_program(one.text) for one in of("kubectl", "pulumi")}
    assert told
    assert {name: why for name, why in told.items() if why} == {}


@pytest.mark.parametrize(
    "text", ["kubectl gett pods", "kubectl get pods --everywhere", "pulumi undo", "pulumi up --harder"]
)
def test_one_of_theirs_that_does_not_exist_is_seen(text: str) -> None:
    assert wrong_of_program(text)
