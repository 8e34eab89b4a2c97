"""A machine's first process: runs its units, hears `systemctl`, reaps orphans, and ends with the local cloud.

It is process 1 of the machine's namespace of processes: when it ends, the kernel ends all others with it.
"""

import contextlib
import os
import signal
import socket

from . import logs
from .control import Control
from .loop import Loop
from .manager import Manager
from .notify import Notify
from .service import Service
from .units import UnitError


def run(lifeline: int, ready: int) -> None:
    """Lives until SIGTERM, or until the other end of `lifeline` is closed; tells `ready` when it answers."""
    loop = Loop()
    manager = Manager(loop, logs.Logs(loop), socket.gethostname())
    Notify(loop, lambda pid, words: hear(manager, pid, words))
    Control(manager)
    try:
        manager.reload()
    except UnitError as error:
        # The machine comes up without units, and `daemon-reload` says the same again.
        logs.console(f"no unit is loaded:\n{error}")
    loop.on_signal(signal.SIGTERM, manager.shut_down)
    # Ctrl-C at a terminal reaches the whole group: stopping is for whoever started the machine.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    loop.watch(lifeline, lambda: abandoned(lifeline))
    os.write(ready, b"{}\n")
    os.close(ready)
    logs.console("ready")
    loop.run()
    logs.console("ended")


def abandoned(lifeline: int) -> None:
    """The local cloud has died: nobody is left to stop units for, and nothing may outlive it."""
    if not os.read(lifeline, 1):
        logs.console("ended: the local cloud is gone")
        os._exit(1)


def hear(manager: Manager, pid: int, words: dict[str, str]) -> None:
    """What a service's main process says; others are not asked (NotifyAccess=main)."""
    for runner in list(manager.runners.values()):
        if isinstance(runner, Service) and runner.group.main == pid:
            runner.status_text = words.get("STATUS", runner.status_text)
            if words.get("READY") == "1":
                runner.ready()
            return
    with contextlib.suppress(OSError):
        logs.console(f"process {pid} is no unit's main process: what it said is not heard")
