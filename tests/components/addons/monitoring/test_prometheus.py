"""Whom the real Prometheus finds and asks, with the add-on's configuration and the rights of its account."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.addons import recorder
from components.addons.manifests import NAME
from components.addons.monitoring import control_plane, gpu_metrics, own_alarms, prometheus, targets
from components.addons.spec import AddOnsSpec
from fleet.monitoring import SPACE
from fleet.monitoring import TOKEN as TOKEN_KEY
from local.kubernetes import BIN
from tests.components.addons.bed import Applying, every
from tests.components.addons.cloud import token
from tests.components.addons.monitoring.asking import CONTROL_PLANE, Standing, fast, outside, pod
from tests.support.apiserver import HERE, Server, free_port
from tests.support.prometheus import answering, get, ready, running
from tests.support.waiting import eventually

# What a pod tells, and its port in the page's own words.
KEPT = "/api/v1/write"
PAGE = 'kube_pod_info{namespace="team-research",pod="train"} 1\n'


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory, kube: Server, example: AddOnsSpec) -> Iterator[Standing]:
    folder, port = tmp_path_factory.mktemp("prometheus"), free_port()
    apply = Applying(kube)
    for space in targets.SPACES:
        apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}})
    for one in prometheus.manifests(example):
        if one["kind"] not in ("StatefulSet", "PodDisruptionBudget", "Service"):
            apply(one)
    (folder / "token").write_text(token(kube, SPACE, prometheus.ADDON, kube.issuer))
    (folder / "ca.crt").write_text(kube.authority.pem)
    (folder / "rules").mkdir()
    for name, text in prometheus.rules().items():
        (folder / "rules" / name).write_text(text)
    with answering(PAGE) as page:
        for of in targets.PODS:
            pod(apply, kube, of, page.port)
        pod(apply, kube, targets.PODS[0]._replace(job="gone"), page.port, phase="Succeeded")
        (folder / "remote").mkdir()
        (folder / "remote" / TOKEN_KEY).write_text("kept-for-longer")
        config = fast(outside(prometheus.config(example), kube, folder))
        config["remote_write"][0]["url"] = f"http://{HERE}:{page.port}{KEPT}"
        file = folder / "prometheus.yaml"
        file.write_text(json.dumps(config))
        words = [
            f"--config.file={file}",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address={HERE}:{port}",
            "--enable-feature=auto-reload-config",
            "--config.auto-reload-interval=1s",
        ]
        with running("prometheus", folder / "log", *words, POD_NAME="prometheus-0"):
            ready(port)
            yield Standing(port, page)
    for of in (*targets.PODS, targets.PODS[0]._replace(job="gone")):
        # Others have this server, too.
        kube.api.call("DELETE", f"/api/v1/namespaces/{of.space}/pods/{of.job}-tried", {"gracePeriodSeconds": "0"})


def test_all_that_measures_is_found_and_nothing_that_has_ended(standing: Standing) -> None:
    jobs = {*CONTROL_PLANE, *(one.job for one in targets.PODS)}
    eventually(lambda: {one["job"] for one in standing.labels("up == 1")} == jobs, 60)
    assert "gone-tried" not in {one.get("pod") for one in standing.labels("up")}


def test_series_say_of_whom_they_are(standing: Standing) -> None:
    (told,) = eventually(lambda: standing.labels('kube_pod_info{job="kube-state-metrics"}'), 60)
    assert (told["namespace"], told["pod"]) == ("team-research", "train"), "what it tells of, and not its own"
    (node,) = eventually(lambda: standing.labels('up{job="node-exporter"}'), 60)
    assert node["node"] == "gpu-1"
    assert "pod" not in node
    (service,) = eventually(lambda: standing.labels(f'up{{job="{recorder.ADDON}"}}'), 60)
    assert (service["pod"], service["node"]) == ("recorder-tried", "gpu-1")


def test_of_an_api_server_a_part_is_kept(standing: Standing) -> None:
    def names() -> set[str]:
        return set(get(standing.port, '/api/v1/label/__name__/values?match[]={job="apiserver"}')["data"])

    kept = eventually(lambda: found if "apiserver_request_total" in (found := names()) else None, 60)
    assert not [name for name in kept if name.startswith(("rest_client", "apiserver_watch", "go_"))]
    (series,) = eventually(lambda: standing.value('count({job="apiserver"})'), 60)
    assert int(series["value"][1]) < 5000


def test_what_alarms_ask_of_an_api_server_is_kept(standing: Standing) -> None:
    """Of those that an idle one tells: some count nothing before they have something to count."""
    text = "".join(prometheus.rules().values())
    asked = set(re.findall(r'\b((?:aggregator|apiserver|etcd)_\w+)\{\s*job="apiserver"', text))
    assert len(asked) >= 6
    for name in asked:
        assert re.fullmatch("|".join(control_plane.KEPT_OF_API_SERVERS), name), name
    parts = 'count(count by (le) (etcd_request_duration_seconds_bucket{operation="create"}))'
    (le,) = eventually(lambda: standing.value(parts), 60)
    assert int(le["value"][1]) == 6, "what lies near half a second, and the ends"


def test_what_alarms_ask_of_gpus_is_told() -> None:
    asked = set(re.findall(r"\bDCGM_\w+", "".join(prometheus.rules().values())))
    assert len(asked) >= 5
    assert asked <= gpu_metrics.FIELDS.keys()


def test_alarms_are_told_without_the_replica_that_saw_it(standing: Standing) -> None:
    told = eventually(lambda: [body for path, body in standing.told.heard if path == "/api/v2/alerts"], 60)
    labels = [alert["labels"] for alert in told[0]]
    assert {"fleet": "example", "cluster": "main"}.items() <= labels[0].items()
    assert prometheus.REPLICA not in labels[0]


def test_what_is_measured_is_sent_to_where_it_is_kept_for_longer(standing: Standing) -> None:
    eventually(lambda: KEPT in standing.told.allowed, 60)
    assert standing.told.allowed[KEPT] == "Bearer kept-for-longer"
    sent = [body for path, body in standing.told.heard if path == KEPT]
    assert all(isinstance(body, bytes) and body for body in sent)


def test_the_fleet_s_own_alarms_stand_beside_ours(example: AddOnsSpec) -> None:
    (rules,) = [one for one in prometheus.manifests(example) if one["metadata"]["name"] == prometheus.RULES_MAP]
    assert rules["data"].keys() - {own_alarms.FILE} == prometheus.rules().keys()
    (own,) = json.loads(rules["data"][own_alarms.FILE])["groups"][0]["rules"]
    assert own["labels"] == {"severity": "ticket", "owner": "team", "namespace": "team-research"}


def test_whom_it_looks_for_the_add_ons_have(example: AddOnsSpec) -> None:
    there = {
        (one["metadata"]["namespace"], template["metadata"]["labels"][NAME], port["name"])
        for one in every(example)
        if (template := one.get("spec", {}).get("template"))
        for container in (*template["spec"]["containers"], *template["spec"].get("initContainers", ()))
        for port in container.get("ports", ())
        if "name" in port
    }
    assert {(of.space, of.addon, of.port) for of in targets.PODS} <= there


def test_its_configuration_is_one(example: AddOnsSpec, tmp_path: Path) -> None:
    (tmp_path / "prometheus.yaml").write_text(json.dumps(prometheus.config(example)))
    command = [BIN / "promtool", "check", "config", "--syntax-only", tmp_path / "prometheus.yaml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_changed_configuration_replaces_no_pod(example: AddOnsSpec) -> None:
    def template(of: AddOnsSpec) -> str:
        (made,) = [one for one in prometheus.manifests(of) if one["kind"] == "StatefulSet"]
        return json.dumps(made["spec"]["template"])

    other = example._replace(cluster=example.cluster._replace(api=example.cluster.api[:1]))
    assert prometheus.config(example) != prometheus.config(other)
    assert template(example) == template(other)
