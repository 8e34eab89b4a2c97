"""Machines join a real API server by what they are: attested, enrolled, or not at all; and those that went stay out."""

import base64
import json
import socket
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.components.pools.joining_bed import EAST, SERVING, TABLE, WEST, encoded, key, request
from tests.components.pools.joining_client import Client, Said, apply, eventually
from tests.components.pools.joining_cluster import REQUESTS, Cluster, alone, make, node, table

SYSTEM_SPACE = "/api/v1/namespaces/kube-system"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    yield from make(tmp_path_factory.mktemp("joining"), gone=2, **{"pass": 0.5}, gpu=3)


@pytest.fixture(scope="module")
def west(cluster: Cluster) -> list[str]:
    """Instances of the pool west-gpu."""
    return cluster.grow("example-west-gpu", 6)


def refused(client: Client, *call: Any) -> str:
    with pytest.raises(Said) as caught:
        client(*call)
    return str(caught.value)


def address(cluster: Cluster, instance: str) -> str:
    told = cluster.boto("ec2").describe_instances(InstanceIds=[instance])
    return str(told["Reservations"][0]["Instances"][0]["PrivateIpAddress"])


def lease(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name},
        "spec": {"holderIdentity": name},
    }


def who(client: Client) -> Any:
    wish = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    return client("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", wish)["status"]["userInfo"]


def test_a_machine_joins_as_a_kubelet_does(cluster: Cluster, west: list[str]) -> None:
    one, other = west[:2]
    mine = cluster.join(one)
    assert mine("POST", "/api/v1/nodes", node(one))["metadata"]["name"] == one
    assert mine("POST", LEASES, lease(one))
    assert "not allowed to modify node" in refused(mine, "POST", "/api/v1/nodes", node(other))
    renewal = cluster.ask(mine, "renewal", request(one))
    assert cluster.verdict(renewal)[0] == "Approved"
    serving = cluster.ask(mine, "serving", request(one, [one], [address(cluster, one)]), SERVING)
    assert cluster.verdict(serving) == ("Approved", f"{one} runs in pool west-gpu")
    assert eventually(lambda: cluster.admin("GET", f"{REQUESTS}/{serving}")["status"].get("certificate"))
    for wrong in (request(one, ["kubernetes"], ["10.128.0.5"]), request(one, [one], [address(cluster, other)])):
        assert cluster.verdict(cluster.ask(mine, "serving", wrong, SERVING))[0] == "Denied"
    # NodeRestriction itself refuses that one.
    with pytest.raises(Said, match=f"can only create a node CSR with CN=system:node:{one}"):
        cluster.ask(mine, "renewal", request(other))


def test_an_imposter_gets_nothing(cluster: Cluster, west: list[str]) -> None:
    one, other = west[:2]
    token = cluster.token(one)
    kind, why = cluster.verdict(cluster.ask(cluster.client(token=token), "imposter", request(other)))
    assert (kind, f"system:node:{one}, and nobody else" in why) == ("Denied", True)
    beside = alone(cluster, "example-west-gpu-node")
    kind, why = cluster.verdict(cluster.ask(cluster.client(token=cluster.token(beside)), "beside", request(beside)))
    assert (kind, why) == ("Denied", f"the instance {beside} is in no scaling group of pool west-gpu")
    assert cluster.boto("ec2", EAST).describe_instances()["Reservations"] == []


def changed(token: str, **headers: str) -> str:
    text = token.removeprefix("landbridge-aws.")
    told = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    told["headers"] |= {name.replace("_", "-"): value for name, value in headers.items()}
    return "landbridge-aws." + base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


def test_no_other_token_opens_the_door_and_nobody_is_told_why(cluster: Cluster, west: list[str]) -> None:
    good = cluster.token(west[0])
    earlier = f"{datetime.now(UTC) - timedelta(minutes=20):%Y%m%dT%H%M%SZ}"
    elsewhere = cluster.token(west[0], cluster="example/other")
    bad = {
        "made for another cluster": (elsewhere, "x-landbridge-cluster is 'example/other'"),
        "one for another cluster, renamed": (
            changed(elsewhere, x_landbridge_cluster="example/main"),
            "STS answers 403",
        ),
        "too old": (changed(good, x_amz_date=earlier), "not within"),
        "a minute younger than it is": (
            changed(good, x_amz_date=f"{datetime.now(UTC) + timedelta(minutes=1):%Y%m%dT%H%M%SZ}"),
            "STS answers 403",
        ),
        "of another host": (changed(good, host="sts.evil.example"), "its header host is"),
        "of a role that is no pool's": (
            cluster.token(alone(cluster, "stranger")),
            "with the role stranger, which is no pool's",
        ),
        "with another session": (changed(good, x_amz_security_token="forged"), "STS answers 40"),
        "ours by name only": ("landbridge-aws.x", "it is no JSON in base64url"),
    }
    for what, (token, why) in bad.items():
        said = refused(cluster.client(token=token), "GET", REQUESTS)
        assert said == "401 Unauthorized", what
        assert why in cluster.log("webhook"), what
    for strange in ("abcdef.0123456789abcdef", "x", "eyJhbGciOiJub25lIn0.e30."):
        assert refused(cluster.client(token=strange), "GET", REQUESTS) == "401 Unauthorized"
    for log in (cluster.log("service"), cluster.log("webhook")):
        assert "Traceback" not in log


