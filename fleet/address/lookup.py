"""Who owns an address: one sorted list of borders, so that a million questions take well under a second."""

import socket
from bisect import bisect_right
from collections.abc import Iterable, Mapping

from .blocks import Block, address_to_int


class Lookup:
    """The deepest named block that holds an address. Nested blocks are cut into disjoint stretches once."""

    def __init__(self, named: Mapping[str, Block]) -> None:
        self._borders: list[int] = [0]
        self._owners: list[str | None] = [None]
        stack: list[tuple[int, str]] = []
        for name, block in sorted(named.items(), key=lambda item: (item[1].start, item[1].length, item[0].count("/"))):
            self._close(stack, block.start)
            self._border(block.start, name)
            stack.append((block.end, name))
        self._close(stack, 1 << 32)

    def _close(self, stack: list[tuple[int, str]], until: int) -> None:
        while stack and stack[-1][0] <= until:
            end, _ = stack.pop()
            self._border(end, stack[-1][1] if stack else None)

    def _border(self, at: int, owner: str | None) -> None:
        if self._borders[-1] == at:
            self._owners[-1] = owner
        else:
            self._borders.append(at)
            self._owners.append(owner)

    def owner(self, address: str | int) -> str | None:
        """Name of the deepest prefix that holds the address. Raises ValueError for text that is no IPv4 address."""
        number = address if isinstance(address, int) else address_to_int(address)
        return self._owners[bisect_right(self._borders, number) - 1]

    def owners(self, addresses: Iterable[str]) -> list[str | None]:
        """Many at once. Raises OSError for text that is no IPv4 address of four parts."""
        borders, owners, to_bytes, to_int, ipv4 = (
            self._borders,
            self._owners,
            socket.inet_pton,
            int.from_bytes,
            socket.AF_INET,
        )
        return [owners[bisect_right(borders, to_int(to_bytes(ipv4, address))) - 1] for address in addresses]
