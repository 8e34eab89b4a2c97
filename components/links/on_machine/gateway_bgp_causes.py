"""Why BGP does not speak with an instance of Azure's gateway that has its keys: what Azure asks of the other end.

It never begins a session on addresses of 169.254.0.0/16, it has such of 169.254.21.0 to 169.254.22.255 alone, and it
knows one address of this gateway ("About BGP and VPN Gateway").
"""

import re
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network

AZURE = "azure"
RANGES = (IPv4Network("169.254.21.0/24"), IPv4Network("169.254.22.0/24"))
CONFIG = ("vtysh", "-c", "show running-config")


def cause(told: Mapping[str, object], config: str) -> str:
    """Of a tunnel of gateway.json and FRR's running configuration; empty where nothing here is wrong, and for AWS's."""
    if told.get("cloud") != AZURE:
        return ""
    peer, source = str(told["peer"]), str(told["source"])
    lines = {match[1].strip() for match in re.finditer(rf"^ *neighbor {re.escape(peer)} (.*)$", config, re.MULTILINE)}
    if not lines:
        return ""
    speaks = next((line.split()[1] for line in lines if line.startswith("update-source ")), "")
    for address in (peer, speaks or source):
        if not _taken(address):
            return (
                f"{address} is none of Azure's for BGP, which are 169.254.21.0 to 169.254.22.255: write its files anew"
            )
    if "passive" in lines:
        return f"FRR waits for {peer} to begin (`neighbor {peer} passive`), and Azure never does: take that line away"
    if speaks != source:
        return (
            f"FRR speaks from {speaks or 'the tunnel'}, and Azure knows {source} alone: `neighbor {peer} update-source`"
        )
    return ""


def _taken(address: str) -> bool:
    try:
        return any(IPv4Address(address) in one for one in RANGES)
    except ValueError:
        return False
