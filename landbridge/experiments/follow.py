"""Follows a run: what becomes of it on one stream, and what one of its hosts prints on the other, to its end."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, BinaryIO

from landbridge.access.person import Person
from landbridge.cluster.kube import KubeError
from landbridge.errors import DONE, FAILED, LandbridgeError

from . import tensorboard
from .look import exit_code, known, main_status, pod, pods, without_code
from .manifest import PART, RANK, RUN
from .states import RunState

PAUSE_SECONDS = 1.0
# A run may wait for days, and each look is three calls.
MOST_PAUSE_SECONDS = 10.0
# A node that has just joined answers nobody until it has its certificate.
OUTPUT_SECONDS = 30.0
# An API server that is away for so long is told of; the run goes on without it.
PATIENCE_SECONDS = 120.0
Tell = Callable[[str], None]


class News:
    """Tells what is new of each kind of thing."""

    def __init__(self, tell: Tell) -> None:
        self.tell, self.told = tell, dict[str, str]()

    def __call__(self, kind: str, text: str) -> bool:
        """Whether it was told. An empty text is nothing to tell."""
        if not text or self.told.get(kind) == text:
            return False
        self.tell(text)
        self.told[kind] = text
        return True


class Printed:
    """What one pod has printed: asked for again after a cut, it begins anew, and nothing is shown twice.

    `why` is what kubectl said when it was not `complete`.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self.uid, self.shown, self.complete, self.why = stream, "", 0, False, ""

    def copy(self, person: Person, one: Any, *, follow: bool, since: timedelta | None = None) -> None:
        """Until it ends, or the way to it. `since` leaves out what is older; only once."""
        uid = one["metadata"]["uid"]
        if uid != self.uid:
            self.uid, self.shown, self.complete = uid, 0, False
        if self.complete:
            return
        ended = "terminated" in main_status(one)
        words = ["logs", one["metadata"]["name"], f"--namespace={person.namespace}", "--container=run"]
        words += ["--follow"] if follow else []
        words += [f"--since={max(1, round(since.total_seconds()))}s"] if since else []
        with person.kube.streaming(*words) as process:
            skip = self.shown
            for line in process.stdout or ():
                if skip:
                    skip -= 1
                    continue
                self.stream.write(line)
                self.stream.flush()
                self.shown += 1
            told = process.stderr.read().decode(errors="replace").strip() if process.stderr else ""
            well = process.wait() == 0
            # What was read after its end is all there is.
            self.complete, self.why = well and ended, "" if well else told


def follow(person: Person, name: str, tell: Tell, part: str, rank: int) -> int:
    """The run's own exit code. Raises LandbridgeError when nobody answers for long, or the run has gone."""
    output, news, heard, over = Printed(sys.stdout.buffer), News(tell), time.monotonic(), 0.0
    pause = PAUSE_SECONDS
    while True:
        try:
            state, found = known(person, name), pods(person, name)
            heard = time.monotonic()
        except KubeError as error:
            if time.monotonic() - heard > PATIENCE_SECONDS:
                again = f"{name} goes on; `landbridge logs {name} -f{person.options}` follows it again."
                raise LandbridgeError(f"{error}. {again}") from None
            time.sleep(PAUSE_SECONDS)
            continue
        if news("state", said(state)):
            pause = PAUSE_SECONDS
        news("board", board(found, person.options))
        one = pod(found, part, rank)
        if one is not None and main_status(one).keys() & {"running", "terminated"}:
            output.copy(person, one, follow=not state.ended)
        if state.phase == "stopped":
            return FAILED
        if state.ended:
            over = over or time.monotonic()
            if (why := unread(one, output, over)) is not None:
                news("output", why)
                return code(state, found)
        time.sleep(pause)
        pause = min(1.5 * pause, MOST_PAUSE_SECONDS)


def unread(one: Mapping[str, Any] | None, output: Printed, over: float) -> str | None:
    """Why no more will be printed of a run that is `over` since then: empty when all is. None: more may come."""
    if one is None or output.complete:
        return ""
    if trouble := without_code(one):
        return trouble
    late = time.monotonic() - over > OUTPUT_SECONDS
    return f"what it has printed can't be read: {output.why}" if late else None


def code(state: RunState, found: Sequence[Mapping[str, Any]]) -> int:
    """That of a run which has ended."""
    return DONE if state.phase == "done" else exit_code(found) or FAILED


def board(found: Sequence[Mapping[str, Any]], options: str) -> str:
    """Where TensorBoard is, of a run whose first host runs; empty where it has none."""
    for one in found:
        meta, address = one["metadata"], one.get("status", {}).get("podIP")
        beside = [container["name"] for container in one["spec"].get("initContainers") or []]
        first = meta.get("annotations", {}).get(RANK) == "0" and "running" in main_status(one)
        if tensorboard.NAME in beside and first and address:
            words = f"{meta['labels'][RUN]} {tensorboard.PORT} --part {meta['labels'][PART]}{options}"
            url = f"http://{address}:{tensorboard.PORT}"
            return f"TensorBoard: {url} in the VPN; elsewhere by `landbridge forward {words}`"
    return ""


def said(state: RunState) -> str:
    """What has become of it, in a line."""
    ahead = f"{state.ahead} before it; " if state.ahead else ""
    why = f": {ahead}{state.why}" if state.why or ahead else ""
    where = f" in {state.place}" if state.place and state.phase in ("starts", "runs") else ""
    return f"{state.name} {PHASES[state.phase]}{where}{why}"


PHASES = {
    "waits": "waits",
    "starts": "starts",
    "runs": "runs",
    "stopped": "is stopped",
    "done": "is done",
    "failed": "has failed",
}
