"""Parts of the pods that local kubelets run themselves: images, fields, variables, files, back-off, status, probes."""

import json
import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from local.supervisor import programs, supervisor
from local.workers import api_proxy, environment, fields, images, payload, probes, status
from local.workers.environment import Place
from local.workers.payload import File, Owner
from local.workers.pod_container import Backoff, PodContainer, pod_containers
from local.workers.volumes import Volumes, on_host
from tests.components.pools.joining_client import eventually
from tests.local.workers.real_pods import IMAGE, container, pod, whole

SCALER = "registry.k8s.io/autoscaling/cluster-autoscaler:v1.36.1"
ENDED = {"terminated": {"exitCode": 0, "reason": "Completed"}}


def real(name: str = "one", **spec: Any) -> dict[str, Any]:
    made = pod(name, "node", container("main", "pass"), restartPolicy="Always", **spec)
    made["metadata"] |= {"namespace": "default", "uid": f"uid-of-{name}"}
    return made


def played() -> dict[str, Any]:
    return pod("other", "node", container("main", "pass"), {"name": "x", "image": "registry.example.com/x"})


def test_images_are_known_by_their_repository() -> None:
    for image, name in (
        (SCALER, "registry.k8s.io/autoscaling/cluster-autoscaler"),
        ("registry.example.com:5000/a/b:1@sha256:00", "registry.example.com:5000/a/b"),
        ("registry.example.com:5000/a", "registry.example.com:5000/a"),
        ("busybox:1", "busybox"),
    ):
        assert images.repository(image) == name
    assert images.real(whole("node"))
    assert not images.real(played()), "all of it or nothing"


