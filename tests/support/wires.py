"""Routers and wires of a plan in namespaces of a test's own, without a local cloud, and whether packets pass there."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from local import namespace

from .packets import Probe

REPOSITORY = Path(__file__).resolve().parents[2]


class Wires:
    """Its process is the local cloud of a folder, as far as packets see; all goes with it."""

    def __init__(self, folder: Path) -> None:
        command = ["unshare", *namespace.usable_mode().make, sys.executable, "-m", "tests.support.wires", str(folder)]
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, cwd=REPOSITORY, env=environment, **pipes)

    def apply(self, world: dict[str, Any], sites: Iterable[Iterable[Any]] = ()) -> list[Any]:
        """What the clouds see of their tunnels, AWS first: see `local.network.plan.Plan`."""
        return list(self.ask({"world": world, "sites": [list(one) for one in sites]}))

    def passed(self, *probes: Probe) -> list[bool]:
        return list(self.ask({"probes": probes}))

    def ask(self, request: dict[str, Any]) -> Any:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(30)


def serve(folder: Path) -> None:
    from local.daemon import loopback_up
    from local.machines import network
    from local.network.namespaces import Namespaces
    from local.network.plan import plan
    from local.network.routers import METADATA, PLATFORM
    from local.network.site_routers import Site

    from .packets import Prober

    loopback_up()
    network.hold(METADATA)
    network.hold(PLATFORM, "host")
    (folder / "machines.json").write_text("[]")
    routers = Namespaces(folder / "networks")
    for line in sys.stdin:
        request = json.loads(line)
        if "probes" in request:
            prober = Prober(folder)
            answer: Any = [prober.ask(one) for one in request["probes"]]
        else:
            made = plan(request["world"], [Site(*one[:3], tuple(one[3])) for one in request["sites"]])
            routers.apply(made)
            answer = [made.tunnels, made.ends]
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
