"""Which namespace can be had, as whom, and what a user is told where there is none."""

import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from local import client, namespace
from local.machines import network


def settings(folder: Path, **values: str) -> Path:
    for name, value in values.items():
        file = folder / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(value + "\n")
    return folder


@pytest.mark.parametrize(
    ("setting", "off", "command"),
    [
        ("kernel__unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
        (
            "kernel__apparmor_restrict_unprivileged_userns",
            "1",
            "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("user__max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"),
    ],
)
def test_each_setting_that_forbids_it_is_named_with_its_cure(
    tmp_path: Path, setting: str, off: str, command: str
) -> None:
    told = namespace.remedy(settings(tmp_path, **{setting: off}))
    assert command in told
    assert "as root" in told


def test_several_settings_are_cured_by_one_line(tmp_path: Path) -> None:
    both = settings(tmp_path, kernel__unprivileged_userns_clone="0", user__max_user_namespaces="0")
    assert namespace.remedy(both).count("sysctl -w") == 2
    assert " && " in namespace.remedy(both)


def test_where_no_setting_forbids_it_the_container_does(tmp_path: Path) -> None:
    told = namespace.remedy(settings(tmp_path, user__max_user_namespaces="15000"))
    assert "sysctl" not in told
    assert "--security-opt" in told


@pytest.mark.parametrize(
    ("present", "told"), [((), "util-linux"), (("unshare", "nsenter", "ip"), "nft: install nftables")]
)
def test_a_machine_that_lacks_a_program_is_told_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, present: Sequence[str], told: str
) -> None:
    for name in present:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(network, "SYSTEM", "")
    with pytest.raises(namespace.NamespaceError, match=told) as refused:
        namespace.usable_mode()
    assert "sudo apt-get install" in str(refused.value)


def test_a_refusal_carries_the_kernels_words_and_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "unshare"
    fake.write_text("#!/bin/sh\necho unshare: unshare failed: Operation not permitted >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(namespace.NamespaceError, match=r"(?s)Operation not permitted.*root"):
        namespace.usable_mode()


NOBODY = 65534
CODE = """
import os, subprocess, sys
from pathlib import Path
from local import client
from local.environment import scrubbed
home = Path(sys.argv[1])
cloud = client.ensure(home)
say = client.enter_command(cloud, ["sh", "-c", "id -u; cat /etc/hosts"])
inside = subprocess.run(say, env=scrubbed(os.environ), capture_output=True, text=True)
print(cloud.mode.name, os.getuid(), inside.stdout.split()[0], "localhost" in inside.stdout, inside.returncode)
print(client.stop(home))
"""


def python_for_others(folder: Path) -> str:
    """A virtual environment that any user may run, over the packages of this one."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    base = next((path for path in (f"/usr/bin/{version}", f"/usr/local/bin/{version}") if Path(path).exists()), None)
    if base is None:
        pytest.skip(f"no {version} that other users may run")
    subprocess.run([base, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    packages = next((folder / "venv").glob("lib/*/site-packages"))
    (packages / "ours.pth").write_text(f"{sysconfig.get_path('purelib')}\n{client.ROOT}\n")
    return str(folder / "venv/bin/python")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_has_a_cloud_of_their_own() -> None:
    with tempfile.TemporaryDirectory() as made:  # pytest's own folders are closed to other users
        folder = Path(made)
        os.chown(folder, NOBODY, NOBODY)
        folder.chmod(0o755)
        python = python_for_others(folder)
        done = subprocess.run(
            [
                "setpriv",
                f"--reuid={NOBODY}",
                f"--regid={NOBODY}",
                "--clear-groups",
                "env",
                python,
                "-c",
                CODE,
                str(folder / "home"),
            ],
            cwd=client.ROOT,
            env={"PATH": "/usr/bin:/bin", "HOME": made, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stdout.splitlines() == [f"user {NOBODY} 0 True 0", "True"], done.stderr