def test_a_program_that_is_optional_is_no_missing_one(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(programs, "BIN", tmp_path)
    assert "cluster-autoscaler" not in programs.of("1.36.2")
    assert "cluster-autoscaler" not in programs.missing("1.36.2")
    (tmp_path / "cluster-autoscaler").touch(0o755)
    assert programs.of("1.36.2")["cluster-autoscaler"] == tmp_path / "cluster-autoscaler"


def test_what_is_not_honoured_is_named() -> None:
    assert fields.refusals(whole("node")) == []
    for change, why in (
        ({"hostIPC": True}, ["spec.hostIPC is not honoured"]),
        ({"hostIPC": False}, []),
        ({"volumes": [{"name": "a", "hostPath": {"path": "/"}}]}, []),
        (
            {"volumes": [{"name": "a", "hostPath": {"path": "/dev/null", "type": "CharDevice"}}]},
            ["spec.volumes[a].hostPath.type: 'CharDevice' is not honoured, only '', 'Directory', 'DirectoryOrCreate'"],
        ),
        (
            {"volumes": [{"name": "a", "emptyDir": {"medium": "HugePages"}}]},
            ["spec.volumes[a].emptyDir.medium: 'HugePages' is not honoured, only '', 'Memory'"],
        ),
    ):
        assert fields.refusals(real(**change)) == why
    for change, why in (
        ({"livenessProbe": {"grpc": {"port": 1}}}, "spec.containers[main].livenessProbe.grpc is not honoured"),
        ({"lifecycle": {"preStop": {"sleep": {"seconds": 1}}}}, "spec.containers[main].lifecycle is not honoured"),
        ({"volumeMounts": [{"name": "a", "mountPath": "/a", "subPath": "b"}]}, "volumeMounts[a].subPath is not"),
        ({"ports": [{"containerPort": 80, "hostPort": 81}]}, "a hostPort must be its containerPort"),
        ({"command": ["sh"]}, "container main: its command must begin with python3"),
        ({"command": None}, "container main: its command must begin with python3"),
        ({"livenessProbe": {"exec": {"command": ["ls"]}}}, "its livenessProbe.exec.command must begin with python3"),
    ):
        made = real()
        made["spec"]["containers"][0] |= change
        (found,) = fields.refusals(made)
        assert why in found


def test_variables_are_put_in_as_kubernetes_does() -> None:
    known = {"A": "1", "B": "$(A)"}
    for text, made in (
        ("$(A)", "1"),
        ("$(B)", "$(A)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$(C) $A ${A} $(", "$(C) $A ${A} $("),
    ):
        assert environment.expand(text, known) == made


def test_a_container_gets_its_own_variables_and_no_others() -> None:
    def lookup(plural: str, name: str) -> dict[str, str] | None:
        return {("configmaps", "settings"): {"colour": "blue"}, ("secrets", "hidden"): {"word": "sesame"}}.get(
            (plural, name)
        )

    made = whole("node")
    made["metadata"] |= {"namespace": "default", "uid": "u"}
    main = made["spec"]["containers"][0]
    found = environment.known_variables(
        made, main, Place("192.0.2.7", "10.64.0.126", "https://api.example.com:6443"), lookup
    )
    assert found == {
        "KUBERNETES_SERVICE_HOST": "api.example.com",
        "KUBERNETES_SERVICE_PORT": "6443",
        "POD": "whole",
        "HOST_IP": "192.0.2.7",
        "COLOUR": "blue",
        "WORD": "sesame",
        "BOTH": "whole-blue-$(PATH)-$(POD)",
    }
    assert environment.words(main, found)[-1] == "blue"
    for change, why in (
        ({"name": "x"}, "configmap 'x' not found"),
        ({"key": "x"}, "find key x in configmap 'settings'"),
    ):
        main["env"][2]["valueFrom"]["configMapKeyRef"] = {"name": "settings", "key": "colour", **change}
        with pytest.raises(environment.Lacking, match=why):
            environment.known_variables(
                made, main, Place("192.0.2.7", "10.64.0.126", "https://api.example.com"), lookup
            )


def test_a_container_gets_whole_secrets_and_its_own_variables_win() -> None:
    def lookup(plural: str, name: str) -> dict[str, str] | None:
        return {("secrets", "words"): {"A": "1", "B": "2"}, ("configmaps", "plain"): {"C": "3"}}.get((plural, name))

    made = whole("node")
    made["metadata"] |= {"namespace": "default", "uid": "u"}
    main = made["spec"]["containers"][0]
    main["env"] = [{"name": "B", "value": "own $(A)"}]
    sources: list[Any] = [{"secretRef": {"name": "words"}}, {"prefix": "P_", "configMapRef": {"name": "plain"}}]
    main["envFrom"] = [*sources, {"secretRef": {"name": "none", "optional": True}}]
    assert fields.refusals(made) == []
    found = environment.known_variables(
        made, main, Place("192.0.2.7", "10.64.0.126", "https://api.example.com"), lookup
    )
    assert (found["A"], found["B"], found["P_C"]) == ("1", "own 1", "3")
    main["envFrom"] = [{"secretRef": {"name": "none"}}]
    with pytest.raises(environment.Lacking, match="secret 'none' not found"):
        environment.known_variables(made, main, Place("192.0.2.7", "10.64.0.126", "https://api.example.com"), lookup)


def test_the_image_s_variables_lie_below_and_aws_is_trusted_as_on_the_machine(tmp_path: Path, monkeypatch: Any) -> None:
    assert str(environment.BUNDLE).lstrip("/") in supervisor.TRUSTED
    monkeypatch.setattr(environment, "BUNDLE", tmp_path / "bundle")
    plain = environment.given(real(), SCALER, root=True)
    assert set(plain) == {"PATH", "HOSTNAME", "HOME"}
    (tmp_path / "bundle").touch()
    found = environment.given(real(), IMAGE, root=False)
    assert (found["AWS_CA_BUNDLE"], found["HOME"], found["HOSTNAME"]) == (str(tmp_path / "bundle"), "/", "one")
    assert Path(found["PATH"].partition(":")[0], "python3").exists()


def test_a_pod_s_host_name_is_its_own_unless_its_network_is_the_machine_s() -> None:
    assert environment.host_name(real("one")) == "one"
    assert environment.host_name(real(f"{'a' * 62}-b")) == "a" * 62
    assert environment.host_name(real("one", hostNetwork=True)) is None
    machine = environment.given(real("one", hostNetwork=True), SCALER, root=True)["HOSTNAME"]
    assert machine == socket.gethostname()


def test_a_volume_s_files_change_at_once_and_under_the_same_names(tmp_path: Path) -> None:
    files = {"a": File(b"1", 0o600), "b/c": File(b"2", 0o644)}
    assert payload.write(tmp_path, files, Owner(group=os.getgid()))
    first = (tmp_path / "..data").readlink()
    assert (tmp_path / "a").readlink() == Path("..data/a")
    assert (tmp_path / "b/c").read_text() == "2"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640, "its group reads it"
    assert not payload.write(tmp_path, files, Owner())
    assert payload.write(tmp_path, {"a": File(b"3", 0o644)}, Owner())
    assert (tmp_path / "a").read_text() == "3"
    assert (tmp_path / "..data").readlink() != first
    assert sorted(one.name for one in tmp_path.iterdir() if one.name[:2] != "..") == ["a"]
    assert not (tmp_path / first).exists()
    for path in ("../x", "/x", "..data", ""):
        with pytest.raises(ValueError, match="is no path inside a volume"):
            payload.write(tmp_path, {path: File(b"", 0o644)}, Owner())


class Cluster:
    """What volumes ask of the API."""

    def __init__(self) -> None:
        self.data, self.asked, self.seconds = {"colour": "blue"}, [], 7200

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        self.asked.append((method, path, body))
        if method == "GET":
            return {"data": self.data}
        return {"status": {"token": f"token {len(self.asked)}", "expirationTimestamp": "2100-01-01T00:00:00Z"}}


def test_a_file_of_an_annotation_follows_it(tmp_path: Path) -> None:
    cluster, made = Cluster(), real()
    field = {"fieldPath": "metadata.annotations['example.com/notice']"}
    sources = [{"downwardAPI": {"items": [{"path": "notice", "fieldRef": field}]}}]
    made["spec"]["volumes"] = [{"name": "notice", "projected": {"sources": sources}}]
    volumes = Volumes(cluster, made, tmp_path)  # type: ignore[arg-type]
    volumes.lay()
    assert (tmp_path / "notice/notice").read_text() == ""
    changed = {**made, "metadata": {**made["metadata"], "annotations": {"example.com/notice": "in an hour"}}}
    cluster.ask = lambda *_: changed  # type: ignore[method-assign]
    assert volumes.refresh() == ["notice"]
    assert (tmp_path / "notice/notice").read_text() == "in an hour"


def test_volumes_follow_their_config_map_and_renew_their_token(tmp_path: Path, monkeypatch: Any) -> None:
    cluster, made = Cluster(), real()
    token = {"serviceAccountToken": {"audience": "example.com", "expirationSeconds": 7200, "path": "token"}}
    downward = {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}}
    made["spec"]["volumes"] = [
        {"name": "settings", "configMap": {"name": "settings", "items": [{"key": "colour", "path": "x/y"}]}},
        {"name": "team", "projected": {"sources": [token, downward]}},
    ]
    volumes = Volumes(cluster, made, tmp_path)  # type: ignore[arg-type]
    volumes.lay()
    assert (tmp_path / "settings/x/y").read_text() == "blue"
    assert (tmp_path / "team/name").read_text() == "one"
    ((_, path, body),) = [one for one in cluster.asked if one[0] == "POST"]
    assert path == "/api/v1/namespaces/default/serviceaccounts/default/token"
    assert body["spec"]["audiences"] == ["example.com"]
    assert body["spec"]["boundObjectRef"] == {"apiVersion": "v1", "kind": "Pod", "name": "one", "uid": "uid-of-one"}
    assert volumes.refresh() == []
    cluster.data = {"colour": "red"}
    assert volumes.refresh() == ["settings"]
    assert (tmp_path / "settings/x/y").read_text() == "red"
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 23 * 3600)
    assert volumes.refresh() == []
    monkeypatch.setattr(time, "time", lambda: now + 25 * 3600)
    assert volumes.refresh() == ["team"], "a day old"
    cluster.data = {}
    with pytest.raises(environment.Lacking, match="references non-existent key: colour"):
        volumes.refresh()


