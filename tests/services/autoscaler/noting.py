"""The program that keeps a day of notes, with the rights that the add-on gives it, before a real API server."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from components.addons import autoscaler, autoscaler_notes
from components.addons.manifests import SPACE, rights
from landbridge.autoscaler import notes as day_notes
from landbridge.autoscaler.notes import Notes
from landbridge.cluster.kube import Kube
from tests.components.addons.bed import Applying
from tests.components.addons.cloud import token
from tests.support.apiserver import HERE, Server

ROOT = Path(__file__).parents[3]
SECONDS = 60


class Noting:
    """`service` is the folder of the service beside it."""

    def __init__(self, folder: Path, kube: Server, service: Path) -> None:
        self.folder, self.kube, self.service = folder, kube, service
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, flags: Mapping[str, str]) -> None:
        """`flags` are the autoscaler's."""
        if not self.folder.exists():
            self.folder.mkdir()
            apply = Applying(self.kube)
            for manifest in rights(autoscaler.ADDON, autoscaler.ADDON, autoscaler.everywhere(), autoscaler.here()):
                apply(manifest)
            (self.folder / "ca.crt").write_text(self.kube.authority.pem)
            self.token = token(self.kube, SPACE, autoscaler.ADDON, self.kube.issuer)
            (self.folder / "token").write_text(self.token)
        words = autoscaler_notes.arguments(autoscaler.STATUS, autoscaler.ADDON)
        backoffs = ",".join(flags[name] for name in autoscaler_notes.BACKOFFS)
        words = [f"--backoff={backoffs}" if word.startswith("--backoff=") else word for word in words]
        words += [f"--settings={self.service}/settings.json", f"--decisions={self.service}/decisions.jsonl"]
        where = {"KUBERNETES_SERVICE_HOST": HERE, "KUBERNETES_SERVICE_PORT": str(self.kube.port)}
        with (self.folder / "notes.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "services.autoscaler.notes", *words, f"--account={self.folder}"],
                cwd=ROOT,
                env={**os.environ, **where},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def stop(self) -> None:
        if self.process:
            self.process.terminate()
            self.process.wait(SECONDS)

    @property
    def log(self) -> str:
        return (self.folder / "notes.log").read_text()

    @property
    def command_line(self) -> Kube:
        """As an administrator's command sees the cluster."""
        return Kube(self.kube.kubeconfig())

    @property
    def kept(self) -> Notes:
        return day_notes.read(self.command_line)
