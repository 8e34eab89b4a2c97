"""Who interrupts a command that makes a machine anew waits for the engine: it is never cut off half-way."""

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from landbridge.clouds.azure import recreate
from landbridge.places import Place

STATE = {
    "resources": [
        {
            "type": recreate.MACHINE_TYPE,
            "urn": "::etcd-1",
            "inputs": {"tags": {recreate.TAG: "main-etcd-1"}},
        }
    ]
}


class Engine:
    """Is interrupted, as a terminal would, while it has a machine in hand."""

    did: ClassVar[list[str]] = []

    def __init__(self, *_: Any) -> None:
        self.did.clear()

    def state(self) -> Mapping[str, Any]:
        return STATE

    def up_only(self, urn: str, *_: Any) -> None:
        self.did.append(f"begun {urn}")
        time.sleep(0.5)  # until whoever waits does so
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)
        self.did.append("ended")


def test_an_interruption_waits_for_the_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(recreate, "StackEngine", Engine)
    monkeypatch.setattr(recreate, "PulumiCommand", lambda _root: None)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            recreate.recreate(Place("local", tmp_path, "", "", tmp_path), "main", "main-etcd-1")
    finally:
        signal.signal(signal.SIGINT, before)
    assert Engine.did == ["begun ::etcd-1", "ended"]
