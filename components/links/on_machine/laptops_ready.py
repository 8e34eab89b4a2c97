"""Waits until OpenVPN has what it needs, and says what is missing. Makes its folders."""

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from machine import say, settings

PROGRAM, TUN = Path("/usr/sbin/openvpn"), Path("/dev/net/tun")
LEAST = (2, 6)
PAUSE_SECONDS = 2.0
VERSION = re.compile(r"OpenVPN (\d+)\.(\d+)")


def version(text: str) -> tuple[int, int]:
    found = VERSION.search(text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def missing(told: Any) -> Iterator[str]:
    if not PROGRAM.exists():
        yield f"{PROGRAM} is missing: the image has no package openvpn"
    else:
        # Its exit status for this is 1 in some versions.
        said = subprocess.run([str(PROGRAM), "--version"], capture_output=True, text=True, check=False).stdout
        if version(said) < LEAST:
            yield f"OpenVPN {'.'.join(map(str, version(said)))} is too old: the image must have {LEAST[0]}.{LEAST[1]}"
    if not TUN.exists():
        yield f"{TUN} is missing: this machine can't have tunnels"
    if not Path(told["revoked"]).exists():
        yield "there is no list of revoked certificates yet: the first `landbridge vpn add` makes it"


def main() -> None:
    told = settings("laptops")
    # The folder of the socket by which sessions are ended is root's alone.
    for path, mode in ((Path(str(told["management"])).parent, 0o700), (Path(str(told["revoked"])).parent, 0o755)):
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(mode)
    said: list[str] = []
    while found := list(missing(told)):
        for what in found:
            if what not in said:
                say(f"waits: {what}")
        said = found
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    main()