def test_a_folder_of_the_machine_is_a_volume_as_it_is(tmp_path: Path) -> None:
    assert on_host({"path": str(tmp_path / "new"), "type": "DirectoryOrCreate"}) == tmp_path / "new"
    assert on_host({"path": str(tmp_path)}) == tmp_path
    with pytest.raises(environment.Lacking, match=r"hostPath type check failed: .*gone is not a directory"):
        on_host({"path": str(tmp_path / "gone"), "type": "Directory"})


def test_volumes_are_kept_up_to_date_until_they_are_left(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("local.workers.volumes.REFRESH_SECONDS", 0.02)
    cluster, made = Cluster(), real(volumes=[{"name": "settings", "secret": {"secretName": "a"}}])
    cluster.data = {"colour": "Ymx1ZQ=="}
    volumes = Volumes(cluster, made, tmp_path / "volumes")  # type: ignore[arg-type]
    volumes.lay()
    volumes.keep("default/one")
    cluster.data = {"colour": "cmVk"}
    eventually(lambda: (tmp_path / "volumes/settings/colour").read_text() == "red")
    volumes.end()
    assert list(tmp_path.iterdir()) == []
    assert volumes.follower
    assert not volumes.follower.is_alive()


def test_a_crash_is_answered_at_once_then_later_and_later() -> None:
    backoff = Backoff()
    assert [backoff.after(1) for _ in range(8)] == [0, 10, 20, 40, 80, 160, 300, 300]
    assert [backoff.after(seconds) for seconds in (599, 600, 1)] == [300, 0, 10]


def test_a_status_is_that_of_its_containers() -> None:
    made = real(initContainers=[container("before", ""), container("beside", "", restartPolicy="Always")])
    before, beside, main = pod_containers(made)

    def told(**more: Any) -> dict[str, Any]:
        given = {
            "laid": True,
            "stopping": False,
            "trouble": "",
            "verdict": {},
            "address": "192.0.2.7",
            "own": "10.64.0.126",
            "started": "s",
            "now": "now",
        }
        return status.status([before, beside, main], {"conditions": old}, **{**given, **more})

    def seen(one: dict[str, Any]) -> tuple[str, str]:
        return one["phase"], "".join(part["status"][0] for part in one["conditions"])

    old: list[dict[str, str]] = []
    assert seen(told(laid=False)) == ("Pending", "FFFF")
    assert seen(told()) == ("Pending", "TFFF")
    message = "containers with incomplete status: [before beside]"
    assert told()["conditions"][1]["message"] == message
    process: Any = object()
    before.begin(process, 1.0)
    before.end(0, 2.0, "", stopping=False)
    beside.begin(process, 2.0)
    assert seen(told()) == ("Pending", "TTFF")
    main.container["readinessProbe"] = {}
    main.begin(process, 3.0)
    assert seen(told()) == ("Running", "TTFF")
    assert told()["conditions"][3]["message"] == "containers with unready status: [main]"
    main.ready = True
    old = told()["conditions"]
    assert seen(told(now="later")) == ("Running", "TTTT")
    assert {one["lastTransitionTime"] for one in told(now="later")["conditions"]} == {"now"}
    assert main.end(3, 4.0, "why", stopping=False) == 0
    assert main.status()["restartCount"] == 1
    main.begin(process, 4.0)
    assert main.end(3, 5.0, "why", stopping=False) == 10
    assert main.status()["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    beside.end(0, 5.0, "", stopping=True)
    main.over = True
    assert seen(told(stopping=True, laid=False)) == ("Failed", "FTFF")


def test_containers_of_an_earlier_kubelet_are_taken_up() -> None:
    def after(state: dict[str, Any], policy: str = "Always") -> PodContainer:
        made = real()
        made["spec"]["restartPolicy"] = policy
        before = {"name": "main", "restartCount": 4, "state": state, "lastState": {}}
        made["status"] = {"containerStatuses": [before]}
        return pod_containers(made)[0]

    running = after({"running": {"startedAt": "s"}})
    assert (running.restarts, running.last["terminated"]["reason"]) == (5, "ContainerStatusUnknown")
    assert running.last["terminated"]["startedAt"] == "s"
    assert after({"waiting": {}}).restarts == 4
    assert after(ENDED).restarts == 5
    assert after(ENDED, "Never").over
    assert not after({"terminated": {"exitCode": 1}}, "OnFailure").over
    made = real(initContainers=[container("before", ""), container("beside", "", restartPolicy="Always")])
    ended = {"restartCount": 4, "state": ENDED, "lastState": {}}
    made["status"] = {"initContainerStatuses": [{"name": name, **ended} for name in ("before", "beside")]}
    assert [slot.restarts for slot in pod_containers(made)] == [4, 5, 0], "what only prepares runs again with its pod"


def test_probes_count_in_a_row() -> None:
    counted = probes.Counted({"successThreshold": 2, "failureThreshold": 3})
    told = [counted.add(well=one == "+") for one in "+-++--+---+++"]
    assert told == [None, None, None, True, None, None, None, None, None, False, None, True, None]


def test_kwok_hears_of_no_pod_that_is_real() -> None:
    listed = {"kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": [real(), played()]}
    assert json.loads(api_proxy.played(json.dumps(listed).encode())) == {**listed, "items": [played()]}
    for kind, thing, kept in (
        ("ADDED", real(), False),
        ("DELETED", real(), False),
        ("MODIFIED", played(), True),
        ("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": "8"}}, True),
        ("ERROR", {"kind": "Status", "code": 410}, True),
    ):
        assert api_proxy.of_ours(json.dumps({"type": kind, "object": thing}).encode()) != kept
    for path, pods in (
        ("/api/v1/pods?limit=1", True),
        ("/api/v1/namespaces/default/pods?watch=1", True),
        ("/api/v1/namespaces/pods", False),
        ("/api/v1/nodes/pods", False),
        ("/apis/metrics.k8s.io/v1/pods", False),
    ):
        assert api_proxy.lists_pods(path) == pods
    assert IMAGE in json.dumps(real())
