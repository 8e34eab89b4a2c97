"""A small program on the real engine, whose plugin reaches a local Azure of the test's own on free ports of loopback."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from landbridge.places import written_whole
from local.azure import sign_in, tokens
from local.providers import host
from tests.local.azure.support import SUBSCRIPTION, LocalAzure, Process, started
from tests.support import programs
from tests.support.cloud import ROOT

HEAD = """\
import pulumi, pulumi_azure_native as az
here = az.Provider("here", subscription_id="{subscription}", location="southcentralus")
opts = pulumi.ResourceOptions(provider=here)
"""
ACCOUNT = {"tenantId": sign_in.TENANT, "clientId": tokens.CLIENT, "clientSecret": tokens.SECRET}
SIGNED_IN = {"ARM_TENANT_ID": sign_in.TENANT, "ARM_CLIENT_ID": tokens.CLIENT, "ARM_CLIENT_SECRET": tokens.SECRET}


class Plugins(NamedTuple):
    """A provider host; `port` is for launchers, `azure` what its plugin reaches."""

    port: int
    azure: LocalAzure


def plugins(azure: LocalAzure) -> Iterator[Plugins]:
    def start() -> tuple[int, Process]:
        port = host.free_port()
        command = [sys.executable, "-m", "local.providers.host", "--port", str(port), "--aws", "http://127.0.0.1:9"]
        command += ["--azure", f"127.0.0.1:{azure.tls}", "--azure-authority", str(azure.authority)]
        return port, subprocess.Popen(command, env={**os.environ, **SIGNED_IN})

    port, process = started(start, _answers)
    try:
        yield Plugins(port, azure)
    finally:
        process.terminate()
        process.wait(30)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


class Project:
    """One stack."""

    def __init__(self, folder: Path, made: Plugins) -> None:
        self.folder, self.made = folder, made
        (folder / "state").mkdir(parents=True)
        plugin = f"{{name: azure-native, path: {ROOT / 'local/plugins/azure-native'}}}"
        (folder / "Pulumi.yaml").write_text(
            f"name: p\nruntime: {programs.runtime(folder)}\nplugins:\n  providers:\n    - {plugin}\n"
            'config: {"pulumi:disable-default-providers": {value: ["*"]}}\n'
        )
        self.pulumi("stack", "init", "dev")

    def program(self, body: str) -> None:
        (self.folder / "__main__.py").write_text(HEAD.format(subscription=SUBSCRIPTION) + body)

    def pulumi(self, *arguments: str, code: int | None = 0) -> str:
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
            **programs.environment(),
        }
        done = subprocess.run(
            ["pulumi", "--non-interactive", *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def up(self, *arguments: str, code: int | None = 0) -> str:
        return self.pulumi("up", "--yes", "--skip-preview", *arguments, code=code)

    def outputs(self) -> Any:
        return json.loads(self.pulumi("stack", "output", "--json"))
