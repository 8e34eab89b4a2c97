"""Begins tunnels that strongSwan has given up. A timer runs it.

With `keyingtries = 0` strongSwan tries for ever where nobody answers. Where the other end refused, a key or a proposal,
it tries once, and AWS's end (startup action `add`) never begins: the mistake is mended, and the tunnel stays down.
"""

import sys
from collections.abc import Iterable

import gateway_state
from gateway_state import Tunnel

TRY_SECONDS = 10


def given_up(tunnels: Iterable[Tunnel]) -> list[str]:
    """Names of those that nobody is at work on."""
    return [one.name for one in tunnels if one.device and not one.ike]


def main() -> int:
    try:
        state = gateway_state.look()
    except (OSError, ValueError, KeyError) as error:
        sys.stderr.write(f"no gateway is installed here: {error}\n")
        return 2
    for name in given_up(state.tunnels):
        _, why = gateway_state.asked("swanctl", "--initiate", "--child", name, "--timeout", str(TRY_SECONDS))
        sys.stdout.write(f"{name}: {why or 'begun again'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
