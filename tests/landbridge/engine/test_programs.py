"""Programs as forks of one interpreter: to whoever starts one it is `python`, with its output, its code and its end."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from landbridge.engine.programs import client, interpreter, server
from tests.components.pools.joining_client import eventually
from tests.support.children import HEARING_INTERRUPTS

SOON_SECONDS = 60


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("programs")
    interpreter.make_folder(folder)
    return str(folder / interpreter.FOLDER / "bin/python")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    interpreter._started.cache_clear()
    yield interpreter.environment({})[client.ADDRESS]
    _, process = interpreter._started(())
    assert process.poll() is None
    assert process.stdin
    process.stdin.close()
    assert process.wait(SOON_SECONDS) == 0, "it ends with whoever started it"
    interpreter._started.cache_clear()


def ask(python: str, address: str, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, client.ADDRESS: address, "WHOSE": "ours"}
    return subprocess.run(
        [python, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        **options,  # type: ignore[call-overload]
    )


def test_a_program_has_already_what_all_need_and_one_thread(python: str, address: str) -> None:
    told = "import os, sys; print('pulumi_aws.ec2' in sys.modules, 'pulumi_policy' in sys.modules, len(os.listdir('/proc/self/task')))"
    assert ask(python, address, "-c", told).stdout == "True True 1\n"
    assert (
        subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout
        == "False False 1\n"
    )


def test_it_is_the_python_that_was_called(python: str, address: str, tmp_path: Path) -> None:
    """Its arguments, input, outputs, environment, folder, place on the path and exit code."""
    (tmp_path / "beside.py").write_text("word = 'beside'\n")
    (tmp_path / "program.py").write_text(
        "import os, sys\nfrom beside import word\nprint(__name__, word, sys.argv[1:], os.environ['WHOSE'], os.getcwd(), sys.stdin.read())\n"
        "print('aside', file=sys.stderr)\nsys.exit(3)\n"
    )
    for arguments in (["program.py", "a", "-b"], ["-u", "program.py", "a", "-b"]):
        done = ask(python, address, *arguments, cwd=tmp_path, input="said")
        assert done.stdout == f"__main__ beside ['a', '-b'] ours {tmp_path} said\n"
        assert (done.stderr, done.returncode) == ("aside\n", 3)
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/__main__.py").write_text("import sys\nprint('pack', sys.argv)\n")
    assert ask(python, address, "pack", "1", cwd=tmp_path).stdout == "pack ['pack', '1']\n"
    assert ask(python, address, "-m", "beside", cwd=tmp_path).returncode == 0
    failed = ask(python, address, "-c", "raise ValueError('so')")
    assert failed.returncode == 1
    assert failed.stderr.endswith("ValueError: so\n")


# Each with what a Python says and gives back for it.
ENDS = {
    "raise ValueError('so')": (1, "", "ValueError: so\n"),
    "import sys; sys.exit('words')": (1, "", "words\n"),
    "import sys; sys.exit(300)": (300 & 0xFF, "", ""),
    "import sys; sys.exit()": (0, "", ""),
    "import sys; sys.stdout.write('not flushed')": (0, "not flushed", ""),
    "import atexit; atexit.register(print, 'last'); print('first')": (0, "first\nlast\n", ""),
    "import threading, time; threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()": (
        0,
        "late\n",
        "",
    ),
    "raise KeyboardInterrupt": (130, "", "KeyboardInterrupt\n"),
}


@pytest.mark.parametrize("program", ENDS)
def test_it_ends_as_python_does(python: str, address: str, program: str) -> None:
    code, printed, said = ENDS[program]
    done = ask(python, address, "-c", program)
    itself = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    for one in (done, itself):
        assert one.stdout == printed
        assert one.stderr.endswith(said)
        assert bool(one.stderr) == bool(said)
    assert done.returncode == code
    assert itself.returncode in (code, -signal.SIGINT)


def test_packages_are_listed_as_pip_does(python: str, address: str) -> None:
    itself = subprocess.run([sys.executable, *server.LISTING], capture_output=True, text=True, check=True).stdout
    assert "pulumi" in {one["name"] for one in json.loads(itself)}
    assert ask(python, address, *server.LISTING).stdout == itself


def test_stacks_that_begin_side_by_side_share_one_interpreter() -> None:
    together = threading.Barrier(8)

    def begin(_: int) -> str:
        together.wait()
        return interpreter.environment({"LANDBRIDGE_PLACE": "side by side"})[client.ADDRESS]

    try:
        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(begin, range(8)))) == 1
    finally:
        interpreter._started.cache_clear()


def test_programs_know_nothing_of_each_other(python: str, address: str) -> None:
    assert (
        ask(python, address, "-c", "import os, pulumi; pulumi.ours = 1; os.environ['WHOSE'] = 'mine'").returncode == 0
    )
    assert (
        ask(python, address, "-c", "import os, pulumi; print(hasattr(pulumi, 'ours'), os.environ['WHOSE'])").stdout
        == "False ours\n"
    )


def test_whoever_is_killed_takes_the_program_along(python: str, address: str, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    program = f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    with subprocess.Popen([python, "-c", program], env={**os.environ, client.ADDRESS: address}) as asked:
        pid = int(eventually(lambda: told.exists() and told.read_text(), SOON_SECONDS))
        assert pid != asked.pid
        asked.kill()
        eventually(lambda: not Path(f"/proc/{pid}").exists(), SOON_SECONDS)
    told.unlink()
    with subprocess.Popen([python, "-c", program], env={**os.environ, client.ADDRESS: address}) as asked:
        pid = int(eventually(lambda: told.exists() and told.read_text(), SOON_SECONDS))
        os.kill(pid, signal.SIGKILL)
        assert asked.wait(SOON_SECONDS) == 128 + signal.SIGKILL


def test_whoever_is_interrupted_says_nothing_and_takes_the_program_along(
    python: str, address: str, tmp_path: Path
) -> None:
    told = tmp_path / "pid"
    program = f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    command = [*HEARING_INTERRUPTS, python, "-c", program]
    environment = {**os.environ, client.ADDRESS: address}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as asked:
        pid = int(eventually(lambda: told.exists() and told.read_text(), SOON_SECONDS))
        asked.send_signal(signal.SIGINT)
        assert asked.communicate(timeout=SOON_SECONDS)[1] == ""
        assert asked.returncode == 130
        eventually(lambda: not Path(f"/proc/{pid}").exists(), SOON_SECONDS)


def test_many_at_once_and_no_process_is_left(python: str, address: str) -> None:
    _, server = interpreter._started(())
    with contextlib.ExitStack() as stack:
        asked = [
            stack.enter_context(
                subprocess.Popen(
                    [python, "-c", f"print({number})"],
                    env={**os.environ, client.ADDRESS: address},
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for number in range(20)
        ]
        assert [one.communicate(timeout=SOON_SECONDS)[0] for one in asked] == [f"{number}\n" for number in range(20)]
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    eventually(lambda: not children.read_text(), SOON_SECONDS)


@pytest.mark.parametrize("arguments", [["--version"], ["-c", "import sys; print(sys.version)"]])
def test_without_an_interpreter_it_is_python_itself(python: str, arguments: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != client.ADDRESS}
    for given in ({}, {client.ADDRESS: "nobody"}):
        done = subprocess.run(
            [python, *arguments], env={**environment, **given}, capture_output=True, text=True, check=True
        )
        assert ".".join(map(str, sys.version_info[:3])) in done.stdout


def test_no_command_imports_a_cloud_s_sdk() -> None:
    """It is the programs' alone: a second of each command, and most commands start none."""
    told = (
        "import importlib, pkgutil, sys, landbridge.commands as all\n"
        "for one in pkgutil.iter_modules(all.__path__): importlib.import_module(f'landbridge.commands.{one.name}')\n"
        "print([name for name in sys.modules if name.startswith('pulumi_')])"
    )
    assert subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout == "[]\n"
