"""The one policy that all tunnels of a fleet have, in the words of each side.

It is legal on AWS, Azure and strongSwan. One value for each field: of several AWS takes the lowest, whatever the order
("Tunnel options for your Site-to-Site VPN connection").
"""

from typing import NamedTuple


class Suite(NamedTuple):
    """How one phase protects what it carries; `swan` is strongSwan's proposal of the same."""

    encryption: str
    integrity: str
    dh_group: int
    swan: str


IKE = Suite("AES256", "SHA2-256", 20, "aes256-sha256-ecp384")
# GCM protects by itself; AWS wants the field none the less.
ESP = Suite("AES256-GCM-16", "SHA2-256", 20, "aes256gcm16-ecp384")
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
