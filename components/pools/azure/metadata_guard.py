"""Keeps pods from what Azure tells machines alone: their identity's tokens, and documents that vouch for them.

AWS counts hops, and answers no pod. Azure does not: whoever reaches its two addresses is the machine. What pods send
there is turned back before it takes the machine's address; names they may still ask for at the second one.
"""

from components.control_plane.units import UNITS, unit

from ..spec import PoolSpec

SERVICE = "landbridge-metadata.service"
METADATA, PLATFORM = "169.254.169.254/32", "168.63.129.16/32"
# Of the platform: the goal state of machines, and its extensions'.
PLATFORM_PORTS = (80, 32526)
PREFERENCE = 50


def wanted(spec: PoolSpec) -> bool:
    """Whether a node of this pool stands in Azure."""
    return spec.cloud == "azure" and not spec.site


def files(pods_cidr: str) -> dict[str, str]:
    """Path → content. No kubelet starts without it."""
    targets = [f"to {METADATA}", *(f"to {PLATFORM} ipproto tcp dport {port}" for port in PLATFORM_PORTS)]
    # systemd-networkd takes all other rules away when it starts ("networkd.conf", ManageForeignRoutingPolicyRules).
    rules = [f"from {pods_cidr} {one} prohibit protocol kernel" for one in targets]
    commands = [f"/usr/sbin/ip rule add preference {PREFERENCE + n} {rule}" for n, rule in enumerate(rules)]
    # What an earlier start has left.
    removed = [f"-/usr/sbin/ip rule del preference {PREFERENCE + n}" for n in range(len(rules))]
    return {
        f"{UNITS}/{SERVICE}": unit(
            {
                "Unit": [
                    ("Description", "Keeps pods from this machine's metadata"),
                    ("Before", "kubelet.service containerd.service"),
                ],
                "Service": [
                    ("Type", "oneshot"),
                    ("RemainAfterExit", "yes"),
                    *(("ExecStartPre", one) for one in removed),
                    *(("ExecStart", one) for one in commands),
                ],
            }
        )
    }
