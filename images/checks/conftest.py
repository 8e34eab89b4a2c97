"""What the checks share: what the image says of itself, which has to be true wherever it runs."""

import json
import shlex
from typing import Any

import pytest
from testinfra.host import Host

FOLDER = "/usr/share/landbridge"


@pytest.fixture(scope="module")
def bill(host: Host) -> dict[str, Any]:
    return dict(json.loads(host.file(f"{FOLDER}/bill.json").content_string))


@pytest.fixture(scope="module")
def made(host: Host) -> dict[str, Any]:
    return dict(json.loads(host.file(f"{FOLDER}/provenance.json").content_string))


@pytest.fixture(scope="module")
def booted(host: Host) -> bool:
    """Whether somebody runs here, and this is no root file system alone."""
    return bool(host.backend.get_connection_type() != "chroot")


@pytest.fixture
def running(booted: bool) -> None:
    if not booted:
        pytest.skip("nothing runs without a boot")


@pytest.fixture
def asleep(booted: bool) -> None:
    if booted:
        pytest.skip("a machine that runs has its own")


def found(host: Host, shell: str) -> list[str]:
    """The lines that a shell command prints; it has to succeed."""
    done = host.run(f"sh -c {shlex.quote(shell)}")
    assert done.rc == 0, done.stderr
    return sorted(line for line in done.stdout.splitlines() if line)
