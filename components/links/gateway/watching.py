"""What runs on a gateway beside its daemons: the watchdog, the state for a monitoring, the firewall from boot on."""

from pathlib import Path

from components.control_plane.units import SCRIPTS, TARGET, UNITS, script, service, settings, target, unit

from .bgp import DRAWING, OWN
from .firewall import CONFIG as FIREWALL
from .spec import GatewaySpec

ON_MACHINE = Path(__file__).parents[1] / "on_machine"
NAMES = ("failover", "watchdog", "gateway_state", "gateway_verify", "gateway_install")
# Where Debian's node exporter looks for what others measure.
METRICS = "/var/lib/prometheus/node-exporter/landbridge.prom"
METRICS_SECONDS = 30
DOG, WALL, STATE = "landbridge-watchdog.service", "landbridge-firewall.service", "landbridge-state"


def files(spec: GatewaySpec) -> dict[str, str]:
    return {
        **{f"{SCRIPTS}/{name}.py": (ON_MACHINE / f"{name}.py").read_text() for name in NAMES},
        **settings("gateway", told(spec)),
        f"{UNITS}/{DOG}": watchdog(spec),
        f"{UNITS}/{WALL}": firewall(spec),
        f"{UNITS}/{STATE}.service": state(spec),
        f"{UNITS}/{STATE}.timer": every(),
        f"{UNITS}/{TARGET}": target(f"The VPN gateway of {spec.site}", (DOG, WALL, f"{STATE}.timer")),
    }


def told(spec: GatewaySpec) -> dict[str, object]:
    """What watchdog.py reads."""
    tunnels = [{"name": end.name, "region": end.region, "device": end.device, "peer": end.there} for end in spec.ends]
    return {"asn": spec.asn, "usual": OWN, "drawing": DRAWING, "tunnels": tunnels}


def watchdog(spec: GatewaySpec) -> str:
    start = script("watchdog")
    return service(f"Leads traffic of {spec.site} off silent tunnels", start, kind="exec", after="frr.service")


def firewall(spec: GatewaySpec) -> str:
    """Debian's own nftables.service empties all tables when it starts."""
    before = [("Before", "network-pre.target"), ("Wants", "network-pre.target"), ("After", "nftables.service")]
    kept = [("Type", "oneshot"), ("RemainAfterExit", "yes"), ("ExecStart", f"/usr/sbin/nft --file {FIREWALL}")]
    return unit({"Unit": [("Description", f"Who may pass the tunnels of {spec.site}"), *before], "Service": kept})


def state(spec: GatewaySpec) -> str:
    once = [("Type", "oneshot"), ("ExecStartPre", f"/usr/bin/mkdir -p {Path(METRICS).parent}")]
    start = [("ExecStart", script("gateway_verify", "--metrics", METRICS))]
    return unit({"Unit": [("Description", f"How the tunnels of {spec.site} are")], "Service": [*once, *start]})


def every() -> str:
    when = [("OnBootSec", str(METRICS_SECONDS)), ("OnUnitActiveSec", str(METRICS_SECONDS)), ("AccuracySec", "1")]
    return unit({"Unit": [("Description", "Measures the tunnels")], "Timer": when})
