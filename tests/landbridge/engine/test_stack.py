"""A stack on the engine starts no process that it does not need, and makes no key twice."""

import json
from pathlib import Path

import pytest

from landbridge.engine.pulumi_command import PulumiCommand
from landbridge.engine.stack import StackEngine
from landbridge.places import ONE_SALT, Place, pulumi_root


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


def test_stacks_of_the_local_cloud_have_one_salt_and_its_passphrase_fits(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: landbridge\nruntime: python\n")
    (tmp_path / "state").mkdir()
    backend = f"file://{tmp_path}/state"
    environment = {"PULUMI_BACKEND_URL": backend, "PULUMI_CONFIG_PASSPHRASE": "local", "PULUMI_HOME": str(tmp_path)}
    place = Place("local", tmp_path, backend, "passphrase", tmp_path / "logs", environment, settings=ONE_SALT)
    for name in ("one", "two"):
        StackEngine(name, place, PulumiCommand(pulumi_root())).found()
        made = json.loads(place.stack_file(name).read_text())  # type: ignore[union-attr]
        assert made["checkpoint"]["latest"]["secrets_providers"]["state"]["salt"] in ONE_SALT
        assert (tmp_path / f"Pulumi.{name}.yaml").read_text() == ONE_SALT
