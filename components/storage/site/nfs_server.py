"""The bundle of a site's NFS server: exports, shares with their quotas, snapshots, backups, and what watches them.

The disk is made once by hand, with a label (docs/guide/storage.md): no bundle ever formats one. Paths are below one
root, so that clients mount /data and know nothing of the server's folders.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from components.control_plane.units import UNITS, scripts, settings, unit
from fleet.address.plan import AddressPlan
from fleet.model import Fleet

from . import nfs_units
from .nfs_spec import NfsSpec, fsid, nfs_spec

ROOT, LABEL = "/srv/landbridge", "lb-shares"
SNAPSHOTS = ".snapshots"
ON_MACHINE = Path(__file__).parents[1] / "on_machine"
OWN_SCRIPTS = ("nfs_backup", "nfs_health", "nfs_index", "nfs_restore", "nfs_shares", "nfs_snapshot", "site_identity")
# Writes reach the disk before they are answered; root of a client is nobody here; handles need no look at folders.
OPTIONS = "sync,root_squash,sec=sys,no_subtree_check,crossmnt"
NFSD_THREADS = 64


class Identity(NamedTuple):
    """How the host takes its role in the cloud: ARNs that are known once they exist."""

    trust_anchor_arn: str
    profile_arn: str
    role_arn: str


def bundle(fleet: Fleet, plan: AddressPlan, site: str, identity: Identity | None = None) -> dict[str, str]:
    """Path → content, no secret in it. Raises ValueError for a site without an NFS server.

    A machine's own target wants `nfs_units.TARGET` and none of the other units: that one names what starts with the
    machine, and the rest is timers'. Without an identity no backup can leave the host, and its health says so.
    """
    spec = nfs_spec(fleet, plan, site)
    return dict(
        sorted(
            {
                "/etc/exports.d/landbridge.exports": exports(fleet, spec),
                "/etc/nfs.conf.d/landbridge.conf": configuration(),
                **settings("nfs", script_settings(spec, identity)),
                **scripts("machine", "api_aws", "health"),
                **scripts(*OWN_SCRIPTS, folder=ON_MACHINE),
                **{f"{UNITS}/{name}": text for name, text in nfs_units.units(ROOT, LABEL, spec).items()},
            }.items()
        )
    )


def exports(fleet: Fleet, spec: NfsSpec) -> str:
    """The root to walk through and snapshots to read, shares to write: to prefixes of the plan alone."""
    lines = [(ROOT, "ro,fsid=0"), (f"{ROOT}/{SNAPSHOTS}", f"ro,fsid={fsid(fleet.fleet, spec.site, SNAPSHOTS)}")]
    lines += [(f"{ROOT}{share.path}", f"rw,fsid={share.fsid}") for share in spec.shares]
    return "".join(
        f"{path} {' '.join(f'{cidr}({options},{OPTIONS})' for cidr in dict.fromkeys(spec.clients.values()))}\n"
        for path, options in lines
    )


def configuration() -> str:
    """Of the kernel's server: version 4.1 and later, over TCP, on one port."""
    return unit(
        {
            "nfsd": [
                ("threads", str(NFSD_THREADS)),
                ("udp", "n"),
                ("tcp", "y"),
                *((f"vers{version}", "n") for version in ("2", "3", "4.0")),
                *((f"vers{version}", "y") for version in ("4", "4.1", "4.2")),
            ]
        }
    )


def script_settings(spec: NfsSpec, identity: Identity | None) -> Mapping[str, object]:
    """What the scripts read."""
    return {
        "site": spec.site,
        "root": ROOT,
        "snapshots": f"{ROOT}/{SNAPSHOTS}",
        "shares": [share._asdict() for share in spec.shares],
        "homes": [home._asdict() for home in spec.homes],
        "backup": spec.backup._asdict() if spec.backup else None,
        "identity": identity._asdict() if identity else None,
    }
