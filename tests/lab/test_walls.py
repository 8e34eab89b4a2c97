"""What the plan does not join stays apart: each try is made against the rendered firewall, and again without it.

The second one is the proof that the firewall is what stopped the first.
"""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from components.links.gateway import firewall

from . import traffic
from .lab import UPLINK, Lab
from .machines import Machine

# The stranger is the internet, by its own address.
UNPLANNED, STRANGER = "10.200.0.1", UPLINK


class Try(NamedTuple):
    """Knocks from a machine's address. `at` is where it must not arrive; past its filters if that is the gateway."""

    of: Machine
    source: str
    target: str
    at: Machine
    kind: str = "udp"
    port: int = 7007
    # A way that nobody has planned: device of the gateway by which the target is led.
    device: str = ""


class Where:
    """The lab's parts in short; `west` is the region that is tried, `east` another."""

    def __init__(self, lab: Lab) -> None:
        self.site, self.gateway, self.internet = lab.host, lab.gateway.machine, lab.internet
        self.west, self.west_hub = lab.hubs["us-west-2"].host, lab.hubs["us-west-2"].machine
        self.west_device = lab.ends("us-west-2")[0].device
        self.site_address, self.gateway_lan = lab.addresses(lab.lan)[0], str(lab.lan[1])
        self.gateway_inside = lab.ends("us-west-2")[0].tunnel.gateway_address
        self.gateway_outside = lab.spec.address
        self.west_address = lab.addresses(lab.networks["us-west-2"])[0]
        self.east_address = lab.addresses(lab.networks["us-east-1"])[0]


# What is tried → how.
TRIES: dict[str, Callable[[Where], Try]] = {
    "site to a region by another one's tunnel": lambda w: Try(
        w.site, w.site_address, w.east_address, w.west_hub, device=w.west_device
    ),
    "site to a region from an unplanned address": lambda w: Try(w.site, UNPLANNED, w.west_address, w.west_hub),
    "region to the site from another region's address": lambda w: Try(w.west, w.east_address, w.site_address, w.site),
    "region to the site from an unplanned address": lambda w: Try(w.west, UNPLANNED, w.site_address, w.site),
    "region to the internet through the site": lambda w: Try(w.west, w.west_address, STRANGER, w.internet),
    "region to a port of the gateway": lambda w: Try(w.west, w.west_address, w.gateway_lan, w.gateway),
    "region to the gateway's ssh": lambda w: Try(w.west, w.west_address, w.gateway_lan, w.gateway, "tcp", 22),
    "region to the gateway's BGP": lambda w: Try(w.west, w.west_address, w.gateway_inside, w.gateway, "tcp", 179),
    "site to the gateway's BGP": lambda w: Try(w.site, w.site_address, w.gateway_lan, w.gateway, "tcp", 179),
    "a stranger to IKE": lambda w: Try(w.internet, STRANGER, w.gateway_outside, w.gateway, "udp", 500),
    "a stranger to IKE behind NAT": lambda w: Try(w.internet, STRANGER, w.gateway_outside, w.gateway, "udp", 4500),
    "a stranger to BGP": lambda w: Try(w.internet, STRANGER, w.gateway_outside, w.gateway, "tcp", 179),
}


def arrived(lab: Lab, one: Try) -> int:
    """Packets of a try that came through."""
    match = f"ip saddr {one.source} ip daddr {one.target} {one.kind} dport {one.port}"
    with traffic.Witness(one.at, match, past_filters=one.at is lab.gateway.machine) as witness:
        traffic.knock(one.of, one.kind, one.source, one.target, one.port)
        return witness.packets()


@pytest.mark.parametrize("what", TRIES)
def test_what_the_plan_does_not_join_stays_apart(lab: Lab, what: str) -> None:
    one, gateway = TRIES[what](Where(lab)), lab.gateway.machine
    undo: list[tuple[Machine, str]] = []
    if one.source not in one.of.run("ip", "-4", "addr"):
        one.of.ip(f"addr add {one.source}/32 dev lo")
        undo.append((one.of, f"addr del {one.source}/32 dev lo"))
    # The hub of a region leads to the site only.
    led = [(gateway, one.target, one.device)] if one.device else []
    if one.at is lab.internet:
        led.append((Where(lab).west_hub, one.target, "tun1"))
    for machine, target, device in led:
        machine.ip(f"route add {target}/32 dev {device}")
        undo.append((machine, f"route del {target}/32 dev {device}"))
    try:
        stopped = arrived(lab, one)
        gateway.nft("delete table inet landbridge")
        passed = arrived(lab, one)
    finally:
        gateway.run("nft", "-f", firewall.CONFIG)
        for machine, line in undo:
            machine.ip(line)
    assert stopped == 0
    assert passed > 0, "it does not come through without the firewall either: the try proves nothing"
