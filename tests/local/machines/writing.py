"""Shorthands for units and the cases that are made of them."""

import os
from dataclasses import dataclass

from local.machines.spawn import mapped


@dataclass(frozen=True, eq=False)
class Case:
    directive: str
    units: dict[str, str]
    script: str
    says: str  # a regular expression for the script's whole output


def service(*lines: str, unit: str = "", install: str = "") -> str:
    body = "\n".join(lines)
    heads = f"[Unit]\n{unit}\n" if unit else ""
    tail = f"[Install]\n{install}\n" if install else ""
    return f"{heads}[Service]\n{body}\n{tail}"


def shell(script: str) -> str:
    return f"ExecStart=/bin/sh -c '{script}'"


SLEEP = "ExecStart=/bin/sleep 1000"
DAEMON = service(SLEEP)
ONCE = "Type=oneshot"
SLOW_B = service(ONCE, shell("sleep 0.2; echo b >> /tmp/t/log"), install="WantedBy=landbridge.target")
WRITES_A = [ONCE, shell("echo a >> /tmp/t/log")]
BAD = service(ONCE, "ExecStart=/bin/false")
STATE = "echo $(systemctl is-active a.service)"
# Prints `ready` to the notify socket after a while.
NOTIFIER = (
    'ExecStart=/usr/bin/env python3 -c "import os,socket,time; time.sleep(0.2); s=socket.socket(1,2); '
    "open('/tmp/t/log','w').write('ready'); s.connect(os.environ['NOTIFY_SOCKET']); s.send(b'READY=1\\\\nSTATUS=fine'); "
    'time.sleep(1000)"'
)
# A process with a child that says which signals it got; the pause lets the traps be set.
FAMILY = (
    'ExecStart=/bin/sh -c \'(trap "echo child >> /tmp/t/log; exit" TERM; touch /tmp/t/r1; while :; do sleep 0.02; done) & '
    'trap "echo main >> /tmp/t/log; exit" TERM; touch /tmp/t/r2; while :; do sleep 0.02; done\''
)
FAMILY_SCRIPT = "systemctl start a; wait_for 'ls /tmp/t/r1 /tmp/t/r2 >/dev/null 2>&1'; systemctl stop a; sort /tmp/t/log; pgrep -fc 'echo chil[d]'"
OTHERS = mapped(65534)
PRIVILEGED = os.geteuid() == 0


def once(directive: str, *lines: str, script: str, says: str, unit: str = "") -> Case:
    return Case(directive, {"a.service": service(*lines, unit=unit)}, f"systemctl start a; {script}", says)


def timer(directive: str, *lines: str, script: str, says: str, name: str = "a") -> Case:
    body = "\n".join(lines)
    units = {"a.timer": f"[Timer]\n{body}\n", f"{name}.service": service(ONCE, shell("echo x >> /tmp/t/log"))}
    return Case(directive, units, script, says)
