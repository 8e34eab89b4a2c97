"""The DNS cache of every node: it answers on the address of DNS itself, so that no kubelet need know of it.

What it has heard it goes on telling for a day when nobody answers: a site that is cut off still finds its names.
"""

from .dns import DOMAIN, NO_FAILURES, SERVE_STALE, UPSTREAM, UPSTREAM_ADDRESS
from .images import NODE_DNS
from .manifests import Manifest, config_map, container, daemon_set, get, host_path, on_host
from .spec import AddOnsSpec

ADDON = "node-dns"
# Of no network: fleet.address.reserved keeps it free of tunnels.
ADDRESS = "169.254.20.10"
HEALTH_PORT, METRICS_PORT = 8099, 9253
ZONES = (DOMAIN, "in-addr.arpa", "ip6.arpa")


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    config = {"Corefile.base": corefile(spec)}
    pod = on_host(
        containers=[_cache(spec)],
        volumes=[
            {"name": "config", "configMap": {"name": ADDON}},
            host_path("lock", "/run/xtables.lock", "FileOrCreate"),
        ],
    )
    return [config_map(ADDON, ADDON, config), daemon_set(ADDON, ADDON, pod, config)]


def corefile(spec: AddOnsSpec) -> str:
    """The cluster's names go to CoreDNS, by TCP as that outlives lost packets; others to the node's resolver."""
    listens = f"{ADDRESS} {spec.service_address()}"
    cluster = f"{spec.service_address(UPSTREAM_ADDRESS)} {{\n        force_tcp\n    }}"
    upstreams = [*((zone, cluster) for zone in ZONES), (".", "/etc/resolv.conf")]
    return "".join(_zone(zone, to, listens, health=zone == DOMAIN) for zone, to in upstreams)


def _zone(zone: str, forward: str, listens: str, *, health: bool) -> str:
    lines = [
        f"{zone}:53 {{",
        "    errors",
        "    cache {",
        "        success 9984 30",
        "        denial 9984 5",
        f"        {SERVE_STALE}",
        f"        {NO_FAILURES}",
        "    }",
        "    reload",
        "    loop",
        f"    bind {listens}",
        f"    forward . {forward}",
        f"    prometheus 127.0.0.1:{METRICS_PORT}",
        *([f"    health {ADDRESS}:{HEALTH_PORT}"] if health else []),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _cache(spec: AddOnsSpec) -> Manifest:
    return container(
        "cache",
        NODE_DNS,
        "25m",
        "30Mi",
        args=[
            f"-localip={ADDRESS},{spec.service_address()}",
            "-basecorefile=/etc/coredns/Corefile.base",
            "-conf=/etc/Corefile",
            f"-upstreamsvc={UPSTREAM}",
            f"-health-port={HEALTH_PORT}",
            "-metrics-listen-address=127.0.0.1:9353",
        ],
        livenessProbe=get(HEALTH_PORT, "/health", ADDRESS, initialDelaySeconds=60, timeoutSeconds=5),
        securityContext={"capabilities": {"add": ["NET_ADMIN"]}},
        volumeMounts=[
            {"name": "config", "mountPath": "/etc/coredns"},
            {"name": "lock", "mountPath": "/run/xtables.lock"},
        ],
    )
