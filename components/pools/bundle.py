"""The bundle of a pool: every file its machines need, the same for all of them, and no key in it.

What differs between machines they find out at boot; a cloud's machine proves who it is, a site's host has its token
from its enrolment.
"""

from collections.abc import Mapping
from pathlib import Path

from components.boot import people
from components.control_plane.bundle import Bundle
from components.control_plane.units import TARGET, UNITS, cloud_files, scripts, settings, target

from . import containerd, discovery, findings, fitness, journal, kubelet, mounts, notices, tuning
from .azure import metadata_guard as azure_metadata_guard
from .spec import PoolSpec

OWN_SCRIPTS = Path(__file__).with_name("on_machine")
# What an enrolment hands over to, once it has checked the bundle.
SITE_SCRIPT = "site_host"
WORKER_SCRIPTS = ("node_facts", "attest")


def bundle(spec: PoolSpec, authority: str) -> Bundle:
    """`authority` is PEM: certificates of the cluster's authorities for Kubernetes, all that are trusted."""
    files = tuning.files(spec)
    # Machines of kind ssh are outside of the cluster: people log in, and no kubelet runs.
    files |= _shell_files(spec) if spec.kind == "ssh" else node_files(spec, authority)
    if spec.site:
        files |= scripts(SITE_SCRIPT, folder=OWN_SCRIPTS)
    units = [path.rpartition("/")[2] for path in files if path.startswith(UNITS)]
    files[f"{UNITS}/{TARGET}"] = target(f"Everything of a machine of {spec.name}", mounts.wanted(units, spec.mounts))
    return Bundle(spec.name, dict(sorted(files.items())), {})


def _shell_files(spec: PoolSpec) -> dict[str, str]:
    of_people = people.files(spec.logins, root=False, authority=spec.vouching, certificate=spec.shown)
    return of_people | mounts.files(spec.mounts)


def with_files(made: Bundle, files: Mapping[str, str], wants: str) -> Bundle:
    """A host's bundle with files that it alone has; its target wants one unit of them, `wants`."""
    target_unit = made.files[f"{UNITS}/{TARGET}"].replace("\n\n[Install]", f"\nWants={wants}\n\n[Install]")
    return made._replace(files=dict(sorted({**made.files, **files, f"{UNITS}/{TARGET}": target_unit}.items())))


def node_files(spec: PoolSpec, authority: str) -> dict[str, str]:
    """What makes a machine a node: the same, whatever else it is."""
    return {
        **(discovery.files(spec, authority) if spec.site else {}),
        **kubelet.files(spec),
        **containerd.files(spec),
        **settings("node", node(spec)),
        **cloud_files(spec.cloud),
        **(azure_metadata_guard.files(spec.pods_cidr) if azure_metadata_guard.wanted(spec) else {}),
        **scripts(*WORKER_SCRIPTS, f"attest_{spec.cloud}", folder=OWN_SCRIPTS),
        **findings.files(),
        **fitness.files(),
        **(journal.files() if spec.journal else {}),
        # Nobody announces anything of a site's host but people.
        **({} if spec.site else notices.files(spec.cloud)),
        kubelet.AUTHORITY: authority,
    }


def node(spec: PoolSpec) -> dict[str, object]:
    """What the scripts read."""
    return {
        "cluster": f"{spec.fleet}/{spec.cluster}",
        "pool": spec.name,
        "place": spec.place,
        "site": spec.site,
        "jitter_seconds": kubelet.jitter_seconds(spec.most),
    }
