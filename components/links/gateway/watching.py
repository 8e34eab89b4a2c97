"""The watchdog of a gateway's tunnels: its scripts, its settings and its unit."""

from pathlib import Path

from components.control_plane.units import SCRIPTS, UNITS, script, service, settings

from .bgp import DRAWING, OWN
from .spec import GatewaySpec

ON_MACHINE = Path(__file__).parents[1] / "on_machine"
NAMES = ("failover", "watchdog")


def files(spec: GatewaySpec) -> dict[str, str]:
    return {
        **{f"{SCRIPTS}/{name}.py": (ON_MACHINE / f"{name}.py").read_text() for name in NAMES},
        **settings("gateway", told(spec)),
        f"{UNITS}/landbridge-watchdog.service": unit(spec),
    }


def told(spec: GatewaySpec) -> dict[str, object]:
    """What watchdog.py reads."""
    tunnels = [{"name": end.name, "region": end.region, "device": end.device, "peer": end.there} for end in spec.ends]
    return {"asn": spec.asn, "usual": OWN, "drawing": DRAWING, "tunnels": tunnels}


def unit(spec: GatewaySpec) -> str:
    start = script("watchdog")
    return service(f"Leads traffic of {spec.site} off silent tunnels", start, kind="exec", after="frr.service")
