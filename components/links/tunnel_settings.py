"""The one policy that all tunnels of a fleet have, in the words of each side.

It is legal on AWS, Azure and strongSwan. One value for each field: of several AWS takes the lowest, whatever the order
("Tunnel options for your Site-to-Site VPN connection").
"""

from typing import NamedTuple

from fleet.model import Cloud


class Suite(NamedTuple):
    """How one phase protects what it carries; `swan` is strongSwan's proposal of the same."""

    encryption: str
    integrity: str
    dh_group: int
    swan: str


IKE = Suite("AES256", "SHA2-256", 20, "aes256-sha256-ecp384")
# GCM protects by itself; AWS wants the field none the less.
ESP = Suite("AES256-GCM-16", "SHA2-256", 20, "aes256gcm16-ecp384")
# Of a connection of Azure: all fields, or none counts, and then it takes nothing else. GCM protects by itself, and has
# to stand for both all the same ("Configure custom IPsec/IKE connection policies"). Its IKE keys last 28,800 s, which
# nobody can change. Lifetimes need not be the other end's; with Azure's own 27,000 s that end makes new ones first.
AZURE: dict[str, str | int] = {
    "ike_encryption": "AES256",
    "ike_integrity": "SHA256",
    "dh_group": "ECP384",
    "ipsec_encryption": "GCMAES256",
    "ipsec_integrity": "GCMAES256",
    "pfs_group": "ECP384",
    "sa_life_time_seconds": 27_000,
    "sa_data_size_kilobytes": 102_400_000,
}
# After these AWS ends a key's life. The site is the first to make a new one, well before.
IKE_SECONDS, ESP_SECONDS = 28_800, 3_600
IKE_REKEY_SECONDS, ESP_REKEY_SECONDS = 25_200, 3_000
# strongSwan's own 32 loses packets that ECMP brings out of order.
REPLAY_WINDOW = 1024
# A silent peer is given up after this delay and 2 + 2.8 + 3.9 + 5.5 s; strongSwan's own numbers make that 165 s.
DPD_SECONDS, RETRANSMIT_SECONDS, RETRANSMIT_BASE, RETRANSMIT_TRIES = 10, 2.0, 1.4, 3
# Below AWS's 1,438 behind NAT, and that of Azure; flannel takes 50 of it.
MTU = 1400
HELLO_SECONDS, HOLD_SECONDS = 10, 30


class Rules(NamedTuple):
    """What one cloud's ends want of a site's gateway, or tell it.

    `hold_seconds` is after how long a silent session ends there. `believed` is FRR's word behind the region's block,
    for which prefixes inside it count.
    """

    hello_seconds: int
    hold_seconds: int
    mss: int
    most_prefixes: int
    believed: str = ""


CLOUDS: dict[Cloud, Rules] = {
    # A transit gateway tells its region's block and nothing else.
    "aws": Rules(HELLO_SECONDS, HOLD_SECONDS, MTU - 40, 20),
    # Fixed timers, so a shorter hold would end the session before Azure's next word ("Troubleshoot BGP issues for Azure
    # VPN Gateway"). It wants segments of 1,350 bytes. It tells the network's prefixes, never the block, and passes on
    # what others tell it: every site's and every region's prefixes, which count as heard and are not believed.
    "azure": Rules(60, 180, 1350, 1000, "le 29"),
}
