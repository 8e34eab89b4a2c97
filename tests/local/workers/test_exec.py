"""Commands in pods of runs on a whole local machine: kubectl's own `exec`, by way of the real API server."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.workers.images import RUNS_FOR
from tests.local.machines.host import Box
from tests.local.workers.machine_bed import (
    KUBECTL,
    Shown,
    kubectl,
    leave,
    made,
    node,
    part,
    ready,
    retried,
    status,
)
from tests.local.workers.runs import code, run_pod

SIZES = ("31 97", "40 120")
# A terminal of a person's, whose size changes once the command has told the first one.
TYPED = """
import fcntl, os, signal, struct, termios, threading
ours, theirs = os.openpty()
def size(rows, columns):
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
size(31, 97)
running = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs)
os.close(theirs)
late = threading.Timer(60, running.kill)
late.start()
text, steps = "", [("31 97", lambda: (size(40, 120), running.send_signal(signal.SIGWINCH))), ("40 120", None)]
while True:
    try:
        text += os.read(ours, 65536).decode()
    except OSError:
        break
    if steps and steps[0][0] in text:
        act = steps.pop(0)[1]
        act() if act else os.write(ours, b"typed\\n")
late.cancel()
result = [running.wait(), text]
"""
WAITS = ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done"]
LOOKS = """
import json, os, socket, sys
from pathlib import Path
try:
    Path("/srv/x").write_text("x")
except OSError as error:
    refused = error.strerror
