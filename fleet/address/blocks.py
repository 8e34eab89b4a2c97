"""IPv4 prefixes as pairs of ints, and an allocator over them.

Ints, because 10,000 allocations with `ipaddress` objects take seconds (see bench/address_plan.py).
"""

import heapq
import socket
from collections.abc import Iterable
from typing import NamedTuple


class Block(NamedTuple):
    """An aligned IPv4 prefix: first address as an int, and length in bits (0 to 32)."""

    start: int
    length: int

    @property
    def end(self) -> int:
        """First address behind the block."""
        return self.start + (1 << (32 - self.length))

    @property
    def addresses(self) -> int:
        return 1 << (32 - self.length)

    def __str__(self) -> str:
        return f"{socket.inet_ntoa(self.start.to_bytes(4))}/{self.length}"

    def holds(self, other: "Block") -> bool:
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: "Block") -> bool:
        return self.start < other.end and other.start < self.end

    def child(self, index: int, length: int) -> "Block":
        """The block's `index`-th part of the given length, counted from its first address."""
        return Block(self.start + (index << (32 - length)), length)


def address_to_int(address: str) -> int:
    """'10.0.0.1' → 167772161. Raises ValueError for anything but four decimal parts."""
    parts = address.split(".")
    if len(parts) != 4 or not all(part.isdigit() and int(part) < 256 and part == str(int(part)) for part in parts):
        raise ValueError(f"{address!r} is not an IPv4 address")
    return int.from_bytes(socket.inet_aton(address))


def parse(cidr: str) -> Block:
    """'10.0.0.0/8' → Block. Raises ValueError that names the right network when host bits are set."""
    address, slash, length = cidr.partition("/")
    if not slash or not length.isdigit() or int(length) > 32:
        raise ValueError(f"{cidr!r} is not an IPv4 prefix")
    start, bits = address_to_int(address), int(length)
    network = start >> (32 - bits) << (32 - bits) if bits else 0
    if network != start:
        raise ValueError(f"{cidr} is not a network address: the prefix that holds it is {Block(network, bits)}")
    return Block(start, bits)


def overlaps(named: Iterable[tuple[str, Block]]) -> list[tuple[str, str]]:
    """Pairs of names whose blocks share an address; sorting makes neighbours of all overlaps of aligned blocks."""
    found: list[tuple[str, str]] = []
    stack: list[tuple[int, str]] = []
    for name, (start, length) in sorted(named, key=_by_start_then_size):
        while stack and stack[-1][0] <= start:
            stack.pop()
        if stack:
            found.append((stack[-1][1], name))
        stack.append((start + (1 << (32 - length)), name))
    return found


def _by_start_then_size(item: tuple[str, Block]) -> Block:
    return item[1]


class Pool:
    """Free space of one prefix. Takes the smallest hole that fits and in it the lowest address."""

    def __init__(self, root: Block) -> None:
        self.root = root
        # One heap of start addresses a length; the set is the truth, heaps may hold stale entries.
        self._heaps: list[list[int]] = [[] for _ in range(33)]
        self._free: set[Block] = set()
        self._add(root)

    def _add(self, block: Block) -> None:
        self._free.add(block)
        heapq.heappush(self._heaps[block.length], block.start)

    def carve(self, taken: Block) -> None:
        """Take out whatever part of `taken` is free; used for live, pinned, resting and reserved prefixes."""
        if self.root.holds(taken):
            for length in range(taken.length, self.root.length - 1, -1):
                holder = Block(taken.start >> (32 - length) << (32 - length) if length else 0, length)
                if holder in self._free:
                    self._free.remove(holder)
                    self._split(holder, taken)
                    return
        for block in [block for block in self._free if taken.holds(block)]:
            self._free.remove(block)

    def _split(self, holder: Block, taken: Block) -> None:
        for length in range(holder.length + 1, taken.length + 1):
            bit = 1 << (32 - length)
            inside = taken.start >> (32 - length) << (32 - length)
            self._add(Block(inside ^ bit, length))

    def take(self, length: int) -> Block | None:
        """The smallest free block of at least this size, cut down to it; None when there is none."""
        for size in range(length, self.root.length - 1, -1):
            heap = self._heaps[size]
            while heap:
                start = heapq.heappop(heap)
                if (block := Block(start, size)) in self._free:
                    self._free.remove(block)
                    taken = Block(start, length)
                    self._split(block, taken)
                    return taken
        return None

    @property
    def free_addresses(self) -> int:
        return sum(block.addresses for block in self._free)
