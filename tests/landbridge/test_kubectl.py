"""`landbridge kubectl` as a person types it: in the local cloud, with kubectl's own words, streams and exit code."""

import json
import os
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.providers import tls
from tests.landbridge.cluster.test_cluster import OUTPUTS
from tests.support import cloud as clouds
from tests.support.cloud import COMMAND, Cloud

pytestmark = pytest.mark.cloud
FLEET = """\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
regions:
  us-west-2: {cloud: aws, zones: [a, b, c]}
clusters:
  main: {region: us-west-2, kubernetes: 1.36.2}
teams:
  ops: {gid: 2000}
"""
ADMIN = "test/main/admin"
KEY = tls._private_key({"algorithm": "ECDSA", "ecdsaCurve": "P256"})[1]["privateKeyPem"]
PEM = tls._self_signed(
    {"privateKeyPem": KEY, "subject": {"commonName": "x"}, "validityPeriodHours": 1, "allowedUses": ["cert_signing"]}
)[1]["certPem"]


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A local cloud with what a cluster's stack leaves behind: its state, and the admin's secret."""
    made = clouds.make(tmp_path_factory.mktemp("kubectl"), FLEET)
    made.run("status", "--local")
    made.python(
        "client('secretsmanager', 'us-west-2').create_secret("
        f"Name={ADMIN!r}, SecretString={json.dumps({'crt': PEM, 'key': KEY})!r})"
    )
    outputs = {
        **OUTPUTS,
        "prefix": "test/main",
        "copies": {},
        "region": "us-west-2",
        "admin_secret": ADMIN,
        "endpoint": "https://127.0.0.1:1",
    }
    state(made).parent.mkdir(parents=True)
    resource = {"type": "pulumi:pulumi:Stack", "urn": "u", "outputs": {**outputs, "authority": PEM}}
    state(made).write_text(json.dumps({"checkpoint": {"latest": {"resources": [resource]}}}))
    yield made
    made.stop()


def state(cloud: Cloud) -> Path:
    return cloud.home / "local/test/state/.pulumi/stacks/landbridge/main.json"


def kubectl(cloud: Cloud, *words: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "kubectl", *words],
        input=stdin,
        capture_output=True,
        text=True,
        env={**cloud._environment(), "LANDBRIDGE_FLEET": str(cloud.fleet), **environment},
        timeout=60,
        check=False,
    )


def kept(cloud: Cloud) -> Path:
    return cloud.home / "kubectl"


def test_it_is_kubectl_with_a_kubeconfig_that_only_its_owner_may_read(cloud: Cloud) -> None:
    done = kubectl(cloud, "--local", "config", "view", "--raw", "--output=json")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:1"
    assert told["users"][0]["name"] == "landbridge-admin"
    assert stat.S_IMODE(kept(cloud).stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in kept(cloud).glob("*.kubeconfig")} == {0o600}


def test_a_fleet_without_state_means_the_local_cloud_by_itself_and_says_nothing(cloud: Cloud) -> None:
    done = kubectl(cloud, "version", "--client", "--output=json")
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["clientVersion"]["gitVersion"].startswith("v1.36")


def test_exit_code_and_streams_are_kubectls(cloud: Cloud) -> None:
    done = kubectl(cloud, "--local", "get", "nodes", "--request-timeout=2s")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr
    written = kubectl(cloud, "create", "--dry-run=client", "--validate=false", "-f", "-", "-o", "name", stdin="{broken")
    assert written.returncode == 1
    assert "error parsing STDIN" in written.stderr


def test_it_runs_inside_the_local_cloud(cloud: Cloud) -> None:
    inside = cloud.inside("readlink", "/proc/self/ns/net")
    plugin = cloud.home / "kubectl-where"
    plugin.write_text("#!/bin/sh\nreadlink /proc/self/ns/net\n")
    plugin.chmod(0o755)
    path = f"{cloud.home}{os.pathsep}{os.environ['PATH']}"
    for _ in range(2):  # made anew, and kept
        assert kubectl(cloud, "where", PATH=path).stdout == inside
        (found,) = [file for file in kept(cloud).glob("*.json") if json.loads(file.read_text())["cloud"]][:1]
        assert found.exists()


def test_what_changes_the_stack_changes_the_kubeconfig(cloud: Cloud) -> None:
    before = state(cloud).read_text()
    state(cloud).write_text(before.replace("https://127.0.0.1:1", "https://127.0.0.1:2"))
    try:
        done = kubectl(cloud, "--local", "config", "view", "--output=json")
        assert json.loads(done.stdout)["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:2"
    finally:
        state(cloud).write_text(before)


def test_it_adds_little_to_kubectls_own_time(cloud: Cloud) -> None:
    words = ("version", "--client")
    kubectl(cloud, *words)
    program = Path(clouds.ROOT / ".landbridge/bin/kubectl").resolve()

    def seconds(command: list[str]) -> float:
        begun = time.monotonic()
        subprocess.run(
            command, env={**cloud._environment(), "LANDBRIDGE_FLEET": str(cloud.fleet)}, capture_output=True, check=True
        )
        return time.monotonic() - begun

    own = min(seconds([str(program), *words]) for _ in range(5))
    ours = min(seconds([COMMAND, "kubectl", *words]) for _ in range(5))
    assert ours - own < 0.7, f"{ours:.2f} s instead of {own:.2f} s"


def test_mistakes_are_told_in_one_line(cloud: Cloud, tmp_path: Path) -> None:
    for words, why in (
        (("--cluster", "other", "get"), "has no cluster other"),
        (("--local", "--fleet", "/nowhere.yaml", "get"), "no such fleet file"),
    ):
        done = kubectl(cloud, *words)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert why in done.stderr
    done = kubectl(cloud, "get", "nodes", LANDBRIDGE_HOME=str(tmp_path))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--local" in done.stderr


def test_a_kubeconfig_is_written_for_other_programs(cloud: Cloud, tmp_path: Path) -> None:
    file = tmp_path / "config"
    done = cloud.run("kubeconfig", "--local", "--output", str(file))
    assert done.stdout == ""
    assert "PRIVATE KEY" not in done.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text())["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:1"
    printed = cloud.run("kubeconfig", "--local", "--output", "-").stdout
    assert json.loads(printed)["current-context"] == "test-main"


def test_the_break_glass_way_is_loud_and_needs_its_own_secret(cloud: Cloud, tmp_path: Path) -> None:
    refused = cloud.run("kubeconfig", "--local", "--machine", "main-etcd-1", "-o", str(tmp_path / "c"), code=1)
    assert "cannot be read" in refused.stderr
    cloud.python(
        "client('secretsmanager', 'us-west-2').create_secret("
        f"Name='text', SecretString={json.dumps({'crt': PEM, 'key': KEY})!r})"
    )
    refused = cloud.run("kubeconfig", "--local", "--machine", "main-etcd-1", "-o", str(tmp_path / "c"), code=2)
    assert "no API machine of main. These are: main-api-1" in refused.stderr
    done = cloud.run("kubeconfig", "--local", "--machine", "main-api-1", "-o", str(tmp_path / "c"))
    assert "BREAK-GLASS" in done.stderr
    told = json.loads((tmp_path / "c").read_text())["clusters"][0]["cluster"]
    assert told["server"] == "https://10.0.0.1:6443"


def test_a_context_is_merged_and_removed_as_a_person_types_it(cloud: Cloud, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("current-context: mine\ncontexts: [{name: mine, context: {}}]  # by hand\n")
    environment = {**cloud._environment(), "LANDBRIDGE_FLEET": str(cloud.fleet)}

    def typed(*words: str) -> subprocess.CompletedProcess[str]:
        command = ["env", f"KUBECONFIG={file}", COMMAND, "kubeconfig", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)

    done = typed("--local", "--merge")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert f"Context test-main is in {file}. Use it with `kubectl --context test-main`" in done.stderr
    assert "# by hand" in file.read_text()
    told = json.loads(kubectl(cloud, "--local", "config", "view", f"--kubeconfig={file}", "--output=json").stdout)
    assert [one["name"] for one in told["contexts"]] == ["mine", "test-main"]
    assert told["users"][0]["user"]["exec"]["args"][-1] == "--local"
    assert "client-key-data" not in file.read_text()
    assert typed("--local", "--merge", "--machine", "main-api-1").returncode == 2
    done = typed("--local", "--remove")
    assert (done.returncode, done.stderr) == (0, f"Context test-main is no longer in {file}.\n")
    assert typed("--local", "--remove").returncode == 2
