"""A fleet whose cluster's home is in Azure, and its stacks on the real engine against a local Azure of the test's own."""

import datetime
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fleet.address import ledger as ledgers
from fleet.image_names import ImageVariant
from fleet.world import current, drafted
from landbridge.clouds.azure import gallery
from landbridge.places import Place, written_whole
from local.azure import sign_in
from tests.images.azure import bed
from tests.local.azure.support import SUBSCRIPTION
from tests.local.providers.azure.project import Plugins
from tests.support import programs
from tests.support.cloud import ROOT

HOME, SECOND, CLUSTER = "southcentralus", "westeurope", "main"
FLEET = f"""\
fleet: example
owner: ops
domain: fleet.example.com
supernet: 10.128.0.0/12
access: ssh
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: {sign_in.TENANT}}}
regions:
  {HOME}: {{cloud: azure, zones: ["1", "2", "3"]}}
  {SECOND}: {{cloud: azure, zones: ["1"]}}
sites:
  lab: {{gateways: [192.0.2.10], asn: 65010}}
clusters:
  {CLUSTER}: {{region: {HOME}, kubernetes: 1.36.2, copies: {SECOND}}}
teams:
  ops: {{gid: 2000}}
people:
  ann: {{uid: 3001, team: ops, keys: [ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f]}}
"""
# The program of every stack, with something in it changed.
MAIN = """\
import runpy, sys
sys.path.insert(0, {root!r})
{change}
runpy.run_path({root!r} + "/stacks", run_name="__main__")
"""
PROVIDERS = ("azure-native", "tls", "random")


class Stacks:
    """The fleet's stacks, side by side in one folder."""

    def __init__(self, folder: Path, made: Plugins, fleet: str = FLEET) -> None:
        self.folder, self.made, self.fleet = folder, made, folder / "fleet.yaml"
        (folder / "state").mkdir(parents=True)
        self.fleet.write_text(fleet)
        ledgers.write(folder / "fleet.lock.yaml", drafted(self.fleet, datetime.date(2026, 1, 1))[2].ledger)
        plugins = "".join(f"    - {{name: {name}, path: {ROOT / 'local/plugins' / name}}}\n" for name in PROVIDERS)
        (folder / "Pulumi.yaml").write_text(
            f"name: landbridge\nruntime: {programs.runtime(folder)}\n"
            f"plugins:\n  providers:\n{plugins}"
            'config: {"pulumi:disable-default-providers": {value: ["*"]}}\n'
        )

    def pulumi(self, stack: str, *arguments: str, change: str = "", code: int | None = 0, **more: str) -> str:
        (self.folder / "__main__.py").write_text(MAIN.format(root=str(ROOT), change=change))
        environment = {
            **os.environ,
            "PATH": os.pathsep.join(
                [str(ROOT / ".landbridge/bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
            ),
            "PULUMI_BACKEND_URL": written_whole(f"file://{self.folder}/state"),
            "PULUMI_CONFIG_PASSPHRASE": "x",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "LANDBRIDGE_PROVIDER_PORT": str(self.made.port),
            "LANDBRIDGE_FLEET": str(self.fleet),
            **programs.environment(),
            **more,
        }
        done = subprocess.run(
            ["pulumi", "--non-interactive", *arguments, "-s", stack],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def new(self, stack: str) -> None:
        self.pulumi(stack, "stack", "init")
        self.up(stack)

    def image(self, kind: ImageVariant = "cpu") -> None:
        """What `landbridge up --local` does before a stack that starts machines."""
        fleet = current(self.fleet).fleet
        place = Place("local", self.folder, "", "", self.folder)  # type: ignore[arg-type]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gallery, "clients", lambda _: bed.clients(self.made.azure))
            gallery.ensure(place, HOME, fleet, fleet.clusters[CLUSTER].kubernetes, kind)

    def up(self, stack: str, *arguments: str, **more: Any) -> str:
        return self.pulumi(stack, "up", "--yes", "--skip-preview", *arguments, **more)

    def state(self, stack: str) -> dict[str, Any]:
        path = self.folder / f"state/.pulumi/stacks/landbridge/{stack}.json"
        return dict(json.loads(path.read_text()))
