"""What is booked for a run ends when it has begun: on a real API server, with the rights that the add-on gives."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from components.addons import autoscaler, definitions, gangs, kueue
from components.addons.manifests import rights
from services.autoscaler.bookings import REQUESTS, WORKLOADS, Bookings
from services.kube import HOST, PORT
from tests.components.addons.bed import Applying
from tests.components.addons.cloud import token
from tests.components.pools.joining_client import eventually
from tests.support.apiserver import HERE, Server, server

SPACE = "team-lab"
NOW = datetime.now(UTC)
Json = dict[str, Any]


class Cluster:
    """An API server that has workloads and requests, and the service beside nobody."""

    def __init__(self, kube: Server, folder: Path) -> None:
        self.kube, self.account = kube, folder
        applied = Applying(kube)
        for one in definitions.definitions(kueue.GROUP, kueue.ADDON):
            if one["metadata"]["name"].startswith("workloads."):
                applied(one)
        applied(gangs.definition(autoscaler.ADDON))
        for one in rights(autoscaler.ADDON, autoscaler.ADDON, autoscaler.everywhere()):
            applied(one)
        (folder / "token").write_text(token(kube, "kube-system", autoscaler.ADDON, kube.issuer))
        (folder / "ca.crt").write_text(kube.authority.pem)
        applied({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
        for path in (WORKLOADS, REQUESTS):
            eventually(partial(kube.find, path))

    def make(self, path: str, kind: str, name: str, spec: Json, of: str = "") -> None:
        group, plural = path.removeprefix("/apis/").rpartition("/")[::2]
        meta: Json = {"name": name, "namespace": SPACE}
        if of:
            owner = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "name": of, "uid": self.uid(of)}
            meta["ownerReferences"] = [{**owner, "controller": True}]
        made = {"apiVersion": group, "kind": kind, "metadata": meta, "spec": spec}
        self.kube.api.call("POST", f"/apis/{group}/namespaces/{SPACE}/{plural}", {}, made)

    def run(self, name: str) -> None:
        """A workload, and what the autoscaler is asked for it."""
        container = {"name": "train", "image": "example.com/train:1"}
        template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
        pods = {"name": "main", "count": 2, "template": template}
        self.make(WORKLOADS, "Workload", name, {"podSets": [pods], "queueName": "runs"})
        asked = {"provisioningClassName": gangs.CLASS, "podSets": [{"count": 2, "podTemplateRef": {"name": "of"}}]}
        self.make(REQUESTS, "ProvisioningRequest", f"{name}-machines-1", asked, of=name)

    def uid(self, workload: str) -> str:
        found = self.kube.find(self.path(WORKLOADS, workload))
        assert found is not None
        return str(found["metadata"]["uid"])

    def path(self, path: str, name: str) -> str:
        group, plural = path.rpartition("/")[::2]
        return f"{group}/namespaces/{SPACE}/{plural}/{name}"

    def says(self, path: str, name: str, seconds: float = 0, **conditions: bool) -> None:
        """Conditions that came so long after all began."""
        at = (NOW + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
        told = [
            {"type": kind, "status": str(value), "reason": "Test", "message": "", "lastTransitionTime": at}
            for kind, value in conditions.items()
        ]
        self.kube.patch(f"{self.path(path, name)}/status", {"status": {"conditions": told}})

    def provisioned(self, name: str, seconds: float = 0) -> None:
        self.says(REQUESTS, f"{name}-machines-1", seconds, Accepted=True, Provisioned=True)

    def told(self, name: str) -> dict[str, Json]:
        found = self.kube.find(self.path(REQUESTS, f"{name}-machines-1")) or {}
        return {one["type"]: one for one in found.get("status", {}).get("conditions", [])}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = tmp_path_factory.mktemp("bookings")
    with server(made, controllers=False) as kube, pytest.MonkeyPatch.context() as patched:
        found = Cluster(kube, made)
        patched.setenv(HOST, HERE)
        patched.setenv(PORT, str(urlsplit(kube.url).port))
        found.run("before")
        found.provisioned("before")
        found.says(WORKLOADS, "before", 5, Finished=True)
        Bookings(made).start()
        yield found


def test_what_was_booked_before_it_began_to_look_ends_too(cluster: Cluster) -> None:
    eventually(lambda: "BookingExpired" in cluster.told("before"), 30)
    assert cluster.told("before").keys() == {"Accepted", "Provisioned", "BookingExpired"}, "the rest stays as it is"


@pytest.mark.parametrize("begins", ["PodsReady", "Finished"])
def test_a_booking_ends_when_its_run_has_begun_and_not_before(cluster: Cluster, begins: str) -> None:
    name = f"run-{begins.lower()}"
    cluster.run(name)
    cluster.run(f"{name}-waits")
    for one in (name, f"{name}-waits"):
        cluster.provisioned(one)
        cluster.says(WORKLOADS, one, 1, Admitted=True, **{begins: False})
    cluster.says(WORKLOADS, name, 2, Admitted=True, **{begins: True})
    eventually(lambda: "BookingExpired" in cluster.told(name), 30)
    assert cluster.told(name)["BookingExpired"]["reason"] == "RunHasBegun"
    assert "BookingExpired" not in cluster.told(f"{name}-waits"), "it may yet take what is booked for it"


def test_what_is_booked_for_a_run_that_went_back_into_its_queue_stays(cluster: Cluster) -> None:
    """It began before, on machines that are gone; a sign after it shows that all of this was seen."""
    cluster.run("again")
    cluster.says(WORKLOADS, "again", 10, PodsReady=True)
    cluster.provisioned("again", 60)
    cluster.run("sign")
    cluster.provisioned("sign")
    cluster.says(WORKLOADS, "sign", 5, PodsReady=True)
    eventually(lambda: "BookingExpired" in cluster.told("sign"), 30)
    assert "BookingExpired" not in cluster.told("again")
    cluster.says(WORKLOADS, "again", 120, PodsReady=True)
    eventually(lambda: "BookingExpired" in cluster.told("again"), 30)
