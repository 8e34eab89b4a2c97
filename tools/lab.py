"""Sees to what the network lab needs: `python3 tools/lab.py`, standard library only. `make lab` calls it."""

import os
import sys
from pathlib import Path

import debian
import local_cloud
from progress import Progress
from running import SetupError

ROOT = Path(__file__).resolve().parent.parent
# What the lab runs → its package, as Debian and Ubuntu call it.
NEEDED = {
    "/usr/sbin/charon-systemd": "charon-systemd",
    "/usr/sbin/swanctl": "strongswan-swanctl",
    "/usr/lib/ipsec/plugins/libstrongswan-kernel-libipsec.so": "libcharon-extra-plugins",
    "/usr/lib/ipsec/plugins/libstrongswan-openssl.so": "libstrongswan-standard-plugins",
    "/usr/lib/frr/bgpd": "frr",
    "/usr/bin/vtysh": "frr",
    "/usr/sbin/openvpn": "openvpn",
    "/usr/sbin/keepalived": "keepalived",
    "/usr/bin/ganesha.nfsd": "nfs-ganesha",
    # What it keeps files in lies where the machine's architecture says.
    "/etc/ganesha/vfs.conf": "nfs-ganesha-vfs",
    "nfs-cp": "libnfs-utils",
    "/usr/sbin/unbound": "unbound",
    "ping": "iputils-ping",
    "/usr/sbin/visudo": "sudo",
    **local_cloud.NEEDED,
    **local_cloud.RUNS,
}
DAEMONS = ("strongswan", "frr", "openvpn", "keepalived", "nfs-ganesha", "unbound", "ssh")
SERVICES = (*DAEMONS, "nftables", "rpcbind", "nfs-common")


def lacking() -> str:
    """Why the lab can't run here and what to do, or nothing."""
    if sys.platform != "linux":
        return f"its namespaces are Linux's, and this is {sys.platform}: run `make lab` on Linux"
    if os.geteuid() != 0:
        return "it makes network devices, for which one has to be root: run `sudo make lab`"
    if not Path("/dev/net/tun").exists():
        return "/dev/net/tun is missing: `modprobe tun`, or give it to the container (--device /dev/net/tun)"
    if missing := debian.missing(NEEDED):
        return f"packages are missing: run `make lab` as root, or `apt-get install {' '.join(missing)}`"
    return ""


def main() -> int:
    progress = Progress()
    try:
        missing = debian.missing(NEEDED) if debian.can_install() else []
        if missing:
            with progress.step(f"the network lab's packages: {', '.join(missing)}"):
                debian.install(missing, ROOT / ".landbridge/logs/setup", SERVICES)
        reason = lacking()
    except SetupError as error:
        reason = str(error)
    if not reason:
        return 0
    print(f"THE NETWORK LAB CAN'T BE RUN: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
