"""The other gateway of a site's pair: each says to the other twice a second which regions it reaches.

A gateway that dies, or reaches a region no more, is still believed by the hub's BGP for half a minute. The other one
tells the halves of the site's block meanwhile, as a tunnel does for its neighbour, and draws all traffic.
"""

import socket
from collections.abc import Mapping, Set
from pathlib import Path
from typing import NamedTuple

from failover import DRAW_SECONDS, SILENT_SECONDS

PORT = 7179
# How many regions the gateway reaches, for keepalived.
CARRIES = Path("/run/landbridge/carries")
SAY_SECONDS = 0.5
MOST_BYTES = 4096
# Class selector 6, as BGP's own packets.
CONTROL = 0xC0


class Known(NamedTuple):
    """`reached` are the regions that the partner reached when last looked at; `drawn` are regions, and until when."""

    reached: frozenset[str] = frozenset()
    drawn: Mapping[str, float] = {}


def step(known: Known, reached: Set[str], now: float, draws: Mapping[str, float] | None = None) -> Known:
    """After a word of the partner, or its silence: it reaches nothing then. What it loses is drawn for a while.

    `draws` are how many seconds, by region, where these are not DRAW_SECONDS.
    """
    drawn = {region: until for region, until in known.drawn.items() if now < until}
    drawn |= {region: now + (draws or {}).get(region, DRAW_SECONDS) for region in known.reached - reached}
    return Known(frozenset(reached), drawn)


class Partner:
    """Speaks with it from turn to turn. `own` and `address` are both gateways' in the LAN, `draws` as in `step`."""

    def __init__(self, own: str, address: str, draws: Mapping[str, float] | None = None) -> None:
        self.own, self.address, self.draws = own, address, draws
        self.known = Known()
        self.word: frozenset[str] = frozenset()
        self.heard, self.sent_at = -SILENT_SECONDS, -SAY_SECONDS
        self.sent: frozenset[str] = frozenset()
        self.carries = -1
        self._socket: socket.socket | None = None

    def exchange(self, reached: Set[str], now: float) -> Set[str]:
        """Says which regions this gateway reaches, and hears the other; those that are to be drawn. Raises OSError
        where keepalived can't be told.
        """
        self._note(len(reached))
        try:
            line = self._line()
            if now - self.sent_at >= SAY_SECONDS or reached != self.sent:
                self.sent_at, self.sent = now, frozenset(reached)
                line.sendto(" ".join(sorted(reached)).encode(), (self.address, PORT))
            self._hear(line, now)
        except OSError:
            # The LAN's card has no address yet, or nobody is there: silence says the same.
            self.close()
        there = self.word if now - self.heard < SILENT_SECONDS else frozenset()
        self.known = step(self.known, there, now, self.draws)
        return self.known.drawn.keys() & reached

    def _hear(self, line: socket.socket, now: float) -> None:
        while True:
            try:
                said, (who, _) = line.recvfrom(MOST_BYTES)
            except BlockingIOError:
                return
            if who == self.address:
                self.heard, self.word = now, frozenset(said.decode(errors="replace").split())

    def _line(self) -> socket.socket:
        if self._socket is None:
            made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, CONTROL)
                made.settimeout(0)
                made.bind((self.own, PORT))
            except OSError:
                made.close()
                raise
            self._socket = made
        return self._socket

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _note(self, count: int) -> None:
        if count != self.carries:
            CARRIES.parent.mkdir(parents=True, exist_ok=True)
            CARRIES.write_text(f"{count}\n")
            self.carries = count
