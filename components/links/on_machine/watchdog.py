"""Leads traffic off a tunnel that has fallen silent, seconds later instead of half a minute.

The far side still sends into it: BGP's longest prefix wins there, so the tunnels that are left tell the halves of the
site's block besides the whole. Nothing is written to FRR's file: a gateway that starts anew has left no tunnel.
"""

import json
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence, Set
from pathlib import Path as File
from typing import Any, NamedTuple

from failover import DRAW_SECONDS, NOTHING, Memory, Path, drawn, reached, step
from partner import Partner

SETTINGS = File("/etc/landbridge/gateway.json")
DEVICES = File("/sys/class/net")
ASK_SECONDS, POLL_SECONDS, BELIEVED_SECONDS, VTYSH_SECONDS = 0.5, 0.25, 0.5, 5.0
# Of a pair, while all is well: the other gateway has to know when FRR falls.
CALM_SECONDS = 1.0
MOST_BYTES = 2048
# Class selector 6, as BGP's own packets: a full tunnel drops them last.
CONTROL = 0xC0
ECHO_REQUEST, ECHO_REPLY, ECHO_ID = 8, 0, 0x1B
IP_PKTINFO = 8
# Nobody says whether its ends answer: one that has not yet is no silent one.
SHY = "azure"


class Tunnel(NamedTuple):
    """`peer` is the hub's address inside, `source` the gateway's where that is not the device's own."""

    name: str
    region: str
    device: str
    peer: str
    cloud: str = "aws"
    source: str = ""
    draw_seconds: float = DRAW_SECONDS


class Gateway(NamedTuple):
    """`usual` and `drawing` are FRR's lists of what is told by tunnels, and by those that shall draw all traffic.

    `pair` has the gateway's `own` address in the LAN and its `partner`'s, where it has one.
    """

    asn: int
    usual: str
    drawing: str
    tunnels: tuple[Tunnel, ...]
    pair: Mapping[str, str] | None = None


def read(file: File) -> Gateway:
    told = json.loads(file.read_text())
    tunnels = tuple(Tunnel(**one) for one in told.pop("tunnels"))
    return Gateway(**told, tunnels=tunnels)


def say(text: str) -> None:
    sys.stderr.write(f"watchdog: {text}\n")


def vtysh(*lines: str) -> str:
    """Raises OSError, subprocess.SubprocessError."""
    words = [word for line in lines for word in ("-c", line)]
    done = subprocess.run(["vtysh", *words], capture_output=True, text=True, timeout=VTYSH_SECONDS, check=True)
    return done.stdout


def believed(gateway: Gateway) -> set[str]:
    """The tunnels whose session BGP takes for established. Raises OSError, SubprocessError, ValueError."""
    told: dict[str, Any] = json.loads(vtysh("show bgp ipv4 unicast summary json") or "{}")
    states = {peer: about.get("state") for peer, about in told.get("peers", {}).items()}
    return {one.name for one in gateway.tunnels if states.get(one.peer) == "Established"}


def commands(gateway: Gateway, left: Mapping[str, object], drawn: Set[str]) -> list[str]:
    """All that is to be so now, whatever was before; `drawn` are regions."""
    lines = ["configure terminal", f"router bgp {gateway.asn}"]
    lines += [f"{'' if one.name in left else 'no '}neighbor {one.peer} shutdown" for one in gateway.tunnels]
    lines.append("address-family ipv4 unicast")
    for one in gateway.tunnels:
        told = gateway.drawing if one.region in drawn and one.name not in left else gateway.usual
        lines.append(f"neighbor {one.peer} prefix-list {told} out")
    return [*lines, "end"]


def received(device: str) -> int | None:
    """Packets that came out of a tunnel so far; None while it has no interface."""
    try:
        return int((DEVICES / device / "statistics/rx_packets").read_text())
    except (OSError, ValueError):
        return None


def echo(number: int) -> bytes:
    """A question of ICMP (RFC 792). An answer counts by the interface's counter, as all that comes does."""
    head = struct.pack("!BBHHH", ECHO_REQUEST, 0, 0, ECHO_ID, number & 0xFFFF)
    total = sum(struct.unpack("!4H", head))
    total = (total & 0xFFFF) + (total >> 16)
    return head[:2] + struct.pack("!H", ~total & 0xFFFF) + head[4:]


def is_answer(packet: bytes) -> bool:
    """Of what a raw socket hears, with IPv4's head."""
    at = (packet[0] & 0xF) * 4 if packet else 0
    return packet[at : at + 1] == bytes([ECHO_REPLY]) and packet[at + 4 : at + 6] == ECHO_ID.to_bytes(2)


