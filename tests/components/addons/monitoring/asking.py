"""Prometheus as a process of a test, which finds pods by a real API server as it would in a pod of its own."""

import json
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from components.addons.manifests import NAME
from components.addons.monitoring import control_plane, prometheus, targets
from components.addons.system_pods import TOKEN
from tests.components.addons.bed import Applying
from tests.support.apiserver import HERE, Server
from tests.support.prometheus import Answering, Json, get

CONTROL_PLANE = {"apiserver", control_plane.ETCD, control_plane.MACHINES, *control_plane.KEPT}


class Standing(NamedTuple):
    port: int
    told: Answering

    def value(self, query: str) -> list[Json]:
        return list(get(self.port, f"/api/v1/query?query={quote(query)}")["data"]["result"])

    def labels(self, query: str) -> list[dict[str, str]]:
        return [one["metric"] for one in self.value(query)]


def fast(config: Json) -> Json:
    config["global"] |= {"scrape_interval": "1s", "evaluation_interval": "1s"}
    # What one tells is long, and on a busy machine takes more than that second.
    for one in config["scrape_configs"]:
        if one["job_name"] in CONTROL_PLANE:
            one["scrape_interval"] = "5s"
    return config


def outside(config: Json, kube: Server, folder: Path) -> Json:
    """As a process that is in no pod: where the API is, and by which token it may ask."""
    access = {
        "api_server": kube.url,
        "authorization": {"credentials_file": str(folder / "token")},
        "tls_config": {"ca_file": str(folder / "ca.crt")},
    }
    places = [*config["scrape_configs"], *config.get("alerting", {}).get("alertmanagers", ())]
    for one in (found for place in places for found in place.get("kubernetes_sd_configs", ())):
        one |= access
    for one in config["scrape_configs"]:
        # The API server stands for its whole machine: test_control_plane.py asks the others themselves.
        if one["job_name"] in CONTROL_PLANE:
            one["static_configs"] = [{"targets": [urlsplit(kube.url).netloc]}]
            one["tls_config"]["server_name"] = HERE
        # The page that is told by pods has no TLS.
        elif one.pop("scheme", None):
            del one["tls_config"]
    text = json.dumps(config).replace(TOKEN, str(folder)).replace(prometheus.RULES, str(folder / "rules"))
    return json.loads(text.replace(prometheus.REMOTE, str(folder / "remote")))


def pod(
    apply: Applying, kube: Server, of: targets.Pods, port: int, phase: str = "Running", node: str = "gpu-1"
) -> None:
    # Not as the set's own controller calls them.
    name = f"{of.job}-tried"
    container = {"name": "main", "image": "example.com/a:1", "ports": [{"name": of.port, "containerPort": port}]}
    apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": of.space, "labels": {NAME: of.addon}},
            "spec": {"nodeName": node, "containers": [container]},
        }
    )
    status = {"phase": phase, "podIP": HERE, "podIPs": [{"ip": HERE}]}
    kube.patch(f"/api/v1/namespaces/{of.space}/pods/{name}/status", {"status": status})
