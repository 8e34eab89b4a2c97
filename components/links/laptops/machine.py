"""A server's bundle: its configuration, its firewall, the list of revoked certificates kept fresh, and its health."""

from pathlib import Path
from typing import NamedTuple

from components.boot import people
from components.control_plane.bundle import Bundle
from components.control_plane.units import TARGET, UNITS, cloud_files, script, scripts, service, settings, target, unit
from components.pools import tuning
from components.pools.bundle import node_files
from fleet import laptops

from . import firewall
from . import server as openvpn
from .authority import LIST_WARNING_DAYS
from .spec import LaptopsSpec, Server

ON_MACHINE = Path(__file__).parents[1] / "on_machine"
OWN_SCRIPTS = ("laptops_health", "laptops_ready", "laptops_revoked", "laptops_sessions")
GROUND, SERVES = "landbridge-laptops-ground.service", "landbridge-laptops.service"
REVOKED, HEALTH = "landbridge-laptops-revoked.service", "landbridge-laptops-health"
# With what OpenVPN itself takes to notice, a revoked certificate is of no use after half a minute.
FETCH_SECONDS = 20
HEALTH_SECONDS = 300
# Three failures in a row are no hiccup of the network any more.
SILENT_SECONDS = 180


class Material(NamedTuple):
    """PEM: the authority's certificate, the server's own, and its private key; the file of the wrapping key.

    `cluster` is PEM, too: certificates of the cluster's authorities for Kubernetes, all that are trusted.
    """

    authority: str
    certificate: str
    key: str
    wrapping: str
    cluster: str


def bundle(spec: LaptopsSpec, server: Server, material: Material) -> Bundle:
    files = {
        **tuning.files(server.node),
        **node_files(server.node, material.cluster),
        openvpn.CONFIG: openvpn.config(spec, server),
        openvpn.AUTHORITY: material.authority,
        openvpn.CERTIFICATE: material.certificate,
        **firewall.files(spec, server),
        **cloud_files(spec.cloud),
        **scripts("health"),
        **scripts(*OWN_SCRIPTS, folder=ON_MACHINE),
        **settings("laptops", script_settings(spec)),
        **{f"{UNITS}/{name}": text for name, text in units(server).items()},
        **people.files(spec.logins, root=True, authority=spec.vouching, certificate=spec.shown),
    }
    names = {path.rpartition("/")[2] for path in files if path.startswith(UNITS)} - {f"{HEALTH}.service"}
    files[f"{UNITS}/{TARGET}"] = target(f"Everything of {spec.machine(server)}", names)
    keys = {openvpn.KEY: material.key, openvpn.WRAPPING: material.wrapping}
    return Bundle(spec.machine(server), dict(sorted(files.items())), keys)


def script_settings(spec: LaptopsSpec) -> dict[str, object]:
    """What the scripts read."""
    return {
        "region": spec.region,
        "bucket": spec.bucket,
        "object": laptops.REVOKED,
        "every_seconds": FETCH_SECONDS,
        "silent_seconds": SILENT_SECONDS,
        "warning_days": LIST_WARNING_DAYS,
        "authority": openvpn.AUTHORITY,
        "certificate": openvpn.CERTIFICATE,
        "revoked": openvpn.REVOKED,
        "management": openvpn.MANAGEMENT,
    }


def units(server: Server) -> dict[str, str]:
    """Name → text."""
    before = [("Before", SERVES), ("After", "network-online.target"), ("Wants", "network-online.target")]
    return {
        GROUND: unit(
            {
                "Unit": [("Description", "Who may pass, and that packets are forwarded"), *before],
                "Service": [
                    ("Type", "oneshot"),
                    ("RemainAfterExit", "yes"),
                    ("ExecStart", f"/usr/sbin/nft --file {firewall.CONFIG}"),
                    ("ExecStart", f"/usr/sbin/sysctl --load={firewall.SYSCTL}"),
                ],
            }
        ),
        REVOKED: service("Keeps the list of revoked certificates", script("laptops_revoked"), kind="exec"),
        SERVES: _serves(server),
        f"{HEALTH}.service": unit(
            {
                "Unit": [("Description", "Whether laptops are served, and for how long yet")],
                "Service": [("Type", "oneshot"), ("ExecStart", script("laptops_health"))],
            }
        ),
        f"{HEALTH}.timer": unit(
            {
                "Unit": [("Description", "Looks after the server for laptops")],
                "Timer": [("OnBootSec", str(HEALTH_SECONDS)), ("OnUnitActiveSec", str(HEALTH_SECONDS))],
            }
        ),
    }


def _serves(server: Server) -> str:
    """Never without its firewall. What it waits for, such as the first list, `laptops_ready` says."""
    return unit(
        {
            "Unit": [
                ("Description", f"Laptops at {server.host}"),
                ("Requires", GROUND),
                ("After", f"{GROUND} {REVOKED}"),
                ("StartLimitIntervalSec", "0"),
            ],
            "Service": [
                ("Type", "notify"),
                ("ExecStartPre", script("laptops_ready")),
                ("ExecStart", f"/usr/sbin/openvpn --config {openvpn.CONFIG}"),
                # People come when they come.
                ("TimeoutStartSec", "infinity"),
                ("Restart", "always"),
                ("RestartSec", "5"),
                ("LimitNOFILE", "1048576"),
            ],
        }
    )
