"""Says how the gateway is: a table, JSON for programs, or metrics for a Prometheus node exporter's textfile collector.

Exit code 1 when a tunnel is not up, a daemon does not answer or a file is not as it was written; 2 where nothing is
installed.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import gateway_state
from gateway_state import SHUT, State, Tunnel

METRICS: dict[str, Callable[[Tunnel], int]] = {
    "landbridge_tunnel_up": lambda one: int(one.up),
    "landbridge_tunnel_bgp_up": lambda one: int(one.bgp == gateway_state.UP),
    "landbridge_tunnel_left": lambda one: int(one.bgp == SHUT),
    "landbridge_tunnel_prefixes": lambda one: one.prefixes,
    "landbridge_tunnel_established_seconds": lambda one: one.since_seconds,
    "landbridge_tunnel_received_bytes": lambda one: one.bytes_in,
    "landbridge_tunnel_sent_bytes": lambda one: one.bytes_out,
}


def metrics(state: State) -> str:
    lines = []
    for name, of in METRICS.items():
        lines.append(f"# TYPE {name} gauge")
        lines += [f'{name}{{tunnel="{one.name}",region="{one.region}"}} {of(one)}' for one in state.tunnels]
    for name, value in (("differing_files", len(state.differs)), ("silent_daemons", len(state.troubles))):
        lines += [f"# TYPE landbridge_gateway_{name} gauge", f"landbridge_gateway_{name} {value}"]
    return "\n".join(lines) + "\n"


def document(state: State) -> str:
    tunnels = [{**one._asdict(), "up": one.up, "trouble": one.trouble} for one in state.tunnels]
    return json.dumps({**state._asdict(), "tunnels": tunnels, "healthy": state.healthy}, indent=2)


def table(state: State) -> Iterator[str]:
    yield f"gateway {state.gateway} of {state.site}, plan {state.plan}"
    rows = [("tunnel", "", "IKE", "ESP", "BGP", "prefixes"), *(_row(one) for one in state.tunnels)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    if state.next_hop:
        yield f"the LAN's next hop {state.next_hop}"
    yield from (f"{one.name}: {one.trouble}" for one in state.tunnels if one.trouble)
    yield from (f"{path} is not as it was written" for path in state.differs)
    yield from state.troubles


def _row(one: Tunnel) -> tuple[str, ...]:
    words = "up" if one.up else "left" if one.bgp == SHUT else "DOWN"
    return (one.name, words, one.ike.lower() or "none", one.esp.lower() or "none", one.bgp or "none", str(one.prefixes))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--metrics", type=Path, metavar="FILE", help="where the metrics go")
    options = parser.parse_args()
    try:
        state = gateway_state.look()
    except (OSError, ValueError, KeyError) as error:
        sys.stderr.write(f"no gateway is installed here: {error}\n")
        return 2
    if options.metrics:
        # Whole or not at all: the collector reads at any moment.
        draft = options.metrics.with_suffix(".new")
        try:
            draft.write_text(metrics(state))
            draft.replace(options.metrics)
        except OSError as error:
            sys.stderr.write(f"{options.metrics} can't be written: {error.strerror}. Name another file.\n")
            return 2
        return 0
    sys.stdout.write(document(state) + "\n" if options.json else "\n".join(table(state)) + "\n")
    return 0 if state.healthy else 1


if __name__ == "__main__":
    sys.exit(main())
