"""What a machine of no cloud finds on its EFI partition, by a real mount of a disk of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "images/files/all/usr/local/lib/landbridge"
ASK = """
import sys
from pathlib import Path
import boot
boot.OWN = Path(sys.argv[1]), "landbridge/user-data"
print(boot.of_stick())
"""
SCRIPT = "#!/bin/sh\necho told\n"
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="who mounts has to be root")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[str]:
    """A file system's device; which one it is makes no difference here."""
    tree = tmp_path / "tree/landbridge"
    tree.mkdir(parents=True)
    (tree / "user-data").write_text(SCRIPT)
    image = tmp_path / "disk"
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", str(tree.parent), str(image), "8M"], check=True)
    made = subprocess.run(["losetup", "--find", "--show", str(image)], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"this machine has no loop devices: {made.stderr.strip()}")
    yield made.stdout.strip()
    subprocess.run(["losetup", "--detach", made.stdout.strip()], check=True)


def asked(device: str, before: str = "true") -> subprocess.CompletedProcess[str]:
    """In mounts of its own, after `before`."""
    line = f'{before} && exec "$@"'
    words = ["unshare", "--mount", "sh", "-c", line, "sh", sys.executable, "-c", ASK, device]
    return subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(SCRIPTS)}
    )


def test_a_script_is_found(disk: str) -> None:
    assert asked(disk).stdout == f"{('stick', SCRIPT)}\n"


def test_it_is_found_where_systemd_has_mounted_the_partition_already(disk: str, tmp_path: Path) -> None:
    (tmp_path / "efi").mkdir()
    assert asked(disk, f"mount {disk} {tmp_path / 'efi'}").stdout == f"{('stick', SCRIPT)}\n"


def test_one_that_can_t_be_read_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("nothing")
    done = asked(str(tmp_path / "broken"))
    assert done.returncode == 1
    assert "nothing was told; tried again" in done.stderr


def test_without_a_partition_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert asked(str(tmp_path / "none")).stdout == "('', '')\n"
