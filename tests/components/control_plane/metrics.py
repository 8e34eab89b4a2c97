"""Asks machines for metrics as Prometheus does, by its configuration."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from components.addons.monitoring import control_plane
from tests.components.control_plane.bed import Bed

# Of whom each name is looked for; what an API server tells tests/components/addons/monitoring sees.
NAMED = {"controllers", "etcd", "scheduler"}
# Told of once there is a node, or a pod to be placed.
NOT_YET = {
    "node_collector_(evictions_total|unhealthy_nodes_in_zone)",
    "scheduler_schedule_attempts_total",
    "scheduler_pod_scheduling_sli_duration_seconds_(bucket|count)",
}


class Target(NamedTuple):
    """`kept` are the names that Prometheus keeps of what it tells."""

    job: str
    address: str
    path: str
    kept: re.Pattern[str]

    def ask(self, bed: Bed, token: str, by: str = "main-api-2") -> tuple[str, str]:
        """HTTP's status and the text; the certificate must be the one that Prometheus wants."""
        name, port = control_plane.API, self.address.rpartition(":")[2]
        words = f"--silent --http1.1 --max-time 60 --cacert /etc/kubernetes/pki/ca.crt --connect-to {name}:{port}:{self.address}"
        shown = f"--header 'Authorization: Bearer {token}'" if token else ""
        said = bed[by].sh(f"curl {words} {shown} --write-out '\\n%{{http_code}}' https://{name}:{port}{self.path}")
        assert said.code == 0, (self.address, said.code, said.err)
        text, _, status = said.out.rpartition("\n")
        return status, text


def targets(bed: Bed) -> Iterator[Target]:
    for config in control_plane.scrape_configs(bed.spec):
        kept = re.compile(config["metric_relabel_configs"][0]["regex"])
        for one in config["static_configs"]:
            (address,) = one["targets"]
            yield Target(config["job_name"], address, one["labels"].get("__metrics_path__", "/metrics"), kept)


def names(text: str) -> set[str]:
    return set(re.findall(r"^(\w+)[ {]", text, re.MULTILINE))


def values(text: str) -> dict[tuple[str, str], float]:
    """By name and labels."""
    found = re.findall(r"^(\w+)(?:\{(.*)\})? (\S+)$", text, re.MULTILINE)
    return {(name, labels): float(value) for name, labels, value in found}


def alternatives(pattern: str) -> list[str]:
    """Of a pattern of names: what each of its parts stands for, outermost | alone."""
    parts, depth = [""], 0
    for letter in pattern:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
