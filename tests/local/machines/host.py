"""A local cloud's namespace for tests: a process in it that keeps machines, and the tests' hold on it."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).resolve().parents[3]
UNITS = "etc/systemd/system"
# For scripts: waits until a command succeeds, however busy the machine that runs the tests is.
WAIT = 'wait_for() { for _ in $(seq 500); do eval "$1" && return; sleep 0.02; done; echo "never: $1"; }; '


class Said(NamedTuple):
    code: int
    out: str
    err: str


def ask(process: subprocess.Popen[str], code: str, given: dict[str, Any]) -> Any:
    """One request to a process that serves lines of code, and what it leaves in `result`. Raises RuntimeError."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps({"code": textwrap.dedent(code), "given": given}) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer["result"]


class Host:
    """Runs Python in a process inside namespaces of its own; all in it ends with it."""

    def __init__(self, folder: Path, make: list[str], python: str = sys.executable) -> None:
        self.folder = folder
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(
            [*make, python, str(Path(__file__).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
            env=environment,
        )

    def __call__(self, code: str, **given: Any) -> Any:
        """What `code` leaves in `result`."""
        return ask(self.process, code, given)

    def machine(self, name: str, address: str, **more: Any) -> "Box":
        self(
            """
            machines[name] = Machine(name, Path(folder), (address,), **more)
            machines[name].start()
            """,
            name=name,
            folder=str(self.folder / name),
            address=address,
            more=more,
        )
        return Box(self, name)

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(30)


class Box:
    """A machine in it."""

    def __init__(self, host: Host, name: str) -> None:
        self.host, self.name = host, name

    @property
    def disk(self) -> Path:
        return self.host.folder / self.name / "disk"

    def run(self, *argv: str) -> Said:
        code = "done = machines[name].exec(argv); result = [done.returncode, done.stdout, done.stderr]"
        return Said(*self.host(code, name=self.name, argv=list(argv)))

    def sh(self, script: str) -> Said:
        return self.run("sh", "-c", WAIT + script)

    def ctl(self, *words: str) -> Said:
        return self.run("systemctl", *words)

    def lay(self, units: dict[str, str]) -> None:
        for name, text in units.items():
            (self.disk / UNITS / name).write_text(text)

    def load(self, units: dict[str, str]) -> None:
        self.lay(units)
        said = self.ctl("daemon-reload")
        assert said.code == 0, said.err

    def clear(self) -> None:
        """Ends all units and removes their files, and empties /tmp/t, where tests write. The next `load` forgets them."""
        self.sh(
            f'cd /{UNITS}; units=$(ls -p | grep -v /); [ -z "$units" ] || systemctl stop $units; rm -rf /{UNITS}/*; '
            "systemctl reset-failed; rm -rf /tmp/t; mkdir -m 777 /tmp/t; rm -f /var/lib/systemd/timers/*"
        )

    def log(self, unit: str) -> str:
        return (self.disk / f"var/log/units/{unit}.log").read_text()

    def do(self, verb: str, *arguments: Any) -> Any:
        code = "result = getattr(machines[name], verb)(*arguments)"
        return self.host(code, name=self.name, verb=verb, arguments=arguments)


def serve() -> None:
    """Inside: one request a line."""
    from local.daemon import loopback_up
    from local.machines import network, processes
    from local.machines.machine import Machine

    loopback_up()
    # Machines here are on wires to this namespace: it is their router.
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    machines: dict[str, Machine] = {}
    known = {"machines": machines, "Machine": Machine, "Path": Path, "network": network, "processes": processes}
    for line in sys.stdin:
        request = json.loads(line)
        scope = known | request["given"] | {"result": None}
        try:
            exec(request["code"], scope)
            answer = {"result": scope["result"]}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    for machine in machines.values():
        machine.kill()


if __name__ == "__main__":
    serve()
