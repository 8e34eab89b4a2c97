"""What Azure's balancers do with packets, at their network's router. Pure.

Clients' addresses stay as they are, and machines answer past the balancer. So a machine that is sent to itself gets a
packet from its own address, which it drops: it has no answer (Azure docs, "Troubleshoot Azure Load Balancer": "…
accessing the internal load balancer VIP from the participating load balancer backend pool VM"). A flow that has begun
stays where it is, whatever becomes of its machine's health.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .routers import short_name

TABLE = "balancers"
# Of hashes: the same client meets the same machine for as long as the same ones are well.
SEED = "0x1"


def ruleset(rules: Iterable[Mapping[str, Any]]) -> str:
    """For `nft -f`: a table that replaces itself. `to` are addresses and ports of a rule's machines that are well.

    What nobody takes is lost: no balancer answers for itself.
    """
    listed = list(rules)
    empty = f"table ip {TABLE}\ndelete table ip {TABLE}\n"
    if not listed:
        return empty
    chains, lines = [], []
    for one in listed:
        names = [short_name(f"to_{number}_", one["id"]) for number in range(len(one["to"]))]
        chains += [f"chain {name} {{ {_leads(one, *to)}; }}" for name, to in zip(names, one["to"], strict=True)]
        lines += list(_spread(one, names))
    fronts = ", ".join(sorted({one["address"] for one in listed}))
    # Ours goes before what endpoints' names lead to; what is still for a frontend afterwards has no machine.
    spread = "type nat hook prerouting priority dstnat - 10; policy accept;"
    drop_rule = f"type filter hook prerouting priority dstnat + 10; policy accept; ip daddr {{ {fronts} }} drop;"
    body = [*chains, f"chain spread {{ {' '.join([spread, *lines])} }}", f"chain lost {{ {drop_rule} }}"]
    return f"{empty}table ip {TABLE} {{\n" + "".join(f"    {line}\n" for line in body) + "}\n"


def _leads(one: Mapping[str, Any], address: str, port: int) -> str:
    """A rule of all ports leaves each as it is."""
    return (
        f"dnat to {address}" if one["protocol"] == "all" else f"meta l4proto {one['protocol']} dnat to {address}:{port}"
    )


def _spread(one: Mapping[str, Any], names: list[str]) -> Iterator[str]:
    if not names:
        return
    protocol, every = one["protocol"], one["protocol"] == "all"
    what = f"ip daddr {one['address']}" + ("" if every else f" {protocol} dport {one['port']}")
    whom = ["ip saddr", "ip daddr"]
    if not every and not one["sticky"]:
        whom += [f"{protocol} sport", f"{protocol} dport"]
    verdicts = ", ".join(f"{number} : goto {name}" for number, name in enumerate(names))
    yield f"{what} jhash {' . '.join(whom)} mod {len(names)} seed {SEED} vmap {{ {verdicts} }};"
