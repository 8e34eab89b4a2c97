"""A researcher at work: commands of people who have a kubeconfig of their own, and nothing else of the fleet's."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from local import client
from tests.support.children import HEARING_INTERRUPTS
from tests.support.cloud import COMMAND, ROOT, Cloud

EXAMPLES = ROOT / "examples/experiments"
KUBECTL = ROOT / ".landbridge/bin/kubectl"


class Researcher:
    """`name` is a person of the fleet file; code lies in folders of their own."""

    def __init__(self, cloud: Cloud, name: str, home: Path) -> None:
        self.cloud, self.name, self.home = cloud, name, home
        self.kubeconfig = home / f"{name}.kubeconfig"
        cloud.run("kubeconfig", "--local", "--as", name, "--output", str(self.kubeconfig))

    def folder(self, example: str) -> Path:
        """A copy of an example's."""
        place = self.home / example
        if not place.exists():
            shutil.copytree(EXAMPLES / example, place)
        return place

    def environment(self) -> dict[str, str]:
        """No key of a cloud, and a cache of their own."""
        own = {name: value for name, value in self.cloud._environment().items() if not name.startswith("AWS_")}
        return own | {"LANDBRIDGE_KUBECONFIG": str(self.kubeconfig), "XDG_CACHE_HOME": str(self.home / "cache")}

    def words(self, *words: str) -> list[str]:
        """Options stand before what follows `--`."""
        end = words.index("--") if "--" in words else len(words)
        return [COMMAND, *words[:end], "--local", "--fleet", str(self.cloud.fleet), *words[end:]]

    def run(self, *words: str, code: int | None = 0, seconds: float = 240) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.words(*words),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=self.environment(),
            timeout=seconds,
            check=False,
        )
        assert code is None or done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def start(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*HEARING_INTERRUPTS, *self.words(*words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env=self.environment(),
        )

    def report(self, *words: str) -> dict[str, Any]:
        end = words.index("--") if "--" in words else len(words)
        return dict(json.loads(self.run(*words[:end], "--json", *words[end:]).stdout))

    def kubectl(self, *words: str, stdin: str = "", code: int = 0) -> str:
        """Plain kubectl, with the same file."""
        inside = ["--kubeconfig", str(self.kubeconfig), "--namespace=team-lab", *words]
        done = self._inside([str(KUBECTL), *inside], stdin)
        assert done.returncode == code, done.stderr
        return done.stdout

    def python(self, code: str) -> str:
        """A program of theirs."""
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, capture_output=True, text=True, env=self.environment(), check=False, timeout=240)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _inside(self, command: list[str], stdin: str) -> subprocess.CompletedProcess[str]:
        cloud = client.status(self.cloud.home / "local")
        assert cloud
        words = client.enter_command(cloud, command, ROOT)
        return subprocess.run(words, input=stdin, capture_output=True, text=True, check=False, timeout=120)
