"""Asks the host that a run's pod is on whether it is fit for work: the host looks at itself, for a few seconds."""

import http.client
import json
import time
from collections.abc import Callable

from fleet import fitness

# The host's own look has less; it may have only just started, and not answer yet.
ANSWER_SECONDS, PATIENCE_SECONDS, PAUSE_SECONDS = 8.0, 5.0, 0.5
# Until no new work comes to a host that was found to be unfit: else the run would begin there again.
CLOSED_SECONDS = 8.0


def unfit(address: str, say: Callable[[str], None], port: int = fitness.PORT) -> tuple[str, ...]:
    """What is wrong with the host. Nothing is where nobody answers: it may have a bundle of before."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            wrong, seconds = _asked(address, port)
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
            if time.monotonic() > deadline:
                say(f"host: nobody has looked at it: {type(error).__name__}: {error}")
                return ()
            time.sleep(PAUSE_SECONDS)
            continue
        say(f"host: not fit for work: {'; '.join(wrong)}" if wrong else f"host: fit for work ({seconds:.1f} seconds)")
        return wrong


def _asked(address: str, port: int) -> tuple[tuple[str, ...], float]:
    line = http.client.HTTPConnection(address, port, timeout=ANSWER_SECONDS)
    try:
        line.request("GET", fitness.PATH)
        told = json.loads(line.getresponse().read())
    finally:
        line.close()
    return tuple(map(str, told["wrong"])), float(told["seconds"])
