"""kubectl as a tool of ours: with a kubeconfig that lies in memory alone."""

import contextlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import Any, NoReturn

import installation
from landbridge.errors import LandbridgeError, UsageError
from landbridge.remote_execution import CommandResult, ran

FIELD_MANAGER = "landbridge"
HASTY_SECONDS, HASTY_TRIES = 3, 3
LATE = re.compile(r"deadline exceeded|timed? ?out|timeout|no answer within", re.IGNORECASE)


class KubeError(LandbridgeError):
    """The API refused or did not answer; `result` has kubectl's words."""

    def __init__(self, text: str, result: CommandResult) -> None:
        super().__init__(text)
        self.result = result

    @property
    def forbidden(self) -> bool:
        return "Forbidden" in self.result.err or "forbidden" in self.result.err

    @property
    def missing(self) -> bool:
        return "NotFound" in self.result.err


def unchanged(command: list[str]) -> list[str]:
    return command


@dataclass(frozen=True)
class Kube:
    """The API of one cluster as one user. `around` makes of a command one that reaches the API's network.

    `hasty` is for those who only look: an API server that hangs is given up soon, and another one gets the question.
    """

    config: str
    around: Callable[[list[str]], list[str]] = unchanged
    hasty: bool = False

    def run(self, *words: str, stdin: str = "", seconds: float = 60) -> CommandResult:
        if not self.hasty:
            return self._run(*words, stdin=stdin, seconds=seconds)
        with_timeout = (*words, f"--request-timeout={HASTY_SECONDS}s")
        for _ in range(HASTY_TRIES):
            result = self._run(*with_timeout, stdin=stdin, seconds=HASTY_SECONDS + 1)
            if result.code == 0 or not LATE.search(result.err):
                break
        return result

    def _run(self, *words: str, stdin: str, seconds: float) -> CommandResult:
        descriptor, environment = self._config_file()
        try:
            argv = self.around([kubectl(), *words])
            return ran(argv, stdin.encode(), seconds, environment, (descriptor,))
        except TimeoutExpired:
            return CommandResult(1, "", f"no answer within {seconds:.0f} s")
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def streaming(self, *words: str) -> Iterator["Popen[bytes]"]:
        """kubectl while it runs, with its output as pipes. It is ended with the block."""
        descriptor, environment = self._config_file()
        try:
            process = Popen(
                self.around([kubectl(), *words]),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                env=environment,
                pass_fds=(descriptor,),
                # A Ctrl-C is for us, and ends kubectl with the block.
                start_new_session=True,
            )
        finally:
            os.close(descriptor)
        with process:
            try:
                yield process
            finally:
                process.kill()

    def become(self, *words: str) -> NoReturn:
        """Makes kubectl of this process, with its terminal and its exit code."""
        _, environment = self._config_file()
        sys.stdout.flush()
        argv = self.around([kubectl(), *words])
        os.execvpe(argv[0], argv, environment)  # noqa: S606

    def _config_file(self) -> tuple[int, dict[str, str]]:
        """Its descriptor, and the environment in which kubectl finds it."""
        descriptor = os.memfd_create("kubeconfig", 0)  # not closed on exec: kubectl reads it under its number
        os.write(descriptor, self.config.encode())
        return descriptor, {**os.environ, "KUBECONFIG": f"/proc/self/fd/{descriptor}"}

    def done(self, *words: str, stdin: str = "", seconds: float = 60) -> str:
        """What kubectl said. Raises KubeError when it failed."""
        result = self.run(*words, stdin=stdin, seconds=seconds)
        if result.code != 0:
            raise KubeError(f"kubectl {' '.join(words[:3])} failed: {result.why}", result)
        return result.out

    def get(self, *words: str) -> dict[str, Any]:
        """An object or a list. Raises KubeError."""
        return dict(json.loads(self.done("get", *words, "--output=json")))

    def find(self, *words: str) -> dict[str, Any] | None:
        """The same; None when it is not there."""
        try:
            return self.get(*words)
        except KubeError as error:
            if error.missing:
                return None
            raise

    def apply(self, manifests: Sequence[Mapping[str, Any]]) -> None:
        """Brings objects to what the manifests say, server-side: fields that others own stay theirs."""
        document = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)})
        flags = ("--server-side", "--force-conflicts", f"--field-manager={FIELD_MANAGER}")
        self.done("apply", *flags, "--filename=-", stdin=document)

    @property
    def ready(self) -> bool:
        result = self.run("get", "--raw", "/readyz", "--request-timeout=3s", seconds=10)
        return result.code == 0 and result.out == "ok"


def kubectl() -> str:
    """The program: that of set-up, else the one on the PATH. Raises UsageError."""
    ours = installation.BIN / "kubectl"
    found = str(ours) if ours.exists() else shutil.which("kubectl")
    if found is None:
        raise UsageError(installation.missing("kubectl"))
    return str(Path(found).resolve())
