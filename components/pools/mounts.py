"""Shares on machines of kind ssh, each at its own path: systemd's units, and what they are made from.

Mounted when somebody looks: a machine boots while its link is cut, and whoever logs in then begins in /.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from components.boot.people import Login
from components.control_plane.units import UNITS, target, unit
from components.storage.mounts import (
    FILES_OPTIONS,
    NFS_OPTIONS,
    OnFiles,
    OnNfs,
    RegionFiles,
    Source,
    nfs,
    source,
)
from fleet.model import Fleet
from fleet.shares import HOMES

TARGET = "landbridge-mounts.target"
SERVICE, TIMER = "landbridge-mounts.service", "landbridge-mounts.timer"
# systemd starts no automount without it, and calls that a failure; local machines have none.
AUTOFS = "/dev/autofs"
# A mount through the VPN takes a second or two. Two tries, then there is nothing at the path, at once, until AGAIN: a
# login looks a dozen times, and must not wait each time.
MOUNT_SECONDS, TRIES, TRIES_SECONDS, AGAIN_SECONDS = 20, 2, 120, 60
# An idle mount goes, so that the next login asks the server anew and does not wait for one that has gone since.
IDLE_SECONDS = 600
# Files of root's or devices in a share are no machine's to trust.
OPTIONS = ("_netdev", "nofail", "nosuid", "nodev")


class Mount(NamedTuple):
    """A share at its own path, or a home at its own."""

    name: str
    where: str
    source: Source


def mounts(
    fleet: Fleet, cluster: str, place: str, people: Sequence[Login], files: RegionFiles | None
) -> tuple[Mount, ...]:
    """Of a machine in `place`, from where the cluster's pods have them; nothing where neither serves.

    Homes of a site's server are one mount. In clouds each is one of its own: on EFS its access point makes the folder,
    with owner and mode, when it is first mounted, and through the share's nobody could, as root is squashed there.
    """
    server = nfs(fleet, cluster)
    if server is None and files is None:
        return ()
    found = []
    for share, config in sorted(fleet.storage.shares.items()):
        if server or share != HOMES:
            found.append(Mount(share, config.path.rstrip("/"), source(fleet, server, files, [place], share)))
        else:
            found += [
                Mount(f"{share} of {one.name}", one.home, source(fleet, server, files, [place], share, one.name))
                for one in people
            ]
    return tuple(found)


def files(made: Sequence[Mount]) -> dict[str, str]:
    """Path → content; nothing for nothing. A machine's target wants `TARGET`, and `wanted` says so."""
    if not made:
        return {}
    found = {f"{_unit(one.where)}.mount": _mount(one) for one in made}
    automounts = {f"{_unit(one.where)}.automount": _automount(one) for one in made}
    found |= automounts
    found[TARGET] = target("Shares where people work", [*automounts, TIMER])
    found[SERVICE] = unit(
        {
            "Unit": [("Description", "Gives shares that were away another chance"), ("ConditionPathExists", AUTOFS)],
            "Service": [("Type", "oneshot"), ("ExecStart", f"/usr/bin/systemctl start --no-block {TARGET}")],
        }
    )
    found[TIMER] = unit(
        {
            "Unit": [("Description", "Looks after mounts of shares")],
            "Timer": [("OnBootSec", f"{AGAIN_SECONDS}"), ("OnUnitActiveSec", f"{AGAIN_SECONDS}")],
        }
    )
    return {f"{UNITS}/{name}": text for name, text in found.items()}


def wanted(units: Iterable[str], made: Sequence[Mount]) -> list[str]:
    """Of a bundle's units those that the machine's own target is to want."""
    theirs = {path.rpartition("/")[2] for path in files(made)} - {TARGET}
    return [name for name in units if name not in theirs]


def _unit(path: str) -> str:
    """As `systemd-escape --path` has it, for the signs that paths of shares and names of people are made of."""
    return path.strip("/").replace("-", r"\x2d").replace("/", "-")


def _mount(one: Mount) -> str:
    what, kind, options = _options(one.source)
    return unit(
        {
            "Unit": [
                ("Description", f"Share {one.name}"),
                ("StartLimitIntervalSec", f"{TRIES_SECONDS}"),
                ("StartLimitBurst", f"{TRIES}"),
            ],
            "Mount": [
                ("What", what),
                ("Where", one.where),
                ("Type", kind),
                ("Options", ",".join([*options, *OPTIONS])),
                ("TimeoutSec", f"{MOUNT_SECONDS}"),
            ],
        }
    )


def _options(of: Source) -> tuple[str, str, list[str]]:
    """What, type and options; EFS's are those of amazon-efs-utils, which adds the rest of NFS's (mount.efs(8))."""
    if isinstance(of, OnNfs):
        return f"{of.server}:{of.path}", "nfs", NFS_OPTIONS
    if isinstance(of, OnFiles):
        return f"{of.server}:{of.path}", "nfs", FILES_OPTIONS
    system, _, point = of.handle.partition("::")
    # With its region: TLS is checked against the file system's name, and a machine knows its own region at best.
    options = ["tls", f"accesspoint={point}", f"region={of.region}", "noatime"]
    return f"{system}:/", "efs", [*options, *([f"mounttargetip={of.address}"] if of.address else [])]


def _automount(one: Mount) -> str:
    return unit(
        {
            "Unit": [("Description", f"Share {one.name}, when somebody looks"), ("ConditionPathExists", AUTOFS)],
            "Automount": [("Where", one.where), ("TimeoutIdleSec", f"{IDLE_SECONDS}")],
        }
    )
