"""The way to an API server: kubeconfigs, credentials, and servers that do not answer."""

import base64
import json
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from local.providers.codec import UNKNOWN
from local.providers.kubernetes.api import Api, ApiError, Unreachable
from local.providers.kubernetes.discovery import Discovery
from local.providers.kubernetes.kubeconfig import parse
from local.providers.kubernetes.settings import replaces, settings
from local.providers.servicer import ProviderError
from tests.local.providers.kubernetes.bed import Heard, job, manifest, work
from tests.support.apiserver import Authority, Server, free_port

NAMESPACES = "/api/v1/namespaces"


def api(text: str) -> Api:
    return Api(parse(text), threading.Event())


def changed(text: str, **user: Any) -> str:
    """The kubeconfig with another user entry."""
    config = json.loads(text)
    config["users"][0]["user"] = user
    return json.dumps(config)


def test_certificates_by_file_and_a_name_of_its_own(kube: Server, tmp_path: Path) -> None:
    config = json.loads(kube.kubeconfig(**{"tls-server-name": "planned.name"}))
    for entry, name in (("cluster", "certificate-authority"), ("user", "client-certificate"), ("user", "client-key")):
        part = config[f"{entry}s"][0][entry]
        (tmp_path / name).write_bytes(base64.b64decode(part.pop(f"{name}-data")))
        part[name] = name  # beside the kubeconfig
    (tmp_path / "config").write_text(json.dumps(config))
    assert api(str(tmp_path / "config")).call("GET", NAMESPACES)["kind"] == "NamespaceList"


def test_a_server_of_another_name_or_authority_is_not_trusted(kube: Server) -> None:
    with pytest.raises(Unreachable, match=r"can't be trusted: hostname .* doesn't match"):
        api(kube.kubeconfig(**{"tls-server-name": "other.name"})).call("GET", NAMESPACES)
    strange = base64.b64encode(Authority().pem.encode()).decode()
    with pytest.raises(Unreachable, match=r"can't be trusted: .*certificate verify failed"):
        api(kube.kubeconfig(**{"certificate-authority-data": strange})).call("GET", NAMESPACES)


def test_a_command_gives_the_credential_and_a_new_one_when_it_is_refused(kube: Server, tmp_path: Path) -> None:
    old, new = Authority().leaf("admin", ["system:masters"]), kube.authority.leaf("admin", ["system:masters"])
    for number, (crt, key) in enumerate((old, new)):
        status = {"clientCertificateData": crt, "clientKeyData": key}
        (tmp_path / str(number)).write_text(json.dumps({"kind": "ExecCredential", "status": status}))
    script = (
        "import os, pathlib, sys; here = pathlib.Path(sys.argv[1]); assert os.environ['KUBERNETES_EXEC_INFO'];"
        "runs = here / os.environ['RUNS']; n = int(runs.read_text()) if runs.exists() else 0;"
        "runs.write_text(str(n + 1)); print((here / str(min(n, 1))).read_text())"
    )
    entry = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": ["-c", script, str(tmp_path)],
        "env": [{"name": "RUNS", "value": "runs"}],
    }
    client = api(changed(kube.kubeconfig(), exec=entry))
    client.call("GET", NAMESPACES)
    client.call("GET", NAMESPACES)
    assert (tmp_path / "runs").read_text() == "2"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("import sys; sys.exit('no login')", "ended with status 1: no login"),
        ("print('hello')", "printed no ExecCredential"),
    ],
)
def test_a_command_that_gives_no_credential(kube: Server, code: str, text: str) -> None:
    entry = {"command": sys.executable, "args": ["-c", code]}
    with pytest.raises(ProviderError, match=text):
        api(changed(kube.kubeconfig(), exec=entry)).call("GET", NAMESPACES)


def test_a_credential_that_is_not_accepted_is_told_before_anything_else(kube: Server) -> None:
    inside = work(kube)
    inside.cluster._api = api(changed(kube.kubeconfig(), token="nobody"))
    with pytest.raises(ApiError) as caught:
        inside.cluster.api.call("GET", NAMESPACES)
    assert caught.value.code == 401
    with pytest.raises(ProviderError, match="does not accept the kubeconfig's credential"):
        inside.cluster.answers("urn")


def test_a_user_without_the_right_is_told_which_one(kube: Server) -> None:
    inside = work(kube)
    inside.cluster._api = api(kube.kubeconfig("guest", ()))
    inside.cluster._discovery._api = inside.cluster._api  # type: ignore[union-attr]
    thing = manifest("v1", "ConfigMap", "c", "default")
    assert inside.preview_create(job(thing), thing) == thing  # a preview goes on, and says so
    assert isinstance(inside.log, Heard)
    assert "cannot get resource" in inside.log.lines[0]
    with pytest.raises(
        ProviderError, match=r"ConfigMap default/c: .*\"guest\" cannot get .*configmaps.*needs that right"
    ):
        inside.create(job(thing), thing)