def test_whoever_joins_may_ask_for_a_certificate_and_nothing_else(cluster: Cluster, west: list[str]) -> None:
    joining = cluster.client(token=cluster.token(west[0]))
    user = who(joining)
    assert user["username"] == f"system:bootstrappers:landbridge:west-gpu:{west[0]}"
    assert set(user["groups"]) == {"landbridge:joining", "system:authenticated", "system:bootstrappers"}
    for path in ("/api/v1/nodes", f"{SYSTEM_SPACE}/configmaps", f"{SYSTEM_SPACE}/secrets"):
        assert refused(joining, "GET", path).startswith("403")
    assert refused(joining, "POST", "/api/v1/nodes", node(west[0])).startswith("403")


def test_the_service_may_do_its_work_and_nothing_else(cluster: Cluster) -> None:
    service = cluster.client(certificate=(cluster.pki / "joining.crt", cluster.pki / "joining.key"))
    assert service("GET", f"{SYSTEM_SPACE}/configmaps/landbridge-departed")
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    for call in (
        ("GET", f"{SYSTEM_SPACE}/configmaps"),
        ("GET", f"{SYSTEM_SPACE}/secrets"),
        ("GET", "/api/v1/pods"),
        ("POST", f"{SYSTEM_SPACE}/configmaps", config_map),
        ("DELETE", f"{SYSTEM_SPACE}/configmaps/landbridge-departed"),
        ("DELETE", "/api/v1/nodes"),
    ):
        assert refused(service, *call).startswith("403"), call
    spec = {
        "request": encoded(request("x")),
        "signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["client auth"],
    }
    wish = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "other"}}
    made = cluster.admin("POST", REQUESTS, {**wish, "spec": spec})
    condition = {"type": "Approved", "status": "True", "reason": "x", "message": "x"}
    made["status"] = {"conditions": [condition]}
    assert "not permitted to approve" in refused(service, "PUT", f"{REQUESTS}/other/approval", made)
    assert "conditions" not in cluster.admin("GET", f"{REQUESTS}/other")["status"], "and it was not denied either"


def test_the_api_server_itself_refuses_requests_that_are_not_signed_with_their_key(
    cluster: Cluster, west: list[str]
) -> None:
    """So the service need not look: what it reads byte by byte is a request by whoever has the key."""
    lines = request(west[0]).splitlines()
    data = bytearray(base64.b64decode("".join(lines[1:-1])))
    data[-1] ^= 1
    broken = "\n".join([lines[0], base64.b64encode(data).decode(), lines[-1], ""])
    with pytest.raises(Said, match="422") as caught:
        cluster.ask(cluster.client(token=cluster.token(west[0])), "broken", broken)
    assert "spec.request" in str(caught.value)


def test_a_site_s_host_joins_by_its_token(cluster: Cluster) -> None:
    joining, made = cluster.client(token=cluster.enrolment("abc123", "host-2")), key()
    assert cluster.verdict(eventually(lambda: cluster.ask(joining, "host", request("host-1.lab"))))[0] == "Denied"
    name = cluster.ask(joining, "host", request("host-2.lab", made=made))
    assert cluster.verdict(name) == ("Approved", "host-2.lab is a host of site lab")
    mine = cluster.certificate(name, made)
    assert mine("POST", "/api/v1/nodes", node("host-2.lab", pool="site-gpu"))
    serving = cluster.ask(mine, "serving", request("host-2.lab", ["host-2.lab"], ["10.129.0.12"]), SERVING)
    assert cluster.verdict(serving)[0] == "Approved"


def taints(cluster: Cluster, name: str) -> set[str]:
    return {taint["key"] for taint in cluster.admin("GET", f"/api/v1/nodes/{name}")["spec"].get("taints", [])}


