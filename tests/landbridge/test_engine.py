"""A stack on the engine starts no process that it does not need."""

from pathlib import Path

import pytest

from landbridge.engine import StackEngine
from landbridge.places import Place
from landbridge.pulumi_command import PulumiCommand


class Starts(PulumiCommand):
    """Counts what is started, and starts nothing."""

    def __init__(self) -> None:
        self.command, self.started = "pulumi", list[list[str]]()
        self.version = None

    def for_stack(self, log: Path) -> "Starts":
        return self

    def run(self, args: list[str], *rest: object, **more: object) -> object:
        self.started.append(args)
        return type("Result", (), {"stdout": "", "stderr": "", "code": 0})()


@pytest.mark.parametrize("operation", ["up", "destroy"])
def test_an_update_is_one_process(operation: str, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: landbridge\nruntime: python\n")
    command = Starts()
    engine = StackEngine("one", Place("real", tmp_path, "file:///none", "passphrase", tmp_path / "logs"), command)
    getattr(engine.stack, operation)(show_secrets=False)
    assert [words[0] for words in command.started] == [operation]