def test_nobody_there_is_told_in_bounded_time(kube: Server) -> None:
    config = json.loads(kube.kubeconfig())
    config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{free_port()}"
    discovery = Discovery(api(json.dumps(config)))
    discovery._api.cancelled.set()  # at the first refusal
    for _ in range(2):  # the second caller hears of the first one's
        with pytest.raises(Unreachable, match="refused"):
            discovery.find("v1", "Pod")
        discovery._api = None  # type: ignore[assignment]
    client, start = api(json.dumps(config)), time.monotonic()
    with pytest.raises(Unreachable, match=r"https://127\.0\.0\.1:\d+ does not answer: .*refused"):
        client.call("GET", NAMESPACES, patience=1)
    assert 1 <= time.monotonic() - start < 20
    with socket.socket() as mute:  # takes connections, and says nothing
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{mute.getsockname()[1]}"
        start = time.monotonic()
        with pytest.raises(Unreachable, match="timed out"):
            api(json.dumps(config)).call("GET", NAMESPACES, patience=0)
        assert time.monotonic() - start < 30


def test_a_server_that_restarts_is_waited_for(kube: Server) -> None:
    kube.end("kube-apiserver")
    found: list[Any] = []
    asking = threading.Thread(target=lambda: found.append(kube.api.call("GET", f"{NAMESPACES}/default", patience=60)))
    asking.start()
    time.sleep(1)
    assert asking.is_alive()
    kube.start("kube-apiserver", *kube.flags)
    asking.join(100)
    assert found[0]["kind"] == "Namespace"
    kube.until_ready()


GOOD = {
    "clusters": [{"name": "c", "cluster": {"server": "https://a"}}],
    "users": [{"name": "u", "user": {}}],
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "n"}}],
    "current-context": "c",
}


def test_settings_take_the_namespace_from_the_provider_then_from_the_context() -> None:
    assert settings({"kubeconfig": json.dumps(GOOD)}).namespace == "n"
    assert settings({"kubeconfig": GOOD, "namespace": "m"}).namespace == "m"
    assert settings({"kubeconfig": UNKNOWN}).access is None


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({}, "no kubeconfig"),
        ({"kubeconfig": "/nowhere/at/all"}, "neither a file's path nor"),
        ({"kubeconfig": "a: [b"}, "neither a file's path nor"),
        ({"kubeconfig": GOOD, "context": "d"}, "no context 'd'; it has: c"),
        ({"kubeconfig": GOOD, "cluster": "d"}, "no cluster 'd'; it has: c"),
        ({"kubeconfig": {**GOOD, "clusters": [{"name": "c", "cluster": {"server": "http://a"}}]}}, "must be an https"),
        ({"kubeconfig": {**GOOD, "users": [{"name": "u", "user": {"username": "x"}}]}}, "says username"),
        (
            {"kubeconfig": {**GOOD, "clusters": [{"name": "c", "cluster": {"server": "https://a", "insecure-skip-tls-verify": True}}]}},
            "says insecure-skip-tls-verify",
        ),
        ({"kubeconfig": GOOD, "enableServerSideApply": False}, "server-side apply only"),
        ({"kubeconfig": GOOD, "renderYamlToDirectory": "/tmp"}, "does not know the setting renderYamlToDirectory"),
    ],
)  # fmt: skip
def test_settings_that_can_t_be_honoured(config: dict[str, Any], text: str) -> None:
    with pytest.raises(ProviderError, match=text):
        settings(config)


def test_another_cluster_is_another_provider_and_another_user_is_not() -> None:
    other_user = json.dumps({**GOOD, "users": [{"name": "u", "user": {"token": "x"}}]})
    other_server = json.dumps({**GOOD, "clusters": [{"name": "c", "cluster": {"server": "https://b"}}]})
    old = {"kubeconfig": json.dumps(GOOD)}
    assert replaces(old, {"kubeconfig": other_user}, {"kubeconfig": "UPDATE"}) == []
    assert replaces(old, {"kubeconfig": other_server}, {"kubeconfig": "UPDATE"}) == ["kubeconfig"]
    assert replaces(old, {"kubeconfig": UNKNOWN}, {"kubeconfig": "UPDATE"}) == ["kubeconfig"]
    named = {**old, "clusterIdentifier": "main"}
    assert replaces(named, {**named, "kubeconfig": other_server}, {"kubeconfig": "UPDATE"}) == []
    assert replaces(named, {**named, "clusterIdentifier": "b"}, {"clusterIdentifier": "UPDATE"}) == [
        "clusterIdentifier"
    ]
