"""Why a tunnel has no keys, from what strongSwan wrote of it: the words of strongSwan 5.9 and 6.0.

IKEv2 with pre-shared keys asks no clock, so a wrong one keeps no tunnel down. It is told all the same: what a machine
signs for the cloud is refused beyond five minutes, and no two logs fit.
"""

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Cause(NamedTuple):
    """`words` are any of those that a line of the log has, `what` is for people: what is wrong, and what to do."""

    words: tuple[str, ...]
    what: str


# The first that fits counts. An empty text: all is well again.
CAUSES = (
    Cause(("established between", "established with SPIs"), ""),
    Cause(
        ("AUTHENTICATION_FAILED", "MAC mismatched"),
        "the two ends have different keys: `landbridge site gateway` writes what the cloud has, to be installed again",
    ),
    Cause(
        ("NO_PROPOSAL_CHOSEN notify, no CHILD_SA", "no acceptable proposal found"),
        "the two ends agree on no encryption of traffic (ESP): compare esp_proposals with the tunnel's options",
    ),
    Cause(
        ("NO_PROPOSAL_CHOSEN", "received proposals unacceptable"),
        "the two ends agree on no encryption of keys (IKE): compare proposals with the tunnel's options",
    ),
    Cause(
        ("no shared key found", "no private key found"),
        "no key is loaded for it: `swanctl --load-creds`",
    ),
    Cause(
        ("giving up after",),
        "nothing comes back from the hub's address: UDP 500 and 4500 must pass, also in firewalls before this one",
    ),
)
LOG = ("journalctl", "--unit=strongswan", "--output=json", "--output-fields=MESSAGE,IKE_SA_NAME", "--lines=2000")
CLOCK = ("timedatectl", "show", "--property=NTPSynchronized", "--value")
WRONG_CLOCK = (
    "the clock follows no time server (`timedatectl`): what is signed here may be refused, and no two logs fit"
)


def causes(lines: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The newest cause by tunnel, of (tunnel, message) in the order of time; empty where all is well again."""
    found = {}
    for name, message in lines:
        for cause in CAUSES:
            if any(words in message for words in cause.words):
                found[name] = cause.what
                break
    return found


def of_journal(text: str) -> Iterator[tuple[str, str]]:
    """What `LOG` says: charon-systemd tells the journal which connection a line is about."""
    for line in text.splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict) and "IKE_SA_NAME" in told:
            yield str(told["IKE_SA_NAME"]), str(told.get("MESSAGE", ""))
