"""An etcd machine's disks: volumes of their own, which outlive it. On AWS it attaches them itself."""

from .machines import ClusterSpec, Machine
from .profiles import FSYNC_P99_MS
from .rings import RINGS, Ring
from .units import UNITS, cloud_files, script, scripts, settings, unit

SERVICE = "landbridge-disks.service"
# Where on_machine/disks.py puts its links; what is below /dev would be waited for as a device of udev's.
LINKS = "/run/landbridge/disks"
DEVICES = dict(zip([ring.name for ring in RINGS], ("/dev/sdf", "/dev/sdg"), strict=True))
LUNS = {ring.name: number for number, ring in enumerate(RINGS)}


def disk(ring: Ring) -> str:
    """The tag `landbridge:disk` of a ring's volumes."""
    return f"etcd-{ring.name}"


def volume_tags(spec: ClusterSpec, machine: Machine, ring: Ring) -> dict[str, str]:
    """By these alone a machine finds its volume: they must be unique in the region."""
    return {"landbridge:fleet": spec.fleet, "landbridge:machine": machine.name, "landbridge:disk": disk(ring)}


def where(spec: ClusterSpec, machine: Machine, ring: Ring) -> dict[str, object]:
    """How a machine finds a ring's disk: by tags on AWS; on Azure by the number under which it was given to it."""
    if spec.cloud == "azure":
        return {"lun": LUNS[ring.name]}
    return {"device": DEVICES[ring.name], "tags": volume_tags(spec, machine, ring)}


def mount(ring: Ring) -> str:
    return f"var-lib-etcd-{ring.name}.mount"


def gate(ring: Ring) -> str:
    """What has to succeed before etcd starts on its disk."""
    return script("fsync_gate", f"/var/lib/etcd/{ring.name}", str(FSYNC_P99_MS))


def files(spec: ClusterSpec, machine: Machine) -> dict[str, str]:
    wanted = [{"name": disk(ring), **where(spec, machine, ring)} for ring in RINGS]
    return {
        **cloud_files(spec.cloud),
        **scripts("disk", "disks", f"disks_{spec.cloud}", "fsync_gate"),
        **settings("disks", {"region": spec.region, "disks": wanted}),
        f"{UNITS}/{SERVICE}": _service(),
        **{f"{UNITS}/{mount(ring)}": _mount(ring) for ring in RINGS},
    }


def _service() -> str:
    return unit(
        {
            "Unit": [
                ("Description", "Brings this machine's volumes to it"),
                ("After", "network-online.target"),
                ("Wants", "network-online.target"),
            ],
            "Service": [
                ("Type", "oneshot"),
                ("RemainAfterExit", "yes"),
                ("ExecStart", script("disks")),
                ("Restart", "on-failure"),
                ("RestartSec", "5"),
            ],
        }
    )


def _mount(ring: Ring) -> str:
    return unit(
        {
            "Unit": [
                ("Description", f"The disk of etcd {ring.name}"),
                ("Requires", SERVICE),
                ("After", SERVICE),
            ],
            "Mount": [
                ("What", f"{LINKS}/{disk(ring)}"),
                ("Where", f"/var/lib/etcd/{ring.name}"),
                ("Type", "ext4"),
                ("Options", "noatime"),
            ],
        }
    )
