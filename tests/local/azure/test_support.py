"""The tests' own server starts even where somebody takes its port first."""

import socket
from pathlib import Path

import pytest

from local.azure.server import free_port

from . import support


def test_a_server_whose_port_was_taken_starts_on_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        ports = [free_port(), taken]  # our own API's, then the names'
        monkeypatch.setattr(support, "free_port", lambda: ports.pop(0) if ports else free_port())
        served = support.served(tmp_path)
        azure = next(served)
        try:
            assert taken not in (azure.port, azure.tls)
            assert azure.own("inventory") == {}
        finally:
            served.close()


def test_a_server_that_never_starts_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "free_port", lambda: 1 << 17)
    with pytest.raises(AssertionError, match="ended with"):
        next(support.served(tmp_path))
