"""A Pulumi program of a test's own with the kubernetes plugin, on the real engine; and the plugin without an engine."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from landbridge.places import written_whole
from local.providers.kubernetes.cluster import Cluster
from local.providers.kubernetes.log import Log
from local.providers.kubernetes.objects import Type
from local.providers.kubernetes.settings import settings
from local.providers.kubernetes.work import Job, Work
from tests.support import programs
from tests.support.apiserver import Server
from tests.support.children import HEARING_INTERRUPTS

ROOT = Path(__file__).parents[4]
HEAD = """\
import os, pulumi, pulumi_kubernetes as k8s
from pulumi import ResourceOptions
cluster = k8s.Provider("cluster", kubeconfig=pulumi.Output.secret(open("kubeconfig").read()){settings})
opts = ResourceOptions(provider=cluster)
"""
SECONDS = 400


class Project:
    def __init__(self, folder: Path, kubeconfig: str, port: int) -> None:
        self.folder, self.port = folder, port
        (folder / "state").mkdir(parents=True)
        (folder / "Pulumi.yaml").write_text(
            f"name: p\nruntime: {programs.runtime(folder)}\n"
            f"plugins: {{providers: [{{name: kubernetes, path: {ROOT / 'local/plugins/kubernetes'}}}]}}\n"
        )
        (folder / "kubeconfig").write_text(kubeconfig)
        self.pulumi("stack", "init", "dev")

    def program(self, body: str, settings: str = "") -> None:
        more = f", {settings}" if settings else ""
        (self.folder / "__main__.py").write_text(HEAD.replace("{settings}", more) + body)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        path = os.pathsep.join([str(ROOT / ".landbridge/bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {
            **os.environ,
            "PATH": path,
            "LANDBRIDGE_PROVIDER_PORT": str(self.port),
            "PULUMI_BACKEND_URL": written_whole(f"file://{self.folder / 'state'}"),
            "PULUMI_CONFIG_PASSPHRASE": "x",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PYTHONDONTWRITEBYTECODE": "",
            **programs.environment(),
        }
        return subprocess.Popen(
            [
                *HEARING_INTERRUPTS,
                str(ROOT / ".landbridge/bin/pulumi"),
                "--non-interactive",
                "--color=never",
                *arguments,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            cwd=self.folder,
        )

    def pulumi(self, *arguments: str, code: int | None = 0) -> str:
        """What it said; `code` is the exit code it must have, None for any failure."""
        process = self.start(*arguments)
        said, _ = process.communicate(timeout=SECONDS)
        assert process.returncode != 0 if code is None else process.returncode == code, said
        return said

    def up(self, *arguments: str, code: int | None = 0) -> str:
        return self.pulumi("up", "--yes", "--skip-preview", *arguments, code=code)

    def preview(self, *arguments: str, code: int | None = 0) -> str:
        return self.pulumi("preview", "--diff", *arguments, code=code)

    def destroy(self, code: int | None = 0) -> str:
        return self.pulumi("destroy", "--yes", "--skip-preview", code=code)

    def state(self) -> str:
        return (self.folder / "state/.pulumi/stacks/p/dev.json").read_text()


class Heard(Log):
    """Keeps what the user would read."""

    def __init__(self) -> None:
        super().__init__(None)
        self.lines: list[str] = []

    def _send(self, urn: str, text: str, severity: Any, *, ephemeral: bool) -> None:
        self.lines.append(text)


def work(server: Server, **config: Any) -> Work:
    """The plugin's inside, on the server."""
    return Work(Cluster(settings({"kubeconfig": server.kubeconfig(), **config}), Heard()))


def job(thing: Mapping[str, Any], *, timeout: float = 20, patch: bool = False) -> Job:
    return Job("urn", Type(thing["apiVersion"], thing["kind"], patch), timeout)


def manifest(api_version: str, kind: str, name: str, namespace: str = "", **rest: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **rest.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}
