"""A signal to a run's programs in the last hour before maintenance of their host: to write a checkpoint. Pure.

Kubernetes itself looks, by a readiness probe in each host that has GPUs, as it does for hangs (heartbeat.py): nobody
needs a right to reach into a container. Only processes that handle the signal get it, for it ends all others: of
torchrun and mpirun that is what they have started, and not they themselves.
"""

import signal
from typing import Any, Literal, get_args

from components.pools.labels import DOMAIN
from fleet import maintenance

Signal = Literal["USR1", "USR2", "HUP"]
SIGNALS = get_args(Signal)
# On the pod, for people.
ANNOTATION = f"{DOMAIN}/checkpoint-signal"
LAST_SECONDS = 3600
PERIOD_SECONDS, TIMEOUT_SECONDS = 10, 10
LOOK = """\
text=
read -r text < "$MAINTENANCE_FILE"
case "$text" in {last}) ;; *) exit 0 ;; esac
plan=${{text#*'"maintenance": "'}} start=${{text#*'"start": "'}}
plan=${{plan%%'"'*}} start=${{start%%'"'*}}
told="${{TMPDIR:-/tmp}}/.landbridge-checkpoint" last=
[ -e "$told" ] && read -r last < "$told"
[ "$last" = "$plan $start" ] && exit 0
echo "$plan $start" > "$told"
number=0
for one in /proc/[0-9]*; do
  caught=0
  [ -r "$one/status" ] && while read -r key value; do [ "$key" = SigCgt: ] && caught=$value; done < "$one/status"
  if [ "${{one#/proc/}}" != $$ ] && [ $((0x$caught >> {bit} & 1)) = 1 ]; then
    kill -s {name} "${{one#/proc/}}" && number=$((number + 1))
  fi
done
echo "landbridge: {name} to $number processes: $plan begins $start" > /proc/1/fd/2
exit 0
"""


def look(name: Signal) -> str:
    """A program for any POSIX shell."""
    last = [one for one, long in maintenance.LEFT.items() if long < LAST_SECONDS]
    patterns = "|".join(f"""*'"left": "{one}"'*""" for one in (*last, maintenance.NONE_LEFT))
    return LOOK.format(last=patterns, bit=signal.Signals[f"SIG{name}"] - 1, name=name)


def probe(name: Signal) -> dict[str, Any]:
    return {
        "exec": {"command": ["sh", "-c", look(name)]},
        "periodSeconds": PERIOD_SECONDS,
        "timeoutSeconds": TIMEOUT_SECONDS,
    }
