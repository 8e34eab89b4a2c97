"""Hangs: a run says that it goes on by touching a file, and a host that has not for long has failed. Pure.

Kubernetes itself looks, by a liveness probe in each host that has GPUs: nothing of ours has to run for it. The command
of a host that hangs ends as by a failure of its own, so its whole run starts again, and that counts.
"""

from typing import Any

FOLDER = "/heartbeat"
FILE = f"{FOLDER}/beat"
VARIABLE = "HEARTBEAT_FILE"
# Looked at no more often than that, and no less.
SOONEST_SECONDS, LATEST_SECONDS = 1, 60
# A hung process seldom hears SIGTERM.
GRACE_SECONDS = 10
# What is written to process 1's own stream stands in the host's log, where its people look, and what the probe itself
# says in an event, where `landbridge why` does.
# The first look makes the file: by then its image is there, however long that took.
LOOK = """\
[ -e "$HEARTBEAT_FILE" ] || : > "$HEARTBEAT_FILE"
age=$(($(date +%s) - $(stat -c %Y "$HEARTBEAT_FILE")))
[ "$age" -le {most} ] && exit 0
said="landbridge: no heartbeat for $age seconds, of {most} at most: this host hangs, and is ended"
echo "$said" > /proc/1/fd/2
echo "$said"
exit 1
"""


def probe(minutes: float) -> dict[str, Any]:
    """Asks for the programs sh, date, stat and echo, as coreutils and busybox have them."""
    most = round(minutes * 60)
    return {
        "exec": {"command": ["sh", "-c", LOOK.format(most=most)]},
        "periodSeconds": max(SOONEST_SECONDS, min(LATEST_SECONDS, most // 4)),
        "timeoutSeconds": 10,
        "failureThreshold": 1,
        "terminationGracePeriodSeconds": GRACE_SECONDS,
    }