def test_gpus_open_a_node_and_their_absence_marks_it(cluster: Cluster, west: list[str]) -> None:
    name = west[2]
    mine = cluster.join(name)
    mine("POST", "/api/v1/nodes", node(name))
    starting = "startup-taint.cluster-autoscaler.kubernetes.io/gpu"
    assert starting in taints(cluster, name)
    status = "/api/v1/nodes/" + name + "/status"

    def advertise(gpus: int) -> None:
        told = node(name, gpus)["status"]
        told["conditions"][0] |= {
            "lastHeartbeatTime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "reason": "x",
            "message": "x",
        }
        mine("PATCH", status, {"status": told}, "application/merge-patch+json")

    refusal = refused(
        mine, "PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}}, "application/merge-patch+json"
    )
    assert "taint" in refusal
    eventually(lambda: "landbridge.dev/gpu-failed" in taints(cluster, name))
    assert starting not in taints(cluster, name), "the autoscaler does not wait for it any more"
    advertise(7)
    advertise(8)
    eventually(lambda: taints(cluster, name) & {starting, "landbridge.dev/gpu-failed"} == set())
    assert "nvidia.com/gpu" in taints(cluster, name), "other taints stay"
    told = cluster.admin("GET", f"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name={name}")["items"]
    reasons = [event["reason"] for event in told if event["source"].get("component") == "landbridge-joining"]
    assert sorted(reasons) == ["GPUsBack", "GPUsMissing"]
    fresh = west[3]
    other = cluster.join(fresh)
    other("POST", "/api/v1/nodes", node(fresh, 8))
    eventually(lambda: taints(cluster, fresh) == {"nvidia.com/gpu"})


def test_a_site_s_host_whose_gpus_fail_is_closed_to_new_work_and_reported_and_stays(cluster: Cluster) -> None:
    """Nobody can buy another: it keeps its node and its pods until somebody has seen to it."""
    joining, made, name = cluster.client(token=cluster.enrolment("abc124", "host-1")), key(), "host-1.lab"
    asked = eventually(lambda: cluster.ask(joining, "host", request(name, made=made)))
    mine = cluster.certificate(asked, made)
    before = mine("POST", "/api/v1/nodes", node(name, 8, "site-gpu"))["metadata"]["uid"]
    eventually(lambda: taints(cluster, name) == {"nvidia.com/gpu"})
    pod = {"containers": [{"name": "main", "image": "registry.example.com/main:1"}], "nodeName": name}
    pod["automountServiceAccountToken"] = False
    head = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "works"}}
    works = cluster.admin("POST", "/api/v1/namespaces/default/pods", {**head, "spec": pod})["metadata"]["uid"]
    mine("PATCH", f"/api/v1/nodes/{name}/status", {"status": node(name, 7)["status"]}, "application/merge-patch+json")
    eventually(lambda: "landbridge.dev/gpu-failed" in taints(cluster, name))
    found = cluster.admin("GET", f"/api/v1/nodes/{name}")
    assert {"key": "landbridge.dev/gpu-failed", "value": "true", "effect": "NoSchedule"} in found["spec"]["taints"]
    query = f"fieldSelector=involvedObject.name={name},reason=GPUsMissing"
    (told,) = eventually(lambda: cluster.admin("GET", f"/api/v1/namespaces/default/events?{query}")["items"])
    assert told["type"] == "Warning"
    assert told["message"].startswith("advertises 7 of 8 GPUs since ")
    # Longer than a cloud's machine would need to be confirmed gone, in passes of half a second.
    time.sleep(5)
    assert cluster.admin("GET", f"/api/v1/nodes/{name}")["metadata"]["uid"] == before
    live = cluster.admin("GET", "/api/v1/namespaces/default/pods/works")["metadata"]
    assert (live["uid"], "deletionTimestamp" in live) == (works, False)


def departed(cluster: Cluster) -> dict[str, str]:
    return dict(cluster.admin("GET", f"{SYSTEM_SPACE}/configmaps/landbridge-departed").get("data") or {})


def end(cluster: Cluster, instance: str) -> None:
    cluster.boto("autoscaling").terminate_instance_in_auto_scaling_group(
        InstanceId=instance, ShouldDecrementDesiredCapacity=True
    )


def exists(cluster: Cluster, name: str) -> bool:
    return name in [one["metadata"]["name"] for one in cluster.admin("GET", "/api/v1/nodes")["items"]]


