"""A local cloud of a test's own, and the real command line in it."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local import client
from local.environment import scrubbed, signing_in

from .children import HEARING_INTERRUPTS

ROOT = Path(__file__).parents[2]
COMMAND = str(Path(sys.executable).with_name("landbridge"))
SECONDS = 500

TWO_REGIONS = """\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
regions:
  us-west-2: {cloud: aws, zones: [a, b]}
  eu-west-1: {cloud: aws, zones: [a]}
sites:
  lab: {gateways: [192.0.2.10], asn: 65010}
storage:
  shares: {homes: {path: /homes}}
teams:
  ops: {gid: 2000}
"""


@dataclass
class Cloud:
    """`home` holds all state; `fleet` is a fleet file of the test's own that it may rewrite."""

    home: Path
    fleet: Path
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, *arguments: str) -> list[str]:
        return [COMMAND, *with_options(arguments, "--fleet", str(self.fleet))]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*HEARING_INTERRUPTS, *self.command(*arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env=self._environment(),
            start_new_session=True,
        )

    def run(self, *arguments: str, code: int | None = 0, seconds: float = SECONDS) -> subprocess.CompletedProcess[str]:
        """Runs landbridge; `code` is the exit code it must have, None for any."""
        done = subprocess.run(
            self.command(*arguments),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=self._environment(),
            timeout=seconds,
            check=False,
        )
        assert code is None or done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def report(self, *arguments: str, code: int | None = 0, seconds: float = SECONDS) -> dict[str, Any]:
        """The same with --json, parsed."""
        return dict(json.loads(self.run(*with_options(arguments, "--json"), code=code, seconds=seconds).stdout))

    def inside(self, *command: str) -> str:
        """The output of a command that runs inside the local cloud, as `landbridge local exec` but for its imports."""
        cloud = client.status(self.home / "local")
        if cloud is None:
            subprocess.run([COMMAND, "local", "start"], env=self._environment(), capture_output=True, check=True)
            cloud = client.status(self.home / "local")
        assert cloud
        done = subprocess.run(
            client.enter_command(cloud, command, ROOT),
            capture_output=True,
            text=True,
            env=scrubbed(self._environment()) | self._signed_in(),
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def python(self, code: str) -> str:
        """The output of Python code with `ec2(region)` and boto3 at hand, run inside."""
        return self.inside(sys.executable, "-c", PRELUDE + code)

    def inventory(self) -> dict[str, Any]:
        """What the local AWS holds, see local.aws.inventory."""
        code = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:5000/landbridge-api/inventory').read().decode())"
        return dict(json.loads(self.inside(sys.executable, "-c", code)))

    def azure(self, method: str, path: str, body: Any = None, version: str = "2024-05-01") -> Any:
        """What the local Azure's Resource Manager answers the owner of all; asserts that it is no refusal."""
        authority = str(self.home / "local/azure-authority/ca.crt")
        asked = [method, path, json.dumps(body), version, authority]
        return json.loads(self.inside(sys.executable, "-c", AZURE, *asked).strip() or "null")

    def azure_inventory(self) -> dict[str, Any]:
        """What the local Azure holds, see local.azure.own_api."""
        code = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:5003/landbridge-api/inventory').read().decode())"
        return dict(json.loads(self.inside(sys.executable, "-c", code)))

    def plan(self) -> None:
        self.run("plan", "--write")

    def stop(self) -> None:
        subprocess.run([COMMAND, "local", "stop"], env=self._environment(), capture_output=True, check=False)
        shutil.rmtree(self.home, ignore_errors=True)

    def _signed_in(self) -> dict[str, str]:
        """As the owner of the fleet's account and directory."""
        text = self.fleet.read_text()
        patterns = (r'account_id: *"?(\d{12})\b', r'tenant_id: *"?([0-9a-f-]{36})\b')
        account, tenant = (found and found[1] for found in (re.search(pattern, text) for pattern in patterns))
        return signing_in(account, tenant)

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "LANDBRIDGE_HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "", **self.environment}


def with_options(arguments: Sequence[str], *options: str) -> list[str]:
    """Before what follows `--`, which is not landbridge's."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return [*arguments[:end], *options, *arguments[end:]]


PRELUDE = """\
import boto3
def client(service, region):
    return boto3.client(service, region_name=region)
"""

AZURE = """\
import json, os, ssl, sys, urllib.parse, urllib.request
from local.azure import tokens
method, path, body, version, authority = sys.argv[1:]
context = ssl.create_default_context(cafile=authority)
def ask(url, data=None, **more):
    asked = urllib.request.Request(url, data, **more)
    return urllib.request.urlopen(asked, context=context, timeout=30).read().decode()
form = {"grant_type": "client_credentials", "client_id": tokens.CLIENT, "client_secret": tokens.SECRET}
form |= {"scope": tokens.ARM + "/.default"}
login = f"https://login.microsoftonline.com/{os.environ['AZURE_TENANT_ID']}/oauth2/v2.0/token"
token = json.loads(ask(login, urllib.parse.urlencode(form).encode()))["access_token"]
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
data = None if body == "null" else body.encode()
print(ask(f"https://management.azure.com{path}?api-version={version}", data, method=method, headers=headers))
"""


def make(folder: Path, fleet: str = TWO_REGIONS) -> Cloud:
    """A fleet file with its ledger under `folder`; the cloud starts with the first command that needs it."""
    path = folder / "fleet.yaml"
    path.write_text(fleet)
    cloud = Cloud(folder / "home", path)
    cloud.plan()
    return cloud
