"""A machine to log in to, with its real bundle: it comes up, mounts nothing, and says why."""

import pytest

from components.pools import mounts
from components.pools.bundle import bundle
from fleet.world import World
from tests.components.pools.test_mounts import CASES, spec, worlds  # noqa: F401

from .host import Box

UNITS = "/etc/systemd/system/"


@pytest.mark.parametrize(("server", "pool"), CASES)
def test_it_comes_up_without_its_shares_and_says_so(
    box: Box,
    worlds: dict[str, World],  # noqa: F811
    server: str,
    pool: str,
) -> None:
    files = bundle(spec(worlds, server, pool), "").files
    for path, text in files.items():
        if not path.startswith(UNITS):
            target = box.disk / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    box.lay({path.removeprefix(UNITS): text for path, text in files.items() if path.startswith(UNITS)})
    told = box.sh("systemctl daemon-reload && systemctl start landbridge.target")
    assert told.code == 0, told
    up = ("landbridge.target", mounts.TARGET, mounts.TIMER, "landbridge-people.service")
    assert set(box.ctl("is-active", *up).out.split()) == {"active"}
    assert "bob:x:3002:2000:bob of research:/homes/bob:/bin/bash" in box.sh("cat /etc/passwd").out
    automounts = [path.removeprefix(UNITS) for path in files if path.endswith(".automount")]
    assert len(automounts) >= 3
    for name in automounts:
        assert box.ctl("is-active", name).out.strip() == "inactive"
        assert "skipped: ConditionPathExists=/dev/autofs is not met" in box.log(name)
    assert not [line for line in box.ctl("list-units").out.splitlines()[1:] if line.split()[1] == "failed"]
    # By hand, too, there is none, and that is a failure.
    assert box.ctl("start", "data.mount").code != 0
    assert f"local machines mount no {server}" in box.log("data.mount")
