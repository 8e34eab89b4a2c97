"""A researcher at work: commands of people who have a kubeconfig of their own, and nothing else of the fleet's."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from local import client
from tests.support.cloud import ROOT, Cloud, with_options

EXAMPLES = ROOT / "examples/experiments"
KUBECTL = ROOT / ".landbridge/bin/kubectl"


class Researcher:
    """`name` is a person of the fleet file; code lies in folders of their own, and what commands remember does, too.
    Their kubeconfigs are of `clusters`; a fleet with one needs none to be named.
    """

    def __init__(self, cloud: Cloud, name: str, home: Path, clusters: Sequence[str] = ("",)) -> None:
        self.name, self.home = name, home
        files = [home / f"{name}{cluster}.kubeconfig" for cluster in clusters]
        for cluster, file in zip(clusters, files, strict=True):
            which = ("--cluster", cluster) if cluster else ()
            cloud.run("kubeconfig", "--local", *which, "--as", name, "--output", str(file))
        self.kubeconfig = files[0]
        known = os.pathsep.join(map(str, files))
        own = {"LANDBRIDGE_KUBECONFIG": known, "XDG_CACHE_HOME": str(home / "cache")}
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
