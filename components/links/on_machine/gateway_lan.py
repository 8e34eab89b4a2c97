"""Tells keepalived which device is the LAN's: that which has the gateway's address there. Before each start of it.

With a gateway's folder behind it, only says whether this machine could be that gateway.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SETTINGS = "etc/landbridge/gateway.json"
DEVICE, CARRIES = Path("/run/landbridge/lan.conf"), Path("/run/landbridge/carries")
ADDRESSES = ("ip", "-json", "-4", "address")


def devices(told: str) -> dict[str, str]:
    """Device by address, of what `ip -json` says."""
    found = {}
    for device in json.loads(told or "[]"):
        for one in device.get("addr_info", ()):
            found[str(one["local"])] = str(device["ifname"])
    return found


def wrong(pair: Mapping[str, Any], by_address: Mapping[str, str]) -> str:
    """Why the machine can't be this one of the pair; empty if it can."""
    if pair["own"] in by_address:
        return ""
    length = pair["lan_cidr"].partition("/")[2]
    return f"no device has {pair['own']}: give it to the LAN's card, as {pair['own']}/{length}"


def main(folder: str = "") -> int:
    pair = json.loads((Path(folder or "/") / SETTINGS).read_text())["pair"]
    by_address = devices(subprocess.run(ADDRESSES, stdout=subprocess.PIPE, text=True, timeout=10, check=True).stdout)
    if why := wrong(pair, by_address):
        sys.stderr.write(f"{why}\n")
        return 1
    if folder:
        return 0
    DEVICE.parent.mkdir(parents=True, exist_ok=True)
    DEVICE.write_text(f"$LAN={by_address[pair['own']]}\n")
    if not CARRIES.exists():
        CARRIES.write_text("0\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
