"""Azure's internal balancers: asks machines behind them if they are well, and has routers send to those that are."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

from local.machines.network import NetworkError, run
from local.network.routers import PLATFORM
from local.network.spread import ruleset

from ..health_checks import Check

SECONDS = 10.0


class Spread:
    """All of them; `through` gives what runs a command at a router. Health has a thread with a loop of its own."""

    def __init__(self, through: Callable[[str], Sequence[str]], log: Callable[[str], None]) -> None:
        self.through, self.log = through, log
        self.rules: list[dict[str, Any]] = []
        self.checks: dict[tuple[str, str], Check] = {}
        self.laid: set[str] = set()
        self.lock = threading.Lock()
        self.again: set[asyncio.Task[None]] = set()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, name="spread", daemon=True).start()

    def update(self, rules: list[dict[str, Any]], networks: set[str]) -> None:
        """Has them as they are told, at those of `networks`, whose routers are there. Raises NetworkError."""
        try:
            asyncio.run_coroutine_threadsafe(self.take(rules), self.loop).result(SECONDS)
        except TimeoutError:
            raise NetworkError(f"its own thread did not answer within {SECONDS:.0f} s") from None
        wanted = {one["network"] for one in rules}
        for network in sorted((wanted | self.laid) & networks):
            self.lay(network)
        self.laid = wanted & networks

    async def take(self, rules: list[dict[str, Any]]) -> None:
        """A check for each machine behind each rule that has a probe."""
        self.rules = rules
        wanted = {(one["id"], to["id"]): (one["check"], to) for one in rules if one["check"] for to in one["targets"]}
        for key, check in list(self.checks.items()):
            if wanted.get(key) != (check.settings, check.target):
                self.checks.pop(key).task.cancel()
        for key, (told_check, target) in wanted.items():
            if key not in self.checks:
                turned = lambda key=key: self.turned(key)  # noqa: E731
                # Azure asks from its platform's address, as whatever stands before a machine may know.
                self.checks[key] = Check(told_check, target, PLATFORM, turned)

    def turned(self, key: tuple[str, str]) -> None:
        check = self.checks.get(key)
        if check is None:
            return
        state, _, why = check.status
        name = "/".join(key[0].split("/")[-3::2])
        self.log(f"{check.target['address']} behind {name} is {state}{f': {why}' if why else ''}")
        for network in {one["network"] for one in self.rules if one["id"] == key[0]}:
            task = self.loop.create_task(asyncio.to_thread(self.attempt, network))
            # A loop alone does not keep a task.
            self.again.add(task)
            task.add_done_callback(self.again.discard)

    def attempt(self, network: str) -> None:
        try:
            self.lay(network)
        except NetworkError as error:  # it goes, or comes: the next change tries again
            self.log(f"balancers: {error}")

    def lay(self, network: str) -> None:
        """Raises NetworkError."""
        with self.lock:
            mine = [{**one, "to": self.well(one)} for one in self.rules if one["network"] == network]
            run([*self.through(network), "nft", "-f", "-"], ruleset(mine))

    def well(self, one: dict[str, Any]) -> list[tuple[str, int]]:
        """To whom a rule sends: those that are well. Where nobody is, nobody, unless its probe wants it otherwise."""
        ends = [(to["address"], to["port"]) for to in one["targets"]]
        if one["check"] is None:
            return ends
        checks = [self.checks.get((one["id"], to["id"])) for to in one["targets"]]
        found = [end for end, check in zip(ends, checks, strict=True) if check and check.healthy]
        return found or (ends if one["sick_too"] else [])
