"""`kubectl landbridge …`, found by real kubectl: the cluster of its context is meant where nothing else is said."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fleet.where import ENVIRONMENT as FLEET
from landbridge import kubectl_plugin
from landbridge.cluster import info, kubeconfig_exec, kubeconfig_merge
from landbridge.cluster.kept import CLUSTER
from landbridge.cluster.kubeconfig_exec import Meant
from landbridge.local.meant import VARIABLE as LOCAL
from tests.landbridge.cluster.test_cluster import OUTPUTS

ROOT = Path(__file__).parents[2]
KUBECTL = ROOT / ".landbridge/bin/kubectl"
TWO = """\
fleet: two
owner: ops
domain: two.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
regions:
  us-west-2: {cloud: aws, zones: [a, b, c]}
clusters:
  one: {region: us-west-2, kubernetes: 1.36.2}
  other: {region: us-west-2, kubernetes: 1.36.2}
teams:
  ops: {gid: 2000}
"""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    """Contexts `two-one` and `two-other`, the first of which is the current one."""
    file, fleet = tmp_path / "config", tmp_path / "fleets/fleet.yaml"
    fleet.parent.mkdir()
    fleet.write_text(TWO)
    for name in ("one", "other"):
        meant = Meant(fleet, name, local=False)
        about = info.of(OUTPUTS, name, "")
        kubeconfig_merge.merge(kubeconfig_exec.config(about, meant, f"two-{name}", None), [file])
    return file


def kubectl(file: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """With only the plugin on the PATH besides, as an installation puts it there."""
    plugin = file.parent / "kubectl-landbridge"
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from landbridge.kubectl_plugin import main; main()"
    plugin.write_text(f'#!/bin/sh\nexec {sys.executable} -c {json.dumps(code)} "$@"\n')
    plugin.chmod(0o755)
    path = f"{file.parent}{os.pathsep}{os.defpath}"
    given = {"PATH": path, "KUBECONFIG": str(file), "HOME": str(file.parent), "LANDBRIDGE_HOME": str(file.parent / "h")}
    return subprocess.run(
        [KUBECTL, *words],
        cwd=file.parent,
        env=given | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_kubectl_finds_it(kubeconfig: Path) -> None:
    assert kubectl(kubeconfig, "landbridge", "--version").stdout.startswith("landbridge ")
    assert "kubectl-landbridge" in kubectl(kubeconfig, "plugin", "list").stdout


def test_the_contexts_fleet_and_cluster_are_meant(kubeconfig: Path) -> None:
    # The fleet is refused for want of a ledger: so much of it was read, from a folder that has none above it.
    assert "fleet.lock.yaml" in kubectl(kubeconfig, "landbridge", "plan", "--check").stdout
    said = kubectl(kubeconfig, "landbridge", "plan", "--check", **{FLEET: "/nowhere/fleet.yaml"}).stderr
    assert "/nowhere/fleet.yaml" in said


def meant(
    monkeypatch: pytest.MonkeyPatch, file: Path, *words: str, **environment: str
) -> tuple[str | None, str | None, list[str]]:
    for name in (FLEET, CLUSTER, LOCAL):
        # What it has not set itself it does not take back.
        monkeypatch.setenv(name, "")
        del os.environ[name]
    for name, value in {**environment, "KUBECONFIG": str(file)}.items():
        monkeypatch.setenv(name, value)
    context, rest = kubectl_plugin.context_of(words)
    monkeypatch.setattr(sys, "argv", ["landbridge", *rest])
    kubectl_plugin.mean(context)
    found = os.environ.get(FLEET), os.environ.get(CLUSTER), sys.argv[1:]
    for name in (FLEET, CLUSTER):
        os.environ.pop(name, None)
    return found


def test_a_context_that_is_named_goes_before_the_current_one(kubeconfig: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = str(kubeconfig.parent / "fleets/fleet.yaml")
    assert meant(monkeypatch, kubeconfig, "status") == (fleet, "one", ["status"])
    for words in (("--context", "two-other"), ("--context=two-other",)):
        assert meant(monkeypatch, kubeconfig, *words, "status") == (fleet, "other", ["status"])


def test_a_context_of_somebody_else_means_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config"
    file.write_text("current-context: x\ncontexts: [{name: x, context: {}}]\n")
    assert meant(monkeypatch, file, "status") == (None, None, ["status"])
    assert meant(monkeypatch, tmp_path / "none", "status") == (None, None, ["status"])


@pytest.mark.parametrize(("local", "said"), [(True, "1"), (False, "0")])
def test_a_context_says_which_world_it_is_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local: bool, said: str
) -> None:
    file = tmp_path / "config"
    meant_there = Meant(tmp_path / "fleet.yaml", "one", local=local)
    kubeconfig_merge.merge(kubeconfig_exec.config(info.of(OUTPUTS, "one", ""), meant_there, "one", None), [file])
    for before, after in ((None, said), ("1", "1"), ("0", "0")):
        meant(monkeypatch, file, "status", **({LOCAL: before} if before else {}))
        assert os.environ[LOCAL] == after


def test_without_a_cluster_on_the_line_the_environment_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from fleet.model import Fleet
    from landbridge.cluster import session
    from landbridge.errors import UsageError

    fleet = Fleet.model_construct(clusters={"one": None, "other": None})
    monkeypatch.setenv(CLUSTER, "other")
    assert session.chosen(fleet, Path("f"), None) == "other"
    assert session.chosen(fleet, Path("f"), "one") == "one"
    monkeypatch.setenv(CLUSTER, "gone")
    with pytest.raises(UsageError, match=f"no cluster gone, which {CLUSTER} names"):
        session.chosen(fleet, Path("f"), None)
