"""Rotation of keys by the command line on one whole small fleet: under steady calls, killed in its middle, taken back."""

import base64
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet import rotations
from tests.support.cloud import COMMAND, ROOT, Cloud

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
# All of it takes four minutes on a quiet machine; a busy one is no reason to fail.
RATE, PATIENCE = 20, 900
ROTATE = ("pki", "rotate", "main", "--local", "--yes")
# Through the balancer, as everybody's.
CALLS = """
import json, socket, sys
folder, host, rate, script = sys.argv[1:]
servers = sorted(set(socket.gethostbyname_ex(host)[2]))
open(folder + "/steady.json", "w").write(json.dumps({"servers": servers, "host": host, "rate": int(rate)}))
sys.argv = [script, folder]
exec(compile(open(script).read(), script, "exec"))
"""


class Bed:
    """The fleet with its cluster, up; and how long everything took."""

    def __init__(self, cloud: Cloud, folder: Path) -> None:
        self.cloud, self.folder = cloud, folder
        self.seconds: dict[str, float] = {}
        self.pki = rotations.rotations_path(cloud.fleet)

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        begun = time.monotonic()
        yield
        self.seconds[what] = round(time.monotonic() - begun, 1)

    def kubectl(self, *words: str, stdin: str = "") -> str:
        done = subprocess.run(
            [COMMAND, "kubectl", "--local", "--fleet", str(self.cloud.fleet), "--", *words],
            input=stdin,
            capture_output=True,
            text=True,
            env=self.cloud._environment(),
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def steady(self) -> Iterator[dict[str, Any]]:
        """Reads and writes all the while; what came of them is there when they have ended."""
        config = yaml.safe_load(self.cloud.run("kubeconfig", "--local", "--output", "-").stdout)
        server, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        folder = self.folder / "steady"
        folder.mkdir()
        for name, text in (
            ("ca.crt", server["certificate-authority-data"]),
            ("client.crt", user["client-certificate-data"]),
            ("client.key", user["client-key-data"]),
        ):
            (folder / name).write_bytes(base64.b64decode(text))
        (folder / "changed").write_text("once")
        maps = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"steady-{n}"}} for n in range(24)]
        self.kubectl("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": maps}))
        host = re.sub(r"https://|:\d+$", "", server["server"])
        words = [str(folder), host, str(RATE), str(ROOT / "tests/support/steady.py")]
        argv = [COMMAND, "local", "exec", "--", sys.executable, "-c", CALLS, *words]
        process = subprocess.Popen(argv, env=self.cloud._environment())
        found: dict[str, Any] = {}
        try:
            yield found
        finally:
            (folder / "stop").touch()
            process.wait(60)
        found |= json.loads((folder / "report.json").read_text())

    def told(self) -> dict[str, str]:
        """What fleet.pki.yaml says, each key's standing less its time."""
        main = rotations.load(self.pki).get("main", {})
        assert all(at.since for at in main.values()), self.pki.read_text()
        return {
            key: f"{at.phase} {at.generation}" + (f", given up {at.given_up}" if at.given_up else "")
            for key, at in main.items()
        }

    def status(self) -> tuple[set[str], list[Any]]:
        """The authorities that there are, and keys that are under way."""
        document = self.cloud.report("pki", "status", "--local")
        rows = document["clusters"]["main"]
        return {row["name"] for row in rows if "authority" in row["uses"]}, document["rotations"]["main"]


@pytest.fixture(scope="module")
def bed(in_aws: Cloud) -> Iterator[Bed]:
    made = Bed(in_aws, in_aws.fleet.parent)
    yield made
    sys.stdout.write(f"\nrotation by the command line: {json.dumps(made.seconds)}\n")


FIRST = {f"{name}-1" for name in ("kubernetes", "front-proxy", "etcd-clients", "etcd-main-peers", "etcd-events-peers")}


def test_one_key_rotates_under_steady_calls_even_when_the_command_is_killed(bed: Bed) -> None:
    authorities, moving = bed.status()
    assert authorities >= FIRST
    assert moving == []
    assert not bed.pki.exists()
    rotate = (*ROTATE, "--only", "front-proxy", "--all", "--now")
    with bed.steady() as found:
        with bed.timed("killed in its first roll"):
            killed_in_its_roll(bed.cloud.start(*rotate))
        begun = rotations.load(bed.pki)["main"]["front-proxy"]
        assert (begun.phase, begun.since) == ("trust", None)
        with bed.timed("the rest of front-proxy"):
            document = bed.cloud.report(*rotate, seconds=PATIENCE)
    assert [(one["from"]["phase"], one["to"]["phase"]) for one in document["moved"]] == [
        ("trust", "issue"),
        ("issue", "steady"),
    ]
    assert {one["machine"] for one in document["replaced"]} == {"main-api-1", "main-api-2"}, "nobody else has the key"
    assert found["failures"] == []
    assert found["calls"] > 0.9 * RATE * found["seconds"]
    bed.seconds |= {key: found[key] for key in ("calls", "retries", "slowest")}
    assert bed.told() == {"front-proxy": "steady 2"}
    assert bed.status() == (authorities - {"front-proxy-1"} | {"front-proxy-2"}, [])


def killed_in_its_roll(process: subprocess.Popen[str]) -> None:
    """Ends it as soon as it has let the first machine go."""
    assert process.stdout
    said = []
    for line in process.stdout:
        said.append(line)
        if re.match(r"main-api-\d: (?!new )", line):
            os.kill(process.pid, signal.SIGKILL)
            break
    process.wait(60)
    assert process.returncode == -signal.SIGKILL, "".join(said)


def test_a_key_is_taken_back_and_nothing_is_left_to_do(bed: Bed) -> None:
    refused = bed.cloud.report(*ROTATE, "--back", code=2)
    assert refused["error"].startswith("There is no way back for what is at rest in main: every key")
    bed.kubectl("create", "secret", "generic", "probe", "--from-literal=word=open-sesame")
    with bed.timed("encryption to trust"):
        document = bed.cloud.report(*ROTATE, "--only", "encryption", seconds=PATIENCE)
    assert document["keys"]["encryption"]["phase"] == "trust"
    assert bed.told() == {"encryption": "trust 1", "front-proxy": "steady 2"}
    assert [(one["key"], one["phase"], one["finished"]) for one in bed.status()[1]] == [("encryption", "trust", True)]
    with bed.timed("encryption back"):
        bed.cloud.run(*ROTATE, "--back", seconds=PATIENCE)
    assert bed.told() == {"encryption": "steady 1, given up 1", "front-proxy": "steady 2"}
    assert bed.kubectl("get", "secret", "probe", "-o", "jsonpath={.data.word}") == "b3Blbi1zZXNhbWU="
    assert bed.status()[1] == []
    with bed.timed("up again"):
        bed.cloud.run("up", "--local", "--yes", "--full", "--expect-no-changes")
