"""Internal network load balancers: TCP proxies on their addresses, which send to healthy targets.

Where none is healthy they send to all that they may (NLB user guide: "Target group health", routing failover below one
healthy target). The client's address is not kept: targets see the balancer's.
"""

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Callable
from typing import Any

from local.machines import network

from .health_checks import Check, Status

CONNECT_SECONDS = 3.0
CHUNK = 1 << 16
Tell = Callable[[str, Any], None]


class Balancers:
    """All of them, in a thread with a loop of its own."""

    def __init__(self, tell: Tell, log: Callable[[str], None]) -> None:
        self.tell, self.log = tell, log
        self.loop = asyncio.new_event_loop()
        self.checks: dict[tuple[str, str, int], Check] = {}
        self.listeners: dict[tuple[str, int], Listener] = {}
        self.groups: dict[str, Any] = {}
        self.addresses: set[str] = set()
        self.reported: dict[str, dict[str, Status]] = {}
        self.dirty = asyncio.Event()
        threading.Thread(target=self.run, name="balancers", daemon=True).start()

    def run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.create_task(self.report())
        self.loop.run_forever()

    def update(self, balancers: list[dict[str, Any]], groups: dict[str, Any]) -> None:
        """Has them as they are told; returns when their addresses answer. Raises NetworkError."""
        addresses = {address for one in balancers for _, address in one["places"]}
        for address in addresses - self.addresses:
            network.hold(address)
        for address in self.addresses - addresses:
            network.let_go(address)
        self.addresses = addresses
        asyncio.run_coroutine_threadsafe(self.take(balancers, groups), self.loop).result(10)

    def tell_again(self) -> None:
        """The local AWS hears of every target's health once more."""

        def again() -> None:
            self.reported = {}
            self.dirty.set()

        self.loop.call_soon_threadsafe(again)

    async def take(self, balancers: list[dict[str, Any]], groups: dict[str, Any]) -> None:
        self.groups = groups
        used: dict[str, str] = {}
        listeners: dict[tuple[str, int], tuple[dict[str, Any], str, str]] = {}
        for one in balancers:
            for port, protocol, group in one["listeners"]:
                if group in groups and protocol == "TCP" and one["places"]:
                    used.setdefault(group, one["places"][0][1])
                    for zone, address in one["places"]:
                        listeners[address, port] = (one, zone, group)
        self.check(used)
        for place in [place for place in self.listeners if place not in listeners]:
            await self.listeners.pop(place).close()
        for place, (one, zone, group) in listeners.items():
            if place not in self.listeners:
                self.listeners[place] = Listener(self, place)
                await self.listeners[place].open()
            self.listeners[place].leads(zone, group, cross_zone=one["cross_zone"])

    def check(self, used: dict[str, str]) -> None:
        """A check for each target of each group that a balancer uses; none for others."""
        wanted = {
            (arn, target["id"], target["port"]): (self.groups[arn]["check"], target, source)
            for arn, source in used.items()
            for target in self.groups[arn]["targets"]
        }
        now = {key: (check.settings, check.target, check.source) for key, check in self.checks.items()}
        for key in [key for key in now if wanted.get(key) != now[key]]:
            self.checks.pop(key).task.cancel()
        for key, (settings, target, source) in wanted.items():
            if key not in self.checks:
                self.checks[key] = Check(settings, target, source, lambda key=key: self.turned(key))  # type: ignore[misc]
        self.dirty.set()

    def turned(self, key: tuple[str, str, int]) -> None:
        check = self.checks.get(key)
        if check and not check.healthy:
            # "…sends a TCP RST …, unless the unhealthy target triggers the load balancer to fail open."
            for listener in self.listeners.values():
                if listener.group == key[0] and check.target not in listener.targets():
                    listener.drop(check.target["address"], check.target["port"])
        if check:
            arn, id_, port = key
            state, _, why = check.status
            self.log(f"target {id_}:{port} of {arn.split('/')[1]} is {state}{f': {why}' if why else ''}")
        self.dirty.set()

    async def report(self) -> None:
        """Tells the local AWS whenever a target's health has changed."""
        while True:
            await self.dirty.wait()
            self.dirty.clear()
            health: dict[str, dict[str, Status]] = {arn: {} for arn in self.groups}
            for (arn, id_, _), check in self.checks.items():
                health.setdefault(arn, {})[id_] = check.status
            if health != self.reported:
                self.reported = health
                await asyncio.to_thread(self.tell, "health", health)

    def targets(self, group: str, zone: str, *, cross_zone: bool) -> list[dict[str, Any]]:
        """Which this zone's part of a balancer sends to: healthy ones, and all in its reach where none of them is."""
        near = [
            check
            for (arn, _, _), check in self.checks.items()
            if arn == group and (cross_zone or check.target["zone"] in (zone, "all", None))
        ]
        return [check.target for check in near if check.healthy] or [check.target for check in near]


class Listener:
    """One address and port of a balancer."""

    def __init__(self, owner: Balancers, place: tuple[str, int]) -> None:
        self.owner, self.place = owner, place
        self.server: asyncio.Server | None = None
        self.zone = self.group = ""
        self.cross_zone = False
        self.counter = itertools.count()
        self.open_ones: dict[asyncio.StreamWriter, tuple[str, int]] = {}

    def leads(self, zone: str, group: str, *, cross_zone: bool) -> None:
        self.zone, self.group, self.cross_zone = zone, group, cross_zone

    def targets(self) -> list[dict[str, Any]]:
        return self.owner.targets(self.group, self.zone, cross_zone=self.cross_zone)

    async def open(self) -> None:
        try:
            self.server = await asyncio.start_server(self.serve, *self.place, limit=CHUNK)
        except OSError as error:
            self.owner.log(f"balancer {self.place[0]}:{self.place[1]}: {error}")

    async def close(self) -> None:
        if self.server:
            self.server.close()
        for writer in list(self.open_ones):
            writer.transport.abort()

    def drop(self, address: str, port: int) -> None:
        """Ends the connections to a target that is well no more: their clients try again elsewhere."""
        for writer in [writer for writer, target in self.open_ones.items() if target == (address, port)]:
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        targets = self.targets()
        first = next(self.counter)
        for number in range(len(targets)):
            target = targets[(first + number) % len(targets)]
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(CONNECT_SECONDS):
                    there = await asyncio.open_connection(
                        target["address"], target["port"], limit=CHUNK, local_addr=(self.place[0], 0)
                    )
                return await self.join((reader, writer), there, (target["address"], target["port"]))
        writer.transport.abort()
        return None

    async def join(self, here: Any, there: Any, target: tuple[str, int]) -> None:
        for _, writer in (here, there):
            self.open_ones[writer] = target
        try:
            await asyncio.gather(carry(here[0], there[1]), carry(there[0], here[1]))
        finally:
            for _, writer in (here, there):
                self.open_ones.pop(writer, None)
                writer.transport.abort()


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One direction, with its end."""
    try:
        while chunk := await reader.read(CHUNK):
            writer.write(chunk)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except OSError:
        writer.transport.abort()
