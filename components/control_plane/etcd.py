"""An etcd machine's files: two members, `main` and `events`, each with its own disk, ports and peer authority."""

import json
from collections.abc import Sequence

from . import backups, disks, machine_metrics
from .machines import ClusterSpec, Machine
from .rings import EVENTS, MAIN, RINGS, Ring
from .units import UNITS, script, scripts, service, settings, unit

__all__ = ["EVENTS", "MAIN", "RINGS", "Ring", "client_urls", "config", "etcdctl", "files"]
QUOTA_BYTES = 8 * 1024**3  # etcd's own suggested maximum; at the default of 2 GiB a busy cluster stops writing
WAIT_SECONDS = 5  # less than the 7 s that a member costs which asks one that does not serve
SECOND = 1_000_000_000  # durations of the configuration file are whole nanoseconds


def client_urls(spec: ClusterSpec, ring: Ring) -> list[str]:
    return [f"https://{member.host}:{ring.client_port}" for member in spec.etcd]


def files(spec: ClusterSpec, machine: Machine) -> dict[str, str]:
    """Path → content, less certificates and keys."""
    etcd_settings: dict[str, object] = {
        "region": spec.region,
        "bucket": spec.bucket,
        "backups": backups.place(spec.name),
        "cluster": spec.name,
        "machine": machine.name,
        "host": machine.host,
        "members": [member.host for member in spec.etcd],
        "rings": {ring.name: {"port": ring.client_port, "backup_minutes": ring.backup_minutes} for ring in RINGS},
    }
    if spec.copies:
        etcd_settings["copies"] = {**spec.copies._asdict(), "place": backups.copies_place(spec.region, spec.name)}
    made = {
        **disks.files(spec, machine),
        **backups.files(spec),
        **machine_metrics.files(),
        **scripts("ring", "etcd_defrag", "answers"),
        **settings("etcd", etcd_settings),
    }
    place = list(spec.etcd).index(machine)
    for number, ring in enumerate(RINGS):
        made[f"/etc/etcd/{ring.name}.json"] = json.dumps(config(spec, machine, ring), indent=2, sort_keys=True) + "\n"
        made[f"{UNITS}/etcd-{ring.name}.service"] = _service(ring, list(spec.etcd)[:place])
        made[f"{UNITS}/etcd-defrag-{ring.name}.service"] = _defrag(ring)
        # A defragmentation blocks its member: every member and ring has an hour of its own.
        hour = (place * len(RINGS) + number) % 24
        made[f"{UNITS}/etcd-defrag-{ring.name}.timer"] = _timer(ring, hour)
    return made


def config(spec: ClusterSpec, machine: Machine, ring: Ring) -> dict[str, object]:
    """etcd's configuration file; it reads JSON as the YAML it is."""
    pki = "/etc/etcd/pki"
    return {
        "name": machine.name,
        "data-dir": f"/var/lib/etcd/{ring.name}/data",
        "listen-client-urls": f"https://{machine.address}:{ring.client_port},https://127.0.0.1:{ring.client_port}",
        "advertise-client-urls": f"https://{machine.host}:{ring.client_port}",
        "listen-peer-urls": f"https://{machine.address}:{ring.peer_port}",
        "initial-advertise-peer-urls": f"https://{machine.host}:{ring.peer_port}",
        "listen-metrics-urls": f"http://127.0.0.1:{ring.metrics_port}",
        "initial-cluster": ",".join(f"{member.name}=https://{member.host}:{ring.peer_port}" for member in spec.etcd),
        "initial-cluster-token": f"{spec.fleet}-{spec.name}-{ring.name}",
        "initial-cluster-state": "new",
        "quota-backend-bytes": QUOTA_BYTES,
        # API servers compact by themselves; this is for the day when none does.
        "auto-compaction-mode": "periodic",
        "auto-compaction-retention": "1h",
        # API servers answer lists from their caches; they learn by this how fresh those are. kubeadm's value.
        "watch-progress-notify-interval": 5 * SECOND,
        "feature-gates": "InitialCorruptCheck=true,CompactHashCheck=true",
        "client-transport-security": {
            "cert-file": f"{pki}/server.crt",
            "key-file": f"{pki}/server.key",
            "trusted-ca-file": f"{pki}/clients-ca.crt",
            "client-cert-auth": True,
        },
        "peer-transport-security": {
            "cert-file": f"{pki}/{ring.name}-peer.crt",
            "key-file": f"{pki}/{ring.name}-peer.key",
            "trusted-ca-file": f"{pki}/{ring.name}-peers-ca.crt",
            "client-cert-auth": True,
        },
    }


def _wait_for_earlier(ring: Ring, earlier: Sequence[Machine]) -> list[str]:
    """A member compares its data with the others' before it serves. Were all to start at once, each would ask others
    that do not serve yet, and wait 7 s (etcd's request timeout). So it lets those before it begin, who find nobody.
    """
    if not earlier:
        return []
    pki, data = "/etc/etcd/pki", f"/var/lib/etcd/{ring.name}/data/member"
    urls = (f"https://{member.host}:{ring.peer_port}/version" for member in earlier)
    authority, certificate = f"{pki}/{ring.name}-peers-ca.crt", f"{pki}/{ring.name}-peer"
    return [script("answers", "--with", data, str(WAIT_SECONDS), authority, certificate, *urls)]


def _service(ring: Ring, earlier: Sequence[Machine]) -> str:
    mount = disks.mount(ring)
    text = service(
        f"etcd {ring.name}: {ring.what}",
        f"/usr/local/bin/etcd --config-file=/etc/etcd/{ring.name}.json",
        before_start=(disks.gate(ring), *_wait_for_earlier(ring, earlier)),
        after=f"network-online.target {mount}",
        Nice="-10",
        OOMScoreAdjust="-999",
        # A member that waits for its quorum, or takes over gigabytes from the leader, must not be killed for it.
        TimeoutStartSec="infinity",
    )
    # Without its disk a member would begin an empty life on the root disk.
    return text.replace("[Unit]\n", f"[Unit]\nRequires={mount}\nBindsTo={mount}\n", 1)


def etcdctl(ring: Ring) -> str:
    """etcdctl against this machine's own member."""
    pki = "/etc/etcd/pki"
    flags = f"--cacert={pki}/clients-ca.crt --cert={pki}/operator.crt --key={pki}/operator.key"
    return f"/usr/local/bin/etcdctl --endpoints=https://127.0.0.1:{ring.client_port} {flags}"


def _defrag(ring: Ring) -> str:
    return unit(
        {
            "Unit": [
                ("Description", f"Gives free space of etcd {ring.name} back"),
                ("After", f"etcd-{ring.name}.service"),
            ],
            "Service": [("Type", "oneshot"), ("ExecStart", script("etcd_defrag", ring.name))],
        }
    )


def _timer(ring: Ring, hour: int) -> str:
    return unit(
        {
            "Unit": [("Description", f"Once a day: gives free space of etcd {ring.name} back")],
            "Timer": [("OnCalendar", f"*-*-* {hour:02}:30:00"), ("Persistent", "true")],
        }
    )
