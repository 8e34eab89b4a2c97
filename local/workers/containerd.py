"""The containerd of local machines: its socket is there and says nothing. Containers do not run; kwok plays pods."""

import socket
import sys
import tomllib
from pathlib import Path

from .unit import notify, say

USAGE = "containerd --config=FILE"
VERSION = 3


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1 or not given[0].startswith("--config="):
        say(f"Local machines honour: {USAGE}")
        return 2
    try:
        serve(address(Path(given[0].partition("=")[2])))
    except (OSError, ValueError) as error:
        say(f"containerd: {error}")
    return 1


def address(config: Path) -> Path:
    """Raises OSError, ValueError."""
    settings = tomllib.loads(config.read_text())
    if settings.get("version") != VERSION:
        raise ValueError(f"{config} is of version {settings.get('version')}, not {VERSION}")
    return Path(settings["grpc"]["address"])


def serve(place: Path) -> None:
    """For ever: whoever calls is hung up on."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(place))
        place.chmod(0o660)
        listener.listen()
        notify("READY=1")
        while True:
            listener.accept()[0].close()