def _from(source: str) -> list[tuple[int, int, bytes]]:
    """Has a packet leave from an address that is not its device's: Azure answers to none that it does not know."""
    if not source:
        return []
    return [(socket.IPPROTO_IP, IP_PKTINFO, struct.pack("=I4s4s", 0, socket.inet_aton(source), bytes(4)))]


class Watch:
    """What is known of each tunnel from turn to turn."""

    def __init__(self, gateway: Gateway, asking: socket.socket, hearing: socket.socket | None = None) -> None:
        self.gateway, self.memory = gateway, NOTHING
        self.drawn: Set[str] = frozenset()
        draws = {one.region: one.draw_seconds for one in gateway.tunnels}
        self.partner = Partner(gateway.pair["own"], gateway.pair["partner"], draws) if gateway.pair else None
        self.counts: dict[str, int] = {}
        self.heard: dict[str, float] = {}
        self.answers: set[str] = set()
        self.asked, self.number = 0.0, 0
        self.believed, self.believed_at = set[str](), -BELIEVED_SECONDS
        self.socket = asking
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, CONTROL)
        self.hearing = hearing

    def poll_once(self, now: float) -> None:
        """Raises what `believed` raises, and then nothing has changed."""
        self.look(now)
        self.hear()
        if now - self.asked >= ASK_SECONDS:
            self.asked, self.number = now, self.number + 1
            self.ask(self.gateway.tunnels)
        try:
            paths = self.paths(now)
        except (OSError, subprocess.SubprocessError, ValueError):
            if self.partner:
                self.partner.exchange(frozenset(), now)
            raise
        memory = step(paths, self.memory, now)
        draws: Set[str] = drawn(paths, memory, now)
        if self.partner:
            draws |= self.partner.exchange(reached(paths, memory, now), now)
        self.decide(memory, draws)

    def paths(self, now: float) -> list[Path]:
        """FRR is asked only where its answer decides."""
        found = [
            Path(
                one.name,
                one.region,
                self.heard.get(one.name),
                believed=True,
                draw_seconds=one.draw_seconds,
                answers=one.cloud != SHY or one.peer in self.answers,
            )
            for one in self.gateway.tunnels
        ]
        troubled = self.memory.left or any(path.heard is not None and not path.speaks(now) for path in found)
        if not troubled and not self.partner:
            return found
        if now - self.believed_at >= (BELIEVED_SECONDS if troubled else CALM_SECONDS):
            self.believed, self.believed_at = believed(self.gateway), now
        return [path._replace(believed=path.name in self.believed) for path in found]

    def look(self, now: float) -> None:
        for one in self.gateway.tunnels:
            count = received(one.device)
            if count is None:
                continue
            if count > self.counts.get(one.name, count):
                self.heard[one.name] = now
            self.counts[one.name] = count

    def hear(self) -> None:
        """Who answers. Another socket than that which asks, which is one tunnel's at a time."""
        shy = {one.peer for one in self.gateway.tunnels if one.cloud == SHY}
        while self.hearing and shy - self.answers:
            try:
                packet, (who, _) = self.hearing.recvfrom(MOST_BYTES)
            except OSError:
                return
            if who in shy and is_answer(packet):
                self.answers.add(who)

    def ask(self, tunnels: Sequence[Tunnel]) -> None:
        for one in tunnels:
            try:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, one.device.encode() + b"\0")
                self.socket.sendmsg([echo(self.number)], _from(one.source), 0, (one.peer, 0))
            except OSError:
                # Silence says the same.
                continue

    def decide(self, after: Memory, draws: Set[str]) -> None:
        if after.left.keys() != self.memory.left.keys() or draws != self.drawn:
            vtysh(*commands(self.gateway, after.left, draws))
            for name in sorted(after.left.keys() - self.memory.left.keys()):
                say(f"{name} is silent: its traffic takes the region's other tunnels")
            for name in sorted(self.memory.left.keys() - after.left.keys()):
                say(f"{name} is taken again")
            for region in sorted(draws - self.drawn):
                say(f"all traffic of {region} is drawn here for a while")
        self.memory, self.drawn = after, draws


def main() -> None:
    gateway = read(SETTINGS)
    asking, hearing = (socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) for _ in range(2))
    hearing.settimeout(0)
    watch = Watch(gateway, asking, hearing)
    troubled = ""
    begun = False
    while True:
        try:
            if not begun:
                vtysh(*commands(gateway, {}, frozenset()))
                begun = True
            watch.poll_once(time.monotonic())
            troubled = ""
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            if troubled != str(error):
                say(f"FRR can't be asked or told: {error}")
            troubled = str(error)
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    main()
