"""Programs that are forks of init: like executed ones in all that they can see, and executed where they must be."""

import json
from pathlib import Path
from typing import Any

from local.machines import ready_made

from .host import Box
from .writing import service

# What a Python script can see of how it was started.
LOOK = """\
import json, os, signal, sys, threading
def gone(): threading.Event().wait(0.2); open("/tmp/t/thread", "w").write("through")
seen = {
    "argv": sys.argv, "name": __name__, "first": sys.path[0], "file": __file__,
    "environment": {k: v for k, v in os.environ.items() if k != "INVOCATION_ID"},
    "open": sorted(int(fd) for fd in os.listdir("/proc/self/fd"))[:-1],
    "input": os.readlink("/proc/self/fd/0"), "folder": os.getcwd(), "mask": os.umask(0),
    "signals": [str(signal.getsignal(n)) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD)],
    "ours": [one for one in sys.path if "landbridge" in one.lower() and "lib" not in one], "client": "kube_http" in sys.modules,
    "session": os.getsid(0) == os.getpid(),
    "words": open("/proc/self/cmdline").read().strip("\\0").split("\\0")[1:], "wakes": signal.set_wakeup_fd(-1),
}
json.dump({"seen": seen, "program": os.readlink("/proc/self/exe")}, open(sys.argv[1], "w"))
threading.Thread(target=gone).start()
raise ZeroDivisionError("last words") if sys.argv[2] == "raise" else SystemExit(sys.argv[2])
"""
FORKED, EXECUTED = "/usr/bin/python3", "/usr/bin/env python3"
SAME_VERSION = Path(FORKED).resolve().name == ready_made.STANDARD


def looked(box: Box, python: str, how: str) -> tuple[dict[str, Any], str]:
    """What the script saw, and the unit's log. Both ways it has the same words."""
    (box.disk / "srv/look.py").write_text(LOOK)
    box.load({"a.service": service("Type=oneshot", f"ExecStart={python} /srv/look.py /srv/seen {how}", "User=root")})
    box.sh("rm -f /tmp/t/thread")
    assert box.ctl("start", "a").code == 1, "each way it ends badly"
    assert box.sh("cat /tmp/t/thread").out == "through", "it ends with its last thread"
    found: dict[str, Any] = json.loads((box.disk / "srv/seen").read_text())
    return found, box.ctl("status", "a").out


def test_a_fork_sees_what_an_executed_program_sees(box: Box) -> None:
    forked, log = looked(box, FORKED, "farewell")
    executed, _ = looked(box, EXECUTED, "farewell")
    assert forked["seen"] == executed["seen"]
    assert (forked["program"] != executed["program"]) is SAME_VERSION
    assert "farewell" in log
    assert "Last end: ended with status 1" in log


def test_its_last_words_are_told(box: Box) -> None:
    for python in (FORKED, EXECUTED):
        assert "ZeroDivisionError: last words" in looked(box, python, "raise")[1]


def test_another_program_at_a_stand_in_s_place_is_executed(box: Box) -> None:
    box.load({"a.service": service("Type=oneshot", "RemainAfterExit=yes", "ExecStart=/usr/local/bin/blkid")})
    said = box.sh(
        "cp /usr/local/bin/blkid /tmp/t/kept; systemctl start a; "
        "printf '#!/bin/sh\\necho mine\\n' > /usr/local/bin/blkid; systemctl restart a; "
        "cat /tmp/t/kept > /usr/local/bin/blkid; systemctl status a; rm /var/log/units/a.service.log; systemctl status a"
    )
    assert "Local machines honour: blkid" in said.out
    assert "mine" in said.out


def test_machines_outlive_the_process_that_they_are_forked_from(box: Box) -> None:
    ended = box.host(
        """
        import os, signal
        def is_zygote(pid):
            return b"local.machines.zygote" in Path(f"/proc/{pid}/cmdline").read_bytes()
        mine = [p.pid for p in processes.table().values() if p.parent == os.getpid() and is_zygote(p.pid)]
        for pid in mine:
            os.kill(pid, signal.SIGKILL)
        result = len(mine)
        """
    )
    assert ended == 1
    assert box.run("hostname").code == 0
    other = box.host.machine("after", "10.132.0.77/20")
    assert other.run("hostname").out == "after\n"
    other.do("kill")


def test_user_data_runs_to_its_end_with_its_words_on_the_console(box: Box) -> None:
    python = f"#!{FORKED}\nimport os, sys\nprint('by', os.getppid())\nsys.exit(7)\n"
    for text in (python, "#!/bin/sh\necho by $PPID\nexit 7\n"):
        script, console = box.disk / "srv/user-data", box.disk.parent / "console.log"
        script.write_text(text)
        script.chmod(0o700)
        before = console.read_text()
        assert box.do("boot", "/srv/user-data") == 7
        assert console.read_text().removeprefix(before) == "by 1\n"