def test_a_machine_that_has_gone_cannot_come_back_with_its_certificate(cluster: Cluster, west: list[str]) -> None:
    gone, stays = west[4], west[5]
    mine, other = cluster.join(gone), cluster.join(stays)
    token = cluster.token(gone)
    for client, name in ((mine, gone), (other, stays)):
        client("POST", "/api/v1/nodes", node(name, 8))
        client("POST", LEASES, lease(name))
    freeze = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "landbridge-freeze", "namespace": "kube-system"},
        "data": {"why": "a test"},
    }
    apply(cluster.admin, freeze)
    end(cluster, gone)
    eventually(
        lambda: (
            "1 machines are gone, but the cluster is frozen ('a test'): no node is removed" in cluster.log("service")
        )
    )
    assert exists(cluster, gone)
    assert gone not in departed(cluster)
    cluster.admin("DELETE", f"{SYSTEM_SPACE}/configmaps/landbridge-freeze")
    eventually(lambda: not exists(cluster, gone))
    assert gone in departed(cluster)
    # The certificate is valid for days, and the API server still knows whose it is.
    assert who(mine)["username"] == f"system:node:{gone}"
    message = f"the machine {gone} has gone: its certificate is worth nothing"
    writes = [
        ("POST", "/api/v1/nodes", node(gone)),
        (
            "PATCH",
            f"{LEASES}/{gone}",
            {"spec": {"renewTime": "2026-01-01T00:00:00.000000Z"}},
            "application/merge-patch+json",
        ),
        ("PATCH", f"/api/v1/nodes/{gone}/status", {"status": {}}, "application/merge-patch+json"),
        (
            "POST",
            "/api/v1/namespaces/default/events",
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": "x", "namespace": "default"},
                "involvedObject": {"namespace": "default"},
            },
        ),
    ]
    for call in writes:
        said = refused(mine, *call)
        assert message in said or said.startswith("404"), call
    assert message in refused(mine, *writes[0])
    assert message in refused(mine, *writes[1])
    with pytest.raises(Said, match=message):
        cluster.ask(mine, "renewal", request(gone))
    kind, _ = cluster.verdict(cluster.ask(cluster.client(token=token), "again", request(gone)))
    assert kind == "Denied"
    other(
        "PATCH",
        f"{LEASES}/{stays}",
        {"spec": {"renewTime": "2026-01-01T00:00:00.000000Z"}},
        "application/merge-patch+json",
    )
    assert exists(cluster, stays)
    assert exists(cluster, "host-2.lab"), "a site's hosts are nobody's to remove"


def test_the_door_stands_whatever_comes(cluster: Cluster) -> None:
    """Broken calls to the webhook's port: it answers the next one."""
    context = ssl.create_default_context(cafile=str(cluster.pki / "ca.crt"))
    for words in (
        b"\0\1\2",
        b"POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 99999999\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n[]",
    ):
        raw = socket.create_connection(("127.0.0.1", cluster.ports["webhook"]), 10)
        with context.wrap_socket(raw, server_hostname="127.0.0.1") as line:
            line.sendall(words + b"\r\n\r\n")
            assert b"400" in line.recv(1000)
    plain = socket.create_connection(("127.0.0.1", cluster.ports["webhook"]), 10)
    plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
    plain.close()
    for log in (cluster.log("service"), cluster.log("webhook")):
        assert "Traceback" not in log
        assert "ERROR" not in log


def test_another_copy_takes_over_at_once_from_one_that_ends(cluster: Cluster, west: list[str]) -> None:
    first = cluster.running.pop("service")
    assert first.poll() is None
    first.terminate()
    assert first.wait(15) == 0
    cluster.serve()
    name = cluster.ask(cluster.client(token=cluster.token(west[0])), "later", request(west[0]))
    assert cluster.verdict(name)[0] == "Approved"


def known(cluster: Cluster, instance: str) -> bool:
    try:
        return bool(who(cluster.client(token=cluster.token(instance))))
    except Said:
        return False


def test_a_new_pool_s_machines_join_though_no_machine_of_the_control_plane_is_new(cluster: Cluster) -> None:
    late = alone(cluster, "stranger")
    assert refused(cluster.client(token=cluster.token(late)), "GET", REQUESTS) == "401 Unauthorized"
    one = {"place": WEST, "site": False, "groups": ["example-late"], "hosts": {}, "gpus": 0}
    more = {**TABLE, "roles": {**TABLE["roles"], "stranger": "late"}, "pools": {**TABLE["pools"], "late": one}}
    apply(cluster.admin, table(more))
    user = eventually(lambda: who(cluster.client(token=cluster.token(late))))
    assert user["username"] == f"system:bootstrappers:landbridge:late:{late}"
    # systemd would start it again.
    assert cluster.running["service"].wait(30) == 0
    cluster.serve()
    verdict = cluster.verdict(cluster.ask(cluster.client(token=cluster.token(late)), "late", request(late)))
    assert verdict == ("Denied", f"the instance {late} is in no scaling group of pool late")
    apply(cluster.admin, {**table(TABLE), "data": {"pools.json": "{"}})
    eventually(lambda: "cannot read the pools" in cluster.log("service"))
    assert who(cluster.client(token=cluster.token(late))), "a slip of the pen shuts nobody out"
    apply(cluster.admin, table(TABLE))
    assert cluster.running["service"].wait(30) == 0
    eventually(lambda: not known(cluster, late))
