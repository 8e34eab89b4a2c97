"""The address plan against its rivals: 10,000 prefixes given and proven disjoint, and a million look-ups."""

import ipaddress
import itertools
import random
import socket
import time
from collections.abc import Callable

from netaddr import IPNetwork, IPSet

from fleet.address.blocks import Pool, overlaps, parse
from fleet.address.lookup import Lookup

PREFIXES, LOOKUPS = 10_000, 1_000_000
PAIRWISE = 400  # pairs grow with the square: this many are measured, and the rest is computed
GOAL_PLAN_SECONDS, GOAL_LOOKUP_SECONDS = 0.1, 1.0


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def ours() -> list[tuple[str, object]]:
    pool = Pool(parse("10.0.0.0/8"))
    blocks = [(str(n), pool.take(24 + n % 5)) for n in range(PREFIXES)]
    assert all(block for _, block in blocks)
    assert overlaps(blocks) == []  # type: ignore[arg-type]
    return blocks  # type: ignore[return-value]


def main() -> None:
    plan = min(timed(ours) for _ in range(5))
    blocks = ours()
    texts = [str(block) for _, block in blocks]
    networks = [ipaddress.ip_network(text) for text in texts]
    sample = networks[:PAIRWISE]
    pairs = timed(lambda: [a.overlaps(b) for a, b in itertools.combinations(sample, 2)])
    pairwise = pairs * (PREFIXES * (PREFIXES - 1)) / (PAIRWISE * (PAIRWISE - 1))

    def netaddr_set() -> None:
        assert IPSet(IPNetwork(text) for text in texts).size == sum(network.num_addresses for network in networks)

    netaddr = timed(netaddr_set)
    print(
        f"{PREFIXES:,} prefixes given and proven disjoint: {plan * 1000:.0f} ms (goal {GOAL_PLAN_SECONDS * 1000:.0f} ms)"
    )
    print(
        f"  ipaddress, proof alone, pairwise: {pairwise:.0f} s computed from {PAIRWISE} prefixes, {pairwise / plan:,.0f} times ours"
    )
    print(f"  netaddr IPSet, proof alone: {netaddr:.2f} s, {netaddr / plan:.0f} times ours")

    lookup = Lookup(dict(blocks))  # type: ignore[arg-type]
    chance = random.Random(1)
    addresses = [socket.inet_ntoa((10 << 24 | chance.randrange(1 << 22)).to_bytes(4)) for _ in range(LOOKUPS)]
    lookups = min(timed(lambda: lookup.owners(addresses)) for _ in range(3))
    few = addresses[:20]
    scan = timed(lambda: [[n for n in networks if ipaddress.ip_address(a) in n] for a in few]) * LOOKUPS / len(few)
    print(f"{LOOKUPS:,} look-ups: {lookups:.2f} s (goal {GOAL_LOOKUP_SECONDS:.0f} s)")
    print(f"  ipaddress, a scan: {scan:,.0f} s computed from {len(few)} addresses, {scan / lookups:,.0f} times ours")


if __name__ == "__main__":
    main()
