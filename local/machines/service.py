"""Services: the life of a unit's processes from ExecStartPre to the last one's end."""

import signal
from collections.abc import Callable

from . import context
from .commands import Command
from .group import Group, in_words
from .loop import Alarm
from .runner import Outcome, Owner, Runner
from .units import Unit

# What ends a process without being a failure, except for a oneshot (systemd.service(5), SuccessExitStatus=).
CLEAN_SIGNALS = (-signal.SIGHUP, -signal.SIGINT, -signal.SIGTERM, -signal.SIGPIPE)
START_SECONDS = 90.0
ENDLESS = float("inf")


class Service(Runner):
    """A service unit."""

    def __init__(self, owner: Owner, unit: Unit) -> None:
        super().__init__(owner, unit)
        self.group = Group(owner.loop, owner.logs, unit.name)
        self.status_text = ""  # what the service itself said of its state
        self.run = 0  # rises with each start and stop: what an older one waited for no longer counts
        self.alarm = Alarm(lambda: None)
        self.stop_requested = False

    # Starting

    def go(self) -> None:
        self.alarm.cancel()
        self.run += 1
        self.group.reset()
        self.status_text = ""
        self.stop_requested = False
        self.enter("activating", "start-pre")
        try:
            context.make_state_folders(self.unit)
        except (OSError, context.ContextError) as error:
            return self.refuse(error)
        return self.one_by_one(self.unit["ExecStartPre"], "start-pre", self.go_main)

    def refuse(self, error: Exception) -> None:
        self.say(str(error))
        self.wind_up("resources")

    def one_by_one(self, commands: list[Command], sub: str, then: Callable[[], None]) -> None:
        """Runs commands one after another, each within the time for a start, then `then`."""
        if not commands:
            return then()
        self.sub = sub
        run = self.run

        def ended(status: int) -> None:
            if self.run != run:
                return self.check()
            self.alarm.cancel()
            if how := self.failure(status):
                ignored = ", which is ignored" if commands[0].may_fail else ""
                self.say(f"{commands[0].words[0]} {in_words(status)}{ignored}")
                if not ignored:
                    return self.wind_up(how)
            return self.one_by_one(commands[1:], sub, then)

        self.launch(commands[0], ended, main=sub == "start")
        return None

    def launch(self, command: Command, ended: Callable[[int], None], *, main: bool) -> bool:
        """False if there is no process, and the start has failed with that."""
        self.alarm.cancel()
        self.alarm = self.owner.loop.after(self.start_seconds(), self.start_took_too_long)
        try:
            self.group.launch(self.unit, command, ended, main=main)
        except (OSError, context.ContextError) as error:
            self.refuse(error)
            return False
        return True

    def start_seconds(self) -> float:
        seconds: float | None = self.unit["TimeoutStartSec"]
        if seconds is None:
            seconds = ENDLESS if self.unit["Type"] == "oneshot" else START_SECONDS
        return seconds or ENDLESS

    def start_took_too_long(self) -> None:
        self.say("did not start within TimeoutStartSec")
        self.wind_up("timeout")

    def go_main(self) -> None:
        kind, commands = self.unit["Type"], self.unit["ExecStart"]
        if kind == "oneshot":
            return self.one_by_one(commands, "start", self.go_post)
        self.sub = "start"
        run = self.run
        if not self.launch(commands[0], lambda status: self.main_ended(run, commands[0], status), main=True):
            return None
        # An exec that failed shows as the process's end. Only `simple` counts as started by then.
        if kind == "simple" or (kind == "exec" and not self.group.broken):
            self.go_post()
        return None

    def ready(self) -> None:
        """The service said READY=1."""
        if self.state == "activating" and self.sub == "start" and self.unit["Type"] == "notify":
            self.go_post()

    def go_post(self) -> None:
        self.alarm.cancel()
        self.one_by_one(self.unit["ExecStartPost"], "start-post", self.go_on)

    def go_on(self) -> None:
        lasting = self.unit["RemainAfterExit"]
        if self.unit["Type"] == "oneshot" and not lasting:
            return self.wind_up("success")
        self.enter("active", "running" if self.group.main else "exited")
        self.answer("done")
        # It may have ended, and well, while ExecStartPost ran.
        if self.group.main is None and not lasting and self.state == "active":
            self.wind_up("success")
        return None

    # Ending

    def main_ended(self, run: int, command: Command, status: int) -> None:
        if self.run != run:
            return self.check()
        how = None if command.may_fail else self.failure(status)
        self.say(f"the main process {in_words(status)}")
        if how:
            return self.wind_up(how)
        if self.sub == "start":
            return self.wind_up("protocol")
        if self.state == "active":
            return self.enter("active", "exited") if self.unit["RemainAfterExit"] else self.wind_up("success")
        return None

    def failure(self, status: int) -> str | None:
        """None for a clean end."""
        clean = status == 0 or (self.unit["Type"] != "oneshot" and status in CLEAN_SIGNALS)
        if clean or status in self.unit["SuccessExitStatus"]:
            return None
        return "exit-code" if status > 0 else "signal"

    def stop(self, outcome: Outcome) -> None:
        self.stop_requested = True
        if self.sub == "auto-restart":
            self.result = "success"
            self.finish()
        if self.state in ("inactive", "failed"):
            return outcome("done")
        self.answer("canceled")
        self.outcome = outcome
        if self.state != "deactivating":
            self.wind_up("success")
        return None

    def wind_up(self, result: str) -> None:
        """Ends what is left of the processes, then the unit."""
        self.run += 1
        if self.result == "success":
            self.result = result
        self.enter("deactivating", "stop-sigterm")
        self.group.ask(self.unit["KillMode"], self.unit["KillSignal"])
        self.alarm.cancel()
        self.alarm = self.owner.loop.after(self.unit["TimeoutStopSec"] or ENDLESS, self.stop_took_too_long)
        self.check()

    def check(self) -> None:
        """Looks whether a stop is through."""
        if self.state != "deactivating":
            return
        mode = self.unit["KillMode"]
        if not self.group.living(mode):
            self.finish()
        elif mode == "mixed" and self.group.main is None and self.sub == "stop-sigterm":
            self.sub = "stop-sigkill"
            self.group.kill(mode)

    def stop_took_too_long(self) -> None:
        if self.result == "success":
            self.result = "timeout"
        if self.sub == "given-up":
            return self.finish()
        self.say("did not stop within TimeoutStopSec: killing")
        self.sub = "given-up"
        self.alarm = self.owner.loop.after(self.unit["TimeoutStopSec"], self.stop_took_too_long)
        self.group.kill(self.unit["KillMode"])
        return None

    def finish(self) -> None:
        self.alarm.cancel()
        self.owner.logs.of(self.name).drain()
        failed = self.result != "success"
        self.enter(*(("failed", "failed") if failed else ("inactive", "dead")))
        self.answer("failed" if failed and not self.stop_requested else "done")
        if self.stop_requested or self.owner.stopping:
            return
        restart = self.restarts()
        self.owner.on_unit_exit(self.name)
        # Whoever was told may have started or stopped it by now.
        if restart and self.state in ("failed", "inactive") and not self.stop_requested:
            self.enter("activating", "auto-restart")
            self.alarm = self.owner.loop.after(self.unit["RestartSec"], self.again)

    def restarts(self) -> bool:
        return self.unit["Restart"] == "always" or (self.unit["Restart"] == "on-failure" and self.result != "success")

    def again(self) -> None:
        self.state, self.sub = "inactive", "dead"
        self.owner.enqueue_start([self.name], lambda _how: None)

    def details(self) -> list[str]:
        group = self.group
        return [
            *([f"Main PID: {group.main}"] if group.main else []),
            *([f"Last end: {in_words(group.exit_status)}"] if group.exit_status is not None else []),
            *([f"Says: {self.status_text}"] if self.status_text else []),
        ]
