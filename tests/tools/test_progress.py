"""A first set-up says how long it takes, how far it is, and goes on where it was stopped; one with nothing to do is silent."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import estimate  # noqa: E402
import go_tools  # noqa: E402
import sets  # noqa: E402
from progress import Progress  # noqa: E402

FIRST = ["Python packages", *(go_tools.step_of(tool) for tools in sets.LOCAL.values() for tool in tools)]


def test_a_first_one_says_how_long_it_takes_and_a_short_one_does_not() -> None:
    assert estimate.beforehand(FIRST).startswith("This takes 23 to 35 minutes, once for all checkouts: 23 steps")
    assert estimate.beforehand(["etcd from source"]) == ""
    assert estimate.beforehand([]) == ""
    built = {tool.name for tools in sets.LOCAL.values() for tool in tools}
    assert built <= estimate.SECONDS.keys(), "every program that is built has what it took"


def test_what_remains_is_weighed_by_what_steps_take() -> None:
    way = estimate.Way(["pulumi from source", "kube-apiserver from source", "kubectl from source"])
    pulumi, server, kubectl = (estimate.known(step) for step in way.steps)
    assert way.place("kube-apiserver from source") == "step 2 of 3"
    assert way.remaining("pulumi from source", 100) == pulumi - 100 + server + kubectl
    way.done("pulumi from source", pulumi / 2)  # a machine that is twice as quick
    assert way.remaining("kube-apiserver from source", 0) == (server + kubectl) / 2
    # A step that takes too long never says that nothing remains.
    assert way.remaining("kubectl from source", 9999) == kubectl / 2 / 20


def test_a_short_step_does_not_tell_how_quick_a_machine_is() -> None:
    way = estimate.Way(["etcdutl from source", "pulumi from source"])
    way.done("etcdutl from source", 60)
    assert way.rate() == 1


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5, "nearly done"), (45, "about a minute left"), (100, "about 2 min left"), (700, "about 12 min left")],
)
def test_what_remains_in_words(seconds: float, words: str) -> None:
    assert estimate.left(seconds) == words


def test_reused_things_are_named_only_beside_others(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    progress.expect([])
    progress.reused("kwok")
    assert capsys.readouterr().out == ""
    progress.expect(["kwok from source"])
    progress.reused("coredns")
    with progress.step("kwok from source"):
        pass
    out = capsys.readouterr().out
    assert "✓ coredns: as it was" in out
    assert "… kwok from source (step 1 of 1)" in out


# The real set-up, whose programs are built by a Go that writes down what it builds, and that waits for one of them.
GO = """#!/bin/sh
[ "$1" = env ] && { echo go1.99.0; exit; }
while [ "$1" != -o ]; do shift; done
name=${2##*/}
echo "$name" >> BUILT
n=0 # ends by itself, whatever becomes of the test
[ "$name" = kube-apiserver ] && while [ ! -e GO_ON ] && [ $n -lt 900 ]; do sleep 0.1; n=$((n + 1)); done
echo program > "$2"
"""
SET_UP = """
import sys
from pathlib import Path
root, tools = Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, tools)
import go_tools, local_cloud, progress, python_env, sets, setup
progress.LIVE_EVERY_SECONDS = progress.PLAIN_EVERY_SECONDS = 0.2
tool = lambda name: go_tools.Tool(name, "module", "example.com/x", "")
sets.LOCAL = {"servers": (tool("etcdctl"), tool("kube-apiserver")), "last": (tool("kubectl"),)}
local_cloud.steps = python_env.steps = lambda *_: []
local_cloud.set_up = python_env.set_up = lambda *_: None
sets.MODULES = root / "tools"
setup.installation.STATE = setup.installation.PROGRAMS = root / ".landbridge"
sys.exit(setup.main())
"""


class Tree:
    def __init__(self, folder: Path) -> None:
        self.built, self.go_on = folder / "built", folder / "go-on"
        (folder / "bin").mkdir()
        go = folder / "bin/go"
        go.write_text(GO.replace("BUILT", str(self.built)).replace("GO_ON", str(self.go_on)))
        go.chmod(0o755)
        module = folder / "tools/module"
        module.mkdir(parents=True)
        for file in (module / "go.mod", module / "go.sum", folder / "tools/go.lock"):
            file.touch()
        # A shell that runs the tests in the background makes its children deaf to Ctrl-C.
        self.command = ["env", "--default-signal=INT", sys.executable, "-c", SET_UP, str(folder), str(TOOLS)]
        path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
        self.environment = {**os.environ, "PATH": path, "XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "100"}

    def begun(self, what: str) -> None:
        deadline = time.monotonic() + 60
        while not self.built.exists() or what not in self.built.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def finish(self) -> str:
        self.go_on.touch()
        done = subprocess.run(self.command, env=self.environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_ctrl_c_at_a_terminal_keeps_what_is_built(tree: Tree, tmp_path: Path) -> None:
    terminal, end = pty.openpty()
    command = ["setsid", "--ctty", *tree.command]
    child = subprocess.Popen(command, env=tree.environment, stdin=end, stdout=end, stderr=end)
    os.close(end)
    tree.begun("kube-apiserver")
    said = b""
    while b"step 2 of 3" not in said:
        said += os.read(terminal, 4096)
    os.write(terminal, b"\x03")
    try:
        while part := os.read(terminal, 4096):
            said += part
    except OSError:  # the other end is closed
        pass
    assert child.wait(60) == 130
    text = said.decode()
    assert "This takes 3 to 4 minutes, once for all checkouts: 3 steps" in text
    assert "\r\x1b[2K  … kube-apiserver from source: " in text
    assert "step 2 of 3 · about 4 min left" in text
    assert "Set-up stopped by you in step 2 of 3. What is done stays; the next one goes on from there." in text
    assert tree.built.read_text().split() == ["etcdctl", "kube-apiserver"]

    out = tree.finish()
    assert tree.built.read_text().split() == ["etcdctl", "kube-apiserver", "kube-apiserver", "kubectl"]
    assert "✓ etcdctl: as it was" in out
    assert "2 steps" in out
    assert "kubectl from source (step 2 of 2)" in out
    linked = sorted(file.name for file in (tmp_path / ".landbridge/bin").iterdir())
    assert linked == ["etcdctl", "kube-apiserver", "kubectl"]
    assert [file.name for file in (tmp_path / "cache/landbridge/tools").glob(".*")] == []
    again = tree.finish()
    assert again == "All is set up. The command is .venv/bin/landbridge\n"


def test_one_that_is_killed_goes_on_as_well_and_pipes_get_plain_lines(tree: Tree) -> None:
    first = subprocess.Popen(
        tree.command, env=tree.environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    tree.begun("kube-apiserver")
    assert first.stdout is not None
    said: list[str] = []
    while not said or "so far" not in said[-1]:
        said.append(first.stdout.readline())
    assert said[-1].startswith("    kube-apiserver from source: ")
    assert said[-1].endswith(" so far · step 2 of 3 · about 4 min left\n")
    assert not any("\x1b" in line for line in said)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    tree.finish()
    assert tree.built.read_text().split() == ["etcdctl", "kube-apiserver", "kube-apiserver", "kubectl"]


def test_ctrl_c_that_ends_the_reader_of_a_pipe_first_is_no_traceback(tree: Tree) -> None:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    child = subprocess.Popen(tree.command, env=tree.environment, text=True, start_new_session=True, **pipes)
    tree.begun("kube-apiserver")
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    os.killpg(child.pid, signal.SIGINT)
    told = child.stderr.read()
    assert child.wait(60) == 130
    assert told.strip() == "Set-up stopped by you in step 2 of 3. What is done stays; the next one goes on from there."
