"""The local cloud's life, with the real daemon: one at a time, nothing left behind, every end explained."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local import client
from local import processes as parts
from local.environment import scrubbed

SECONDS = 20


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    home = tmp_path / "local"
    yield home
    client.stop(home)


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def await_(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def run_inside(cloud: client.Cloud, code: str) -> subprocess.CompletedProcess[str]:
    command = client.enter_command(cloud, [sys.executable, "-c", code])
    return subprocess.run(
        command, env=scrubbed(os.environ), capture_output=True, text=True, timeout=SECONDS, check=False
    )


def test_it_starts_answers_inside_and_stops_without_a_trace(home: Path) -> None:
    assert client.status(home) is None
    cloud = client.ensure(home)
    assert client.status(home) == cloud
    assert not client.inside(cloud)
    assert run_inside(cloud, "import boto3; print(boto3.client('ec2').describe_vpcs()['Vpcs'][0]['CidrBlock'])").stdout
    processes = [cloud.pid, *children_of(cloud.pid)]
    assert len(processes) == 5

    assert client.stop(home)
    assert not any(alive(pid) for pid in processes)
    assert client.status(home) is None
    assert not client.stop(home)
    assert client.last_words(home) == "ended by SIGTERM"


def test_a_program_for_azure_runs_unchanged_inside(home: Path) -> None:
    cloud = client.ensure(home)
    code = """
