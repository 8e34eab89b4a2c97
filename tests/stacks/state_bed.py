"""A fleet in a folder of its own with its place for state, two small stacks, and the commands of somebody in there."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fleet.world import current
from landbridge import places
from landbridge.engine.pulumi_command import PulumiCommand
from landbridge.engine.stack import StackEngine
from landbridge.places import Place, written_whole
from tests.support.cloud import ROOT

FLEET = """\
fleet: small
owner: ops
domain: small.example.com
supernet: 10.128.0.0/12
aws: {{account_id: "123456789012"}}
state: {state}
regions:
  us-west-2: {{cloud: aws, zones: [a]}}
teams:
  ops: {{gid: 2000}}
"""
# Of stack one, and of all that read from it.
PROGRAM = """\
import os
import pulumi
from stacks import outputs
if pulumi.get_stack() == "one":
    pulumi.export("said", "hello")
    pulumi.export("kept", pulumi.Output.secret("hush-hush"))
    pulumi.export("credentials", "EXAMPLE_KEY" in os.environ)
else:
    pulumi.export("heard", pulumi.Output.from_input(outputs.last_published("one", "said")))
"""
LANDBRIDGE = Path(sys.executable).with_name("landbridge")


@dataclass
class Team:
    """`folder` has the fleet file and its ledger, and `home` what a person keeps."""

    folder: Path
    home: Path
    state: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def fleet(self) -> Path:
        return self.folder / "fleet.yaml"

    def project(self, main: Path) -> None:
        """A Pulumi.yaml beside the fleet file, for the programs in `main`."""
        runtime = f"{{name: python, options: {{virtualenv: {sys.prefix}}}}}"
        text = f"name: landbridge\nruntime: {runtime}\nmain: {os.path.relpath(main, self.folder)}\n"
        (self.folder / "Pulumi.yaml").write_text(text)

    def program(self) -> None:
        """The same for PROGRAM."""
        (folder := self.folder.parent / "program").mkdir()
        (folder / "__main__.py").write_text(PROGRAM)
        self.project(folder)

    @property
    def place(self) -> Place:
        return places.cloud_place(current(self.fleet))

    def run(self, *words: str | Path, at: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        """A command of somebody who stands in `at`, the fleet's folder as a rule."""
        here = at or self.folder
        path = os.pathsep.join([str(ROOT / ".landbridge/bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
        own = {
            "PATH": path,
            "PWD": str(here),
            "HOME": str(self.home),
            "LANDBRIDGE_HOME": str(self.home / "landbridge"),
            "PULUMI_HOME": str(self.home / "pulumi"),
            "PULUMI_BACKEND_URL": written_whole(f"file://{self.state}"),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        }
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PULUMI_", "LANDBRIDGE_"))}
        return subprocess.run(
            [*map(str, words)],
            cwd=here,
            env={**kept, **own, **self.environment, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def landbridge(self, *words: str, at: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        return self.run(LANDBRIDGE, *words, at=at, **more)

    def pulumi(self, *words: str, at: Path | None = None, **more: str) -> str:
        """What it says, well or ill, on one line."""
        done = self.run("pulumi", "--non-interactive", *words, "--color", "never", at=at, **more)
        return " ".join((done.stdout + done.stderr).split())


def make(folder: Path, state: str = "") -> Team:
    """`state` is that of the fleet file; without one it is a store of files, with a passphrase."""
    team = Team(folder / "ours", folder / "home", folder / "state")
    for one in (team.folder, team.home, team.state):
        one.mkdir(parents=True)
    team.fleet.write_text(FLEET.format(state=state or f'{{backend: "file://{team.state}", secrets: passphrase}}'))
    done = team.landbridge("plan", "--write")
    assert done.returncode == 0, done.stderr
    return team


def engine(place: Place, name: str) -> StackEngine:
    return StackEngine(name, place, PulumiCommand(places.pulumi_root()))


def up(stack: StackEngine) -> None:
    stack.found()
    stack.up(lambda _: None, refresh=False, parallel=None)


def resource(stack: StackEngine, of: str) -> dict[str, Any]:
    """The stack's only resource of a type of Pulumi's own."""
    (found,) = [one for one in (stack.state() or {})["resources"] if one["type"] == f"pulumi:pulumi:{of}"]
    return dict(found)
