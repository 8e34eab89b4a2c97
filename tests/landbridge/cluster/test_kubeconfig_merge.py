"""Entries in kubeconfigs that a person has, as real kubectl reads them afterwards; what is not ours stays, byte by byte."""

import json
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from landbridge.cluster import info, kubeconfig_exec, kubeconfig_merge
from landbridge.cluster.kubeconfig_exec import Meant
from landbridge.cluster.kubeconfig_merge import BACKUP
from landbridge.errors import UsageError
from tests.landbridge.cluster.test_cluster import OUTPUTS

KUBECTL = Path(__file__).parents[3] / ".landbridge/bin/kubectl"
OTHERS = """\
# mine, by hand
apiVersion: v1
kind: Config
current-context: "home"
clusters:
- name: home   # the one at home
  cluster: {server: "https://192.0.2.1:6443", insecure-skip-tls-verify: yes}
users:
- {name: home, user: {token: "0x12"}}
contexts:
- {name: home, context: {cluster: home, user: home}}
"""
MEANT = Meant(Path("/fleets/fleet.yaml"), "main", local=False)


def config(name: str = "example-main", meant: Meant = MEANT, person: str | None = None) -> dict[str, Any]:
    return kubeconfig_exec.config(info.of(OUTPUTS, "main", ""), meant, name, person)


def kubectl(files: list[Path], *words: str) -> Any:
    environment = {"KUBECONFIG": ":".join(map(str, files)), "HOME": "/nonexistent"}
    done = subprocess.run([KUBECTL, *words], env=environment, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def seen(files: list[Path]) -> dict[str, Any]:
    told = json.loads(kubectl(files, "config", "view", "--raw", "--output=json"))
    return {one["name"]: one["user"] for one in told["users"]} | {"": told["current-context"]}


def test_a_first_one_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / ".kube/config"
    assert kubeconfig_merge.merge(config(), [file]) == ([file], True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    told = seen([file])
    assert told[""] == "example-main"
    assert told["example-main"]["exec"]["args"][-2 - len(MEANT.options) :] == [
        "kubeconfig",
        "credential",
        *MEANT.options,
    ]
    assert [one.name for one in file.parent.iterdir()] == ["config"]


def test_what_others_wrote_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(OTHERS)
    file.chmod(0o640)
    assert kubeconfig_merge.merge(config(), [file]) == ([file], False)
    for line in OTHERS.splitlines():
        assert line in file.read_text().splitlines()
    assert (tmp_path / f"config{BACKUP}").read_text() == OTHERS
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    told = seen([file])
    assert (told[""], told["home"]) == ("home", {"token": "0x12"})
    assert "example-main" in told


def test_the_same_again_changes_its_own_entries_alone(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(OTHERS)
    kubeconfig_merge.merge(config(), [file])
    once = file.read_text()
    kubeconfig_merge.merge(config(), [file])
    assert file.read_text() == once
    kubeconfig_merge.merge(config(person="bob"), [file])
    assert seen([file])["example-main"]["exec"]["args"][-2:] == ["--as", "bob"]


def test_all_of_it_goes_again(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(OTHERS)
    kubeconfig_merge.merge(config(), [file])
    kubectl([file], "config", "use-context", "example-main")
    assert kubeconfig_merge.remove("example-main", MEANT, [file]) == [file]
    told = seen([file])
    assert set(told) == {"home", ""}
    assert told[""] == ""


def test_a_user_that_another_context_needs_stays(tmp_path: Path) -> None:
    file = tmp_path / "config"
    kubeconfig_merge.merge(config(), [file])
    kubectl([file], "config", "set-context", "mine", "--cluster=example-main", "--user=example-main")
    kubeconfig_merge.remove("example-main", MEANT, [file])
    assert "example-main" in seen([file])
    assert kubectl([file], "config", "get-contexts", "--output=name").split() == ["mine"]


def test_files_are_chosen_as_kubectl_does(tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    second.write_text(OTHERS)
    assert kubeconfig_merge.merge(config(), [first, second, third])[0] == [second]
    kubectl([first, second, third], "config", "set-context", "by-kubectl", "--cluster=home")
    assert "by-kubectl" in second.read_text()
    first.write_text("")
    assert kubeconfig_merge.merge(config(person="bob"), [first, second, third])[0] == [second]
    assert kubeconfig_merge.merge(config("new"), [first, second, third])[0] == [first]
    kubectl([first, second, third], "config", "set-context", "by-kubectl-2", "--cluster=home")
    assert "by-kubectl-2" in first.read_text()
    alone = [tmp_path / "a", tmp_path / "b"]
    assert kubeconfig_merge.merge(config(), alone)[0] == [alone[1]]


@pytest.mark.parametrize("kind", ["cluster", "user", "context"])
def test_an_entry_of_somebody_else_is_refused(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "config"
    text = json.dumps({f"{kind}s": [{"name": "example-main", kind: {}}]})
    file.write_text(text)
    with pytest.raises(UsageError, match=f"has a {kind} example-main that landbridge has not written.*--context"):
        kubeconfig_merge.merge(config(), [file])
    assert file.read_text() == text
    kubeconfig_merge.remove("example-main", MEANT, [file])
    assert file.read_text() == text


@pytest.mark.parametrize("text", ["[1, 2]", "a: [", "\x00"])
def test_a_file_that_is_none_stays_as_it_is(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config"
    file.write_text(text)
    with pytest.raises(UsageError, match="no kubeconfig"):
        kubeconfig_merge.merge(config(), [file])
    assert file.read_text() == text


def test_a_lock_of_kubectl_is_kept_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubeconfig_merge, "LOCK_SECONDS", 0.2)
    (tmp_path / "config.lock").touch()
    with pytest.raises(UsageError, match=r"config\.lock is there"):
        kubeconfig_merge.merge(config(), [tmp_path / "config"])
    assert not (tmp_path / "config").exists()


def test_a_link_stays_one(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "config"
    real.write_text(OTHERS)
    link.symlink_to(real)
    kubeconfig_merge.merge(config(), [link])
    assert link.is_symlink()
    assert "example-main" in real.read_text()


def test_a_context_says_which_cluster_is_meant_also_after_kubectl_wrote_it(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(OTHERS)
    here = Meant(Path("/fleets/fleet.yaml"), "main", local=True)
    kubeconfig_merge.merge(config(meant=here), [file])
    assert kubeconfig_merge.context([file]) is None
    kubectl([file], "config", "use-context", "example-main")
    assert kubeconfig_merge.context([file]) == here
    assert kubeconfig_merge.context([file], "home") is None
    assert kubeconfig_merge.chain({"KUBECONFIG": f"{file}::/b:{file}"}) == [file, Path("/b")]
