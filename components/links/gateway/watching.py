"""What runs on a gateway beside its daemons: the watchdog, the state for a monitoring, the firewall from boot on."""

from pathlib import Path

from components.control_plane.units import TARGET, UNITS, script, scripts, service, settings, target, unit

from . import pair
from .bgp import DRAWING, OWN
from .firewall import CONFIG as FIREWALL
from .spec import End, GatewaySpec

ON_MACHINE = Path(__file__).parents[1] / "on_machine"
NAMES = (
    "failover",
    "partner",
    "watchdog",
    "gateway_lan",
    "gateway_bgp_causes",
    "gateway_causes",
    "gateway_state",
    "gateway_verify",
    "gateway_raise",
    "gateway_install",
)
# Where Debian's node exporter looks for what others measure.
METRICS = "/var/lib/prometheus/node-exporter/landbridge.prom"
METRICS_SECONDS, RAISE_SECONDS = 30, 60
# A watchdog draws a region's traffic until its hub's hold timer has ended, and so much longer.
SPARE_SECONDS = 10
DOG, WALL = "landbridge-watchdog.service", "landbridge-firewall.service"
STATE, RAISE = "landbridge-state", "landbridge-raise"


def files(spec: GatewaySpec) -> dict[str, str]:
    units = (DOG, WALL, f"{STATE}.timer", f"{RAISE}.timer", *([pair.UNIT] if spec.pair else []))
    return {
        **scripts(*NAMES, folder=ON_MACHINE),
        **settings("gateway", script_settings(spec)),
        f"{UNITS}/{DOG}": watchdog(spec),
        f"{UNITS}/{WALL}": firewall(spec),
        f"{UNITS}/{STATE}.service": state(spec),
        f"{UNITS}/{STATE}.timer": every("Measures the tunnels", METRICS_SECONDS),
        f"{UNITS}/{RAISE}.service": raising(spec),
        f"{UNITS}/{RAISE}.timer": every("Looks for tunnels that were given up", RAISE_SECONDS),
        f"{UNITS}/{TARGET}": target(f"The VPN gateway of {spec.site}", units),
    }


def script_settings(spec: GatewaySpec) -> dict[str, object]:
    """What watchdog.py reads."""
    tunnels = [
        {"name": end.name, "region": end.region, "device": end.device, "peer": end.there, **_of_azure(spec, end)}
        for end in spec.ends
    ]
    about = {"pair": spec.pair._asdict()} if spec.pair else {}
    return {"asn": spec.asn, "usual": OWN, "drawing": DRAWING, "tunnels": tunnels, **about}


def _of_azure(spec: GatewaySpec, end: End) -> dict[str, object]:
    """What goes without saying of AWS's ends."""
    if end.tunnel.cloud != "azure":
        return {}
    return {"cloud": "azure", "source": spec.speaker(end), "draw_seconds": end.rules.hold_seconds + SPARE_SECONDS}


def watchdog(spec: GatewaySpec) -> str:
    start = script("watchdog")
    return service(f"Leads traffic of {spec.site} off silent tunnels", start, kind="exec", after="frr.service")


def firewall(spec: GatewaySpec) -> str:
    """Debian's own nftables.service empties all tables when it starts."""
    before = [("Before", "network-pre.target"), ("Wants", "network-pre.target"), ("After", "nftables.service")]
    service_section = [
        ("Type", "oneshot"),
        ("RemainAfterExit", "yes"),
        ("ExecStart", f"/usr/sbin/nft --file {FIREWALL}"),
    ]
    return unit(
        {"Unit": [("Description", f"Who may pass the tunnels of {spec.site}"), *before], "Service": service_section}
    )


def state(spec: GatewaySpec) -> str:
    once = [("Type", "oneshot"), ("ExecStartPre", f"/usr/bin/mkdir -p {Path(METRICS).parent}")]
    start = [("ExecStart", script("gateway_verify", "--metrics", METRICS))]
    return unit({"Unit": [("Description", f"How the tunnels of {spec.site} are")], "Service": [*once, *start]})


def raising(spec: GatewaySpec) -> str:
    start = [("Type", "oneshot"), ("ExecStart", script("gateway_raise"))]
    return unit({"Unit": [("Description", f"Begins given up tunnels of {spec.site}")], "Service": start})


def every(what: str, seconds: int) -> str:
    when = [("OnBootSec", str(seconds)), ("OnUnitActiveSec", str(seconds)), ("AccuracySec", "1")]
    return unit({"Unit": [("Description", what)], "Timer": when})