print(json.dumps({
    "index": os.environ["JOB_COMPLETION_INDEX"],
    "term": os.environ.get("TERM"),
    "host": socket.gethostname(),
    "here": os.getcwd(),
    "code": [one.name for one in Path("/code").glob("*.py")],
    "names": Path("/etc/hosts").read_text(),
    "first": Path("/proc/1/cmdline").read_text().split("\\0")[:-1],
    "temporary": Path("/tmp/of-the-container").read_text(),
    "refused": refused,
}))
"""


@pytest.fixture(scope="module")
def machine(box: Box) -> Iterator[Box]:
    assert box.ctl("start", "kubelet").code == 0
    retried(lambda: ready(box))
    volumes = [{"name": "code", "configMap": {"name": "tool"}}]
    pod = run_pod("tool", node(box), WAITS, index=4, volumes=volumes, hostname="night-0", subdomain="alone")
    pod["spec"]["containers"][0] |= {"workingDir": "/code", "volumeMounts": [{"name": "code", "mountPath": "/code"}]}
    made(box, code("tool", "train.py"), pod)
    retried(lambda: status(box, "tool").get("phase") == "Running")
    # Once its port answers.
    retried(lambda: inside(box, "true").code == 0)
    yield box
    leave(box, "tool")


def inside(box: Box, *words: str, user: str = "", **more: Any) -> Shown:
    return kubectl(box, *([f"--as={user}"] if user else []), "exec", "tool", "--", *words, **more)


def test_the_exit_code_of_a_command_is_kubectl_s(machine: Box) -> None:
    shown = inside(machine, "sh", "-c", "echo out; echo ill >&2; exit 3")
    assert shown.code == 3
    assert sorted(shown.text.splitlines()) == ["command terminated with exit code 3", "ill", "out"]
    assert inside(machine, "sh", "-c", "kill -9 $$").code == 137
    shown = inside(machine, "no-such-program")
    assert shown.code == 1
    assert "error executing command in container: " in shown.text
    assert "'no-such-program'" in shown.text


def test_it_is_where_the_container_is(machine: Box) -> None:
    assert inside(machine, "sh", "-c", "echo kept > /tmp/of-the-container").code == 0
    seen = json.loads(inside(machine, "python", "-c", LOOKS).text)
    assert (
        seen.pop("names")
        .splitlines()[-1]
        .endswith("night-0.alone.default.svc night-0.alone.default night-0.alone night-0")
    )
    assert seen == {
        "index": "4",
        "term": None,
        "host": "night-0",
        "here": "/code",
        "code": ["train.py"],
        "first": WAITS,
        "temporary": "kept\n",
        "refused": "Read-only file system",
    }


def test_it_has_the_container_s_user_who_may_open_its_terminal_again(machine: Box) -> None:
    made(machine, run_pod("plain", node(machine), WAITS, securityContext={"runAsUser": 65534}))
    retried(lambda: status(machine, "plain").get("phase") == "Running")
    mapped = machine.sh("cat /proc/self/uid_map").out.split()[2] != "1"
    assert kubectl(machine, "exec", "plain", "--", "id", "-u").text == ("65534\n" if mapped else "0\n")
    words = ["exec", "-it", "plain", "--", "sh", "-c", "id -u > $(tty); exit 4"]
    ended, text = machine.host(KUBECTL + TYPED, words=words, before=[])
    assert (ended, text.splitlines()[0]) == (4, "65534" if mapped else "0")
    leave(machine, "plain")


def test_files_are_copied_both_ways(machine: Box, tmp_path: Path) -> None:
    (tmp_path / "given").write_text("weights\n")
    assert kubectl(machine, "cp", str(tmp_path / "given"), "tool:/tmp/given").code == 0
    assert kubectl(machine, "cp", "tool:/tmp/given", str(tmp_path / "back")).code == 0
    assert (tmp_path / "back").read_text() == "weights\n"


def test_what_is_piped_in_arrives_and_ends(machine: Box) -> None:
    shown = kubectl(machine, "exec", "-i", "tool", "--", "sh", "-c", "cat; echo end", given="one\ntwo\n")
    assert (shown.code, shown.text) == (0, "one\ntwo\nend\n")
    long = "".join(f"{number:07d}\n" for number in range(400_000))
    shown = kubectl(machine, "exec", "-i", "tool", "--", "cat", given=long)
    assert (shown.code, shown.text == long) == (0, True)
    assert kubectl(machine, "exec", "-i", "tool", "--", "true", given=long).code == 0, "nobody reads it"


def test_a_terminal_has_the_person_s_size_and_takes_what_is_typed(machine: Box) -> None:
    # A size arrives when it arrives, the first one, too.
    script = "".join(f"until [ \"$(stty size)\" = '{size}' ]; do sleep 0.1; done; stty size; " for size in SIZES)
    script += "read word; echo $word $TERM $(tty); ps -o tty= $$; exit 5"
    words = ["exec", "-it", "tool", "--", "sh", "-c", script]
    ended, text = machine.host(KUBECTL + TYPED, words=words, before=[])
    assert ended == 5
    lines = text.splitlines()
    assert lines[:3] == ["31 97", "40 120", "typed"], "the last is the echo of the terminal"
    answer, terminal = lines[3].rsplit(maxsplit=1)
    assert answer == "typed xterm"
    assert terminal.startswith("/dev/pts/")
    assert lines[4] == terminal.removeprefix("/dev/"), "it is the one that controls its session"


def test_a_command_ends_with_its_caller_or_with_its_container(machine: Box) -> None:
    cut = ["timeout", "-s", "KILL", "3"]
    assert inside(machine, "sh", "-c", "sleep 4321; true", before=cut).code == -9
    retried(lambda: machine.sh("pgrep -f 'sleep 432[1]'").out == "", 20)
    assert (
        kubectl(machine, "exec", "-i", "tool", "--", "sleep", "4324", given="deaf" * 4_000_000, before=cut).code == -9
    )
    # Heard of late: the API server itself does not see that its client has gone.
    retried(lambda: machine.sh("pgrep -f 'sleep 432[4]'").out == "", 20)
    begun = time.monotonic()
    shown = inside(machine, "sh", "-c", "sleep 4322 & echo out")
    assert (shown.code, shown.text) == (0, "out\n")
    assert time.monotonic() - begun < 30, "what it has left behind is not waited for"
    assert machine.sh("pgrep -f 'sleep 432[2]'").out != "", "as long as the container lives"
    assert inside(machine, "pkill", "-f", "sleep 432[2]").code == 0
    made(machine, run_pod("brief", node(machine), WAITS))
    retried(lambda: status(machine, "brief").get("phase") == "Running")
    assert kubectl(machine, "exec", "brief", "--", "sh", "-c", "kill 1; sleep 60").code == 137
    leave(machine, "brief")


def test_who_may_not_is_refused(machine: Box) -> None:
    assert kubectl(machine, "create", "rolebinding", "reads", "--clusterrole=view", "--user=reader").code == 0
    shown = inside(machine, "true", user="reader")
    assert shown.code == 1
    assert 'User "reader" cannot create resource "pods/exec"' in shown.text


def test_what_does_not_run_or_is_asked_for_otherwise_is_told(machine: Box) -> None:
    crowd = run_pod("crowd", node(machine), ["sh", "-c", "exit 1"])
    crowd["metadata"]["annotations"][RUNS_FOR] = "1h"
    slow = run_pod("slow", node(machine), ["true"])
    slow["spec"]["containers"][0]["command"] = ["sh", "-c", "sleep 1"]
    slow["spec"]["containers"].append({**slow["spec"]["containers"][0], "name": "other", "command": WAITS})
    made(machine, crowd, slow)
    retried(lambda: status(machine, "crowd").get("phase") == "Running")
    shown = kubectl(machine, "exec", "crowd", "--", "true")
    assert shown.code == 1
    assert "the pod default/crowd is only simulated on this machine: nothing runs" in shown.text
    retried(lambda: "'terminated'" in str(part(status(machine, "slow"), "main")))
    shown = kubectl(machine, "exec", "slow", "-c", "main", "--", "true")
    assert 'container "main" in pod "slow" is not running' in shown.text
    shown = inside(machine, "true", before=["env", "KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false"])
    assert shown.code == 1
    assert (
        "a WebSocket is needed, not spdy/3.1: API servers ask local machines for one from Kubernetes 1.36 on"
        in shown.text
    )
    leave(machine, "crowd", "slow")


def test_a_node_declares_that_it_takes_websockets(machine: Box) -> None:
    def declared() -> bool:
        return bool(ready(machine)["status"].get("declaredFeatures") == ["ExtendWebSocketsToKubelet"])

    assert declared()
    kubectl(
        machine, "patch", "node", node(machine), "--subresource=status", "-p", '{"status": {"declaredFeatures": []}}'
    )
    assert not declared()
    assert machine.ctl("restart", "kubelet").code == 0
    retried(declared)
