"""Whose time an image's machine follows: its cloud's, where it has one."""

import runpy
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "images/files/all/usr/local/lib/landbridge"
AZURE = "7783-7084-3265-9085-8269-3286-77"


@pytest.mark.parametrize(
    ("vendor", "asset", "there", "expected"),
    [
        ("Amazon EC2", "", False, "server 169.254.169.123 "),
        ("Microsoft Corporation", AZURE, True, "refclock PHC DEVICE "),
        # chrony would not start.
        ("Microsoft Corporation", AZURE, False, ""),
        ("Microsoft Corporation", "somebody's own Hyper-V", True, ""),
        ("Supermicro", "", False, ""),
    ],
)
def test_each_cloud_s_machines_follow_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vendor: str, asset: str, there: bool, expected: str
) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    monkeypatch.delitem(sys.modules, "boot", raising=False)
    clock = runpy.run_path(str(SCRIPTS / "clock.py"))
    files = {name: tmp_path / name for name in ("VENDOR", "ASSET", "DEVICE", "FILE")}
    files["VENDOR"].write_text(f"{vendor}\n")
    files["ASSET"].write_text(f"{asset}\n")
    files["FILE"].write_text("server of.another.life\n")
    if there:
        files["DEVICE"].touch()
    clock["main"].__globals__.update(files, PATIENCE_SECONDS=0)
    clock["main"]()
    written = files["FILE"].read_text()
    assert written.startswith(expected.replace("DEVICE", str(files["DEVICE"])))
    assert bool(written) is bool(expected)
