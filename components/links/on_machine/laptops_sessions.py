"""Sessions of an OpenVPN server, by its management socket: who is there, and how one is ended."""

import re
import socket
from collections.abc import Iterator

SECONDS = 5.0
LISTED = "CLIENT_LIST,"
KILLED = re.compile(r"SUCCESS: common name '.*' found, (\d+) client")


class Sessions:
    """One talk with the server. Raises OSError where nobody listens or nothing is answered."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(SECONDS)
        self.socket.connect(path)
        self.file = self.socket.makefile("r", newline="\n")

    def __enter__(self) -> "Sessions":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
        self.socket.close()

    def names(self) -> list[str]:
        """Common names of all that are connected."""
        return [line.split(",")[1] for line in self._asked("status 2") if line.startswith(LISTED)]

    def end(self, name: str) -> int:
        """Ends at once all sessions of a common name; the laptop is not asked. How many there were."""
        self.socket.sendall(f"kill {name}\n".encode())
        for line in self._lines():
            if found := KILLED.match(line):
                return int(found[1])
            if line.startswith("ERROR:"):  # it went by itself
                return 0
        raise OSError("the server ended the talk")

    def _asked(self, command: str) -> Iterator[str]:
        self.socket.sendall(f"{command}\n".encode())
        for line in self._lines():
            if line == "END":
                return
            yield line
        raise OSError("the server ended the talk")

    def _lines(self) -> Iterator[str]:
        """Less what the server tells unasked."""
        for line in self.file:
            if not line.startswith(">"):
                yield line.rstrip("\r\n")