from azure.identity import DefaultAzureCredential
from azure.mgmt.resource.resources import ResourceManagementClient
client = ResourceManagementClient(DefaultAzureCredential(), "00000000-0000-4000-8000-00000000000a")
client.resource_groups.create_or_update("one", {"location": "southcentralus"})
print([group.name for group in client.resource_groups.list()])
"""
    done = run_inside(cloud, code)
    assert done.stdout.strip() == "['one']", done.stderr


def test_nothing_inside_reaches_the_machine_or_the_world(home: Path) -> None:
    cloud = client.ensure(home)
    names = "import socket; print([name for _, name in socket.if_nameindex()])"
    assert run_inside(cloud, names).stdout.strip() == "['lo']"
    out = run_inside(cloud, "import socket; socket.create_connection(('192.0.2.1', 443), 2)")
    assert "Network is unreachable" in out.stderr


def test_planned_names_are_known_inside_only(home: Path) -> None:
    cloud = client.ensure(home)
    with (home / "cloud.hosts").open("a") as hosts:
        hosts.write("192.0.2.7 api.main.example.com\n")
    asked = "import socket; print(socket.gethostbyname('api.main.example.com'))"
    assert run_inside(cloud, asked).stdout.strip() == "192.0.2.7"
    assert "192.0.2.7" not in Path("/etc/hosts").read_text()


def test_the_folder_and_the_exit_code_are_kept_on_the_way_in(home: Path, tmp_path: Path) -> None:
    cloud = client.ensure(home)
    command = client.enter_command(cloud, ["sh", "-c", "pwd; exit 7"], tmp_path)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == (str(tmp_path), 7)


def test_commands_that_start_at_once_share_one_cloud(home: Path) -> None:
    found: list[client.Cloud] = []
    threads = [threading.Thread(target=lambda: found.append(client.ensure(home))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1


def test_a_part_that_dies_is_started_again_and_the_others_go_on(home: Path) -> None:
    cloud = client.ensure(home)
    for number, part in enumerate(parts.PARTS):
        before = parts.recorded(home)
        os.kill(before[part.name]["pid"], signal.SIGKILL)
        await_(lambda part=part: parts.recorded(home)[part.name]["starts"] == 2)
        after = parts.recorded(home)
        assert {name for name in after if after[name] != before[name]} == {part.name}
        assert run_inside(cloud, ANSWERS.format(port=part.port)).returncode == 0
        assert (home / "cloud.log").read_text().count("was killed by SIGKILL") == number + 1
    assert client.status(home) == cloud


# A moment passes until it listens again.
ANSWERS = """
import sys, time
from local.processes import answers
sys.exit(not any(answers({port}) or time.sleep(0.1) for _ in range(200)))
"""


def test_a_part_that_does_not_stay_alive_ends_the_cloud_and_is_named(home: Path) -> None:
    cloud = client.ensure(home)
    deadline = time.monotonic() + 2 * SECONDS
    while client.status(home) is not None:
        assert time.monotonic() < deadline
        with contextlib.suppress(ProcessLookupError):
            os.kill(parts.recorded(home)["provider host"]["pid"], signal.SIGKILL)
        time.sleep(0.05)
    said = client.last_words(home) or ""
    assert "ended because the provider host (process " in said
    assert f"was killed by SIGKILL, for the {parts.MOST_DEATHS}th time within 60 s" in said
    await_(lambda: not alive(cloud.pid))  # its last words come before its end


def test_children_do_not_outlive_a_killed_daemon_and_the_next_one_has_its_world(home: Path) -> None:
    cloud = client.ensure(home)
    children = children_of(cloud.pid)
    os.kill(cloud.pid, signal.SIGKILL)
    await_(lambda: not any(alive(child) for child in children))
    assert client.status(home) is None
    after = client.ensure(home)
    assert (after.generation == cloud.generation, after.life != cloud.life) == (True, True)


def test_a_starter_that_goes_away_is_the_reason(home: Path) -> None:
    code = f"from pathlib import Path; from local import client; client.ensure(Path({str(home)!r}))"
    with subprocess.Popen([sys.executable, "-c", code], cwd=client.ROOT) as starter:
        await_(lambda: client.status(home) is not None)
        starter.kill()
    await_(lambda: client.last_words(home) is not None)
    assert client.last_words(home) == "ended because its starter went away"
    await_(lambda: client.status(home) is None)
    assert "Traceback" not in (home / "cloud.log").read_text()


def test_each_life_has_its_own_last_words(home: Path) -> None:
    home.mkdir()
    log = home / "cloud.log"
    log.write_text("T local cloud ready, life a\nT local cloud ended by SIGTERM\nT local cloud ready, life b\n")
    assert client.last_words(home) is None, "the last one was killed and left no word"
    assert client.last_words(home, "a") == "ended by SIGTERM"
    assert client.last_words(home, "b") is None
    with log.open("a") as file:
        file.write("T local cloud ended: it is late\nT local cloud ended: it could not start\n")
    assert client.last_words(home, "b") == "ended because it is late"
    assert client.last_words(home) == "ended because it could not start"


def test_a_program_that_is_missing_is_named_with_its_package(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client.shutil, "which", lambda name: None if name in ("ip", "nsenter") else f"/bin/{name}")
    with pytest.raises(client.LocalCloudError, match=r"needs nsenter, ip on the PATH. Install iproute2 util-linux\."):
        client.ensure(home)


def test_a_cloud_whose_folder_was_removed_ends_by_itself(home: Path) -> None:
    cloud = client.ensure(home)
    children = children_of(cloud.pid)
    shutil.rmtree(home)
    await_(lambda: not alive(cloud.pid))
    assert not any(alive(child) for child in children)


def test_another_process_with_the_daemons_number_is_not_the_daemon(home: Path) -> None:
    home.mkdir()
    record = {"pid": os.getpid(), "generation": "old", "way": "user", "started": "2026-01-01T00:00:00+00:00"}
    (home / "cloud.json").write_text(json.dumps(record))
    assert client.status(home) is None
    assert not client.stop(home)


def test_a_port_that_is_never_answered_is_told_with_the_log(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # An interpreter that is not there stands for any daemon that cannot begin.
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(client.LocalCloudError, match=str(home / "cloud.log")):
        client.ensure(home)


def test_state_outlives_the_cloud_and_is_dropped_with_its_world(home: Path) -> None:
    first = client.ensure(home)
    folder, dropped = client.fleet_home(first, "example")
    assert not dropped
    (folder / "state").mkdir()
    client.stop(home)

    second = client.ensure(home)
    assert client.fleet_home(second, "example") == (folder, False)
    assert (folder / "state").exists()
    client.stop(home)

    (home / "world.json").unlink()
    third = client.ensure(home)
    assert third.generation != second.generation
    assert client.fleet_home(third, "example") == (folder, True)
    assert not (folder / "state").exists()
    assert client.fleet_home(third, "example") == (folder, False)


def test_a_world_of_another_form_is_left_alone(home: Path) -> None:
    home.mkdir()
    (home / "world.json").write_text(json.dumps({"form": 99, "generation": "g"}))
    (home / "volumes").mkdir()
    with pytest.raises(client.LocalCloudError, match="has form 99, and this program knows form 1"):
        client.ensure(home)
    assert (home / "volumes").exists()


def test_secrets_of_the_user_stay_outside() -> None:
    environment = {"AWS_PROFILE": "work", "AWS_SESSION_TOKEN": "t", "PULUMI_ACCESS_TOKEN": "t", "HTTPS_PROXY": "p"}
    inside = scrubbed({**environment, "PATH": "/bin", "LANG": "C", "LC_ALL": "C", "AWS_ACCESS_KEY_ID": "real"})
    assert not environment.keys() & inside.keys()
    assert (inside["PATH"], inside["LC_ALL"], inside["AWS_ACCESS_KEY_ID"]) == ("/bin", "C", "local")
