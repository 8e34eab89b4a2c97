"""A researcher at work: commands of people who have a kubeconfig of their own, and nothing else of the fleet's."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from local import client
from tests.support.cloud import ROOT, Cloud, with_options

EXAMPLES = ROOT / "examples/experiments"
KUBECTL = ROOT / ".landbridge/bin/kubectl"


class Researcher:
    """`name` is a person of the fleet file; code lies in folders of their own, and what commands remember does, too."""

    def __init__(self, cloud: Cloud, name: str, home: Path) -> None:
        self.name, self.home = name, home
        self.kubeconfig = home / f"{name}.kubeconfig"
        cloud.run("kubeconfig", "--local", "--as", name, "--output", str(self.kubeconfig))
        own = {"LANDBRIDGE_KUBECONFIG": str(self.kubeconfig), "XDG_CACHE_HOME": str(home / "cache")}
        self.cloud = Cloud(cloud.home, cloud.fleet, {**cloud.environment, **own})

    def folder(self, example: str) -> Path:
        """A copy of an example's."""
        place = self.home / example
        if not place.exists():
            shutil.copytree(EXAMPLES / example, place)
        return place

    def run(self, *words: str, code: int | None = 0, seconds: float = 240) -> subprocess.CompletedProcess[str]:
        return self.cloud.run(*with_options(words, "--local"), code=code, seconds=seconds)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        return self.cloud.start(*with_options(words, "--local"))

    def report(self, *words: str) -> dict[str, Any]:
        return self.cloud.report(*with_options(words, "--local"))

    def kubectl(self, *words: str, stdin: str = "", code: int = 0) -> str:
        """Plain kubectl, with the same file."""
        inside = ["--kubeconfig", str(self.kubeconfig), "--namespace=team-lab", *words]
        done = self._inside([str(KUBECTL), *inside], stdin)
        assert done.returncode == code, done.stderr
        return done.stdout

    def python(self, code: str) -> str:
        """A program of theirs."""
        words, own = [sys.executable, "-c", code], self.cloud._environment()
        done = subprocess.run(words, capture_output=True, text=True, env=own, check=False, timeout=240)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _inside(self, command: list[str], stdin: str) -> subprocess.CompletedProcess[str]:
        cloud = client.status(self.cloud.home / "local")
        assert cloud
        words = client.enter_command(cloud, command, ROOT)
        return subprocess.run(words, input=stdin, capture_output=True, text=True, check=False, timeout=120)
