"""Where the autoscaler's pod keeps a day of what it decided and why pods waited: a ConfigMap for each hour of it.

By name, so that a right to change these is a right to change no others (decision 15).
"""

from .autoscaler_flags import FLAGS
from .priorities import BUYS_FROM

HISTORY = "cluster-autoscaler-history"
# A day, the hour that has begun and one to spare: services/autoscaler/hours.py.
PLACES = 26
# Label and value of all of them.
LABEL, VALUE = "landbridge.dev/kept", "autoscaler-history"
BACKOFFS = (
    "initial-node-group-backoff-duration",
    "max-node-group-backoff-duration",
    "node-group-backoff-reset-timeout",
)


def names() -> list[str]:
    return [f"{HISTORY}-{place:02}" for place in range(PLACES)]


def arguments(status: str, lease: str) -> list[str]:
    """Of the program, beside its files: the names of the autoscaler's own ConfigMap and lease, and its flags."""
    return [
        f"--status={status}",
        f"--lease={lease}",
        f"--history={HISTORY}",
        f"--backoff={','.join(FLAGS[name].value for name in BACKOFFS)}",
        f"--buys-from={BUYS_FROM}",
    ]
