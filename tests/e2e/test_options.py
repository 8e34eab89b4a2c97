"""Options and answers of the real command, tried on one small fleet that stands in one local cloud."""

import json
import os
import shlex
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from tests.support import cloud as clouds
from tests.support.cloud import COMMAND, ROOT, Cloud

pytestmark = pytest.mark.cloud
STACK = "us-west-2"
# No volume may come without a word of agreement: there are two.
SMALL = """\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
regions:
  us-west-2: {cloud: aws, zones: [a]}
limits: {create: 0}
storage:
  shares: {homes: {path: /homes}}
teams:
  ops: {gid: 2000}
  network: {gid: 2001}
"""
FILES = "urn:pulumi:us-west-2::landbridge::landbridge:storage:Shares$aws:efs/fileSystem:FileSystem::shares"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    made = clouds.make(tmp_path_factory.mktemp("options"), SMALL)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def refusal(cloud: Cloud) -> dict[str, Any]:
    """What machines read of an `up` that needs consent."""
    return cloud.report("up", "--local", code=4)


@pytest.fixture(scope="module")
def standing(cloud: Cloud, refusal: dict[str, Any]) -> Cloud:
    """The fleet, up: --yes is not enough for its two volumes."""
    cloud.run("up", "--local", "--yes", "--allow-create", "1", code=4)
    cloud.run("up", "--local", "--yes", "--allow-create", "2")
    return cloud


def landbridge(cloud: Cloud, *arguments: str) -> str:
    """What a command prints that takes no fleet file at its end."""
    done = subprocess.run(
        [COMMAND, *arguments], env=cloud._environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_refused_run_tells_machines_what_it_would_have_done(refusal: dict[str, Any]) -> None:
    assert refusal["error"].endswith("To agree: --allow-create 2")
    assert refusal["exit_code"] == 4
    assert refusal["blast_radius"]["create"]["volume"] == 2
    (stack,) = refusal["stacks"]
    assert stack["result"] == "would-change"
    assert "aws:efs/fileSystem:FileSystem" in {step["type"] for step in stack["steps"]}


def test_a_refused_destroy_tells_machines_too(standing: Cloud) -> None:
    refusal = standing.report("destroy", "--local", code=4)
    assert refusal["error"].endswith("To agree: --yes")
    assert refusal["blast_radius"]["destroy"]["volume"] == 2
    assert {step["verb"] for step in refusal["stacks"][0]["steps"]} == {"deleted"}


def test_a_replaced_volume_is_asked_about_by_its_own_option(standing: Cloud) -> None:
    for verb in ("unprotect", "taint"):
        change = ["pulumi", "state", verb, FILES, "--yes", "--stack", STACK]
        landbridge(standing, "local", "exec", "--fleet", str(standing.fleet), "--", *change)
    refused = standing.run("up", "--local", "--yes", "--allow-create", "9", "--allow-destroy", "9", code=4)
    assert "replaces volume shares of us-west-2" in refused.stdout
    assert "replaces 1, allowed are 0 (limits of the fleet). To agree: --allow-replace 1" in refused.stderr
    done = standing.report("up", "--local", "--yes", "--allow-replace", "1")
    assert done["stacks"][0]["changes"]["replaced"] >= 1


def test_diff_shows_every_changed_property(standing: Cloud) -> None:
    before = standing.fleet.read_text()
    standing.fleet.write_text(before.replace("owner: ops", "owner: network"))
    try:
        assert '"ops" => "network"' in standing.run("preview", "--local", "--diff").stdout
        assert '"ops" => "network"' not in standing.run("preview", "--local").stdout
    finally:
        standing.fleet.write_text(before)
    destroyed = standing.run("destroy", "--local", "--diff", code=4).stdout
    assert "- aws:efs/fileSystem:FileSystem: (delete)" in destroyed


@pytest.mark.parametrize(("command", "more", "code"), [("preview", ["--full"], 0), ("destroy", [], 4)])
def test_parallel_reaches_the_engine(standing: Cloud, command: str, more: list[str], code: int) -> None:
    running = standing.start(command, "--local", "--parallel", "3", *more)
    seen: set[str] = set()
    while running.poll() is None:
        seen |= {line for line in command_lines() if "--parallel 3" in line and f" {STACK}" in line}
        time.sleep(0.02)
    assert running.returncode == code, running.communicate()
    assert any(Path(line.split()[0]).name == "pulumi" and f" {command} " in f"{line} " for line in seen), seen


def command_lines() -> Iterator[str]:
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue


def test_times_are_local_on_the_screen_and_have_their_zone_for_machines(standing: Cloud) -> None:
    standing.environment["TZ"] = "XYZ-9"  # nine hours before Greenwich, without a table of zones
    try:
        (stack,) = standing.report("status", "--local")["stacks"]
        shown = standing.run("status", "--local").stdout
        status = landbridge(standing, "local", "status", "--json")
    finally:
        del standing.environment["TZ"]
    at = datetime.fromisoformat(stack["at"])
    assert at.utcoffset() is not None
    assert timedelta() <= datetime.now(UTC) - at < timedelta(hours=1)
    assert f"{at.astimezone(timezone(timedelta(hours=9))):%Y-%m-%d %H:%M:%S}" in shown
    started = json.loads(status)["started"]
    assert "T" in started
    assert datetime.fromisoformat(started).utcoffset() is not None


def test_a_broken_state_file_is_named_with_the_remedy(standing: Cloud) -> None:
    file = standing.home / "local/test/state/.pulumi/stacks/landbridge" / f"{STACK}.json"
    before = file.read_text()
    file.write_text("{broken")
    try:
        for command in (["status", "--local"], ["up", "--local", "--yes"]):
            done = standing.run(*command, code=1)
            assert f"state cannot be read: {file}" in done.stdout + done.stderr
            assert "`landbridge local forget`" in done.stdout
            assert "A mistake in landbridge" not in done.stderr
    finally:
        file.write_text(before)


def test_what_a_lock_names_as_the_way_out_is_one(standing: Cloud) -> None:
    locks = standing.home / "local/test/state/.pulumi/locks/organization/landbridge" / STACK
    locks.mkdir(parents=True, exist_ok=True)
    lock = {"pid": 1, "username": "ada", "hostname": "elsewhere", "timestamp": "2026-11-21T06:20:38Z"}
    (locks / "held.json").write_text(json.dumps(lock))
    refused = standing.run("up", "--local", "--yes", "--full", code=1)
    assert "ada on elsewhere (process 1)" in refused.stdout
    remedy = shlex.split(refused.stdout.split("`")[1])
    assert remedy[:3] == ["landbridge", "local", "exec"]
    landbridge(standing, *remedy[1:], "--yes")
    assert not (locks / "held.json").exists()


@pytest.mark.skipif(not (ROOT / ".landbridge/bin/pulumi").exists(), reason="Pulumi comes from the PATH here")
def test_commands_inside_find_the_pulumi_that_landbridge_uses(cloud: Cloud) -> None:
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not Path(p, "pulumi").exists())
    cloud.environment["PATH"] = path
    try:
        # Options of ours come before the command's own words.
        inside = cloud.command("local", "exec")
        found = [
            subprocess.run(
                [*inside, *words], env=cloud._environment(), capture_output=True, text=True, check=True
            ).stdout
            for words in (("pulumi", "version"), ("sh", "-c", "command -v pulumi"))
        ]
        assert found[0].startswith("v3.")
        assert found[1].strip() == str(ROOT / ".landbridge/bin/pulumi")
    finally:
        del cloud.environment["PATH"]


def test_logs_end_or_are_followed(standing: Cloud) -> None:
    log = standing.home / "local/cloud.log"
    assert "local cloud ready" in landbridge(standing, "local", "logs")
    command, environment = [COMMAND, "local", "logs", "--follow"], standing._environment()
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as following:
        assert following.stdout is not None
        try:
            assert any("local cloud ready" in line for line in following.stdout)
            with log.open("a") as file:
                file.write("a line that comes later\n")
            assert any("a line that comes later" in line for line in following.stdout)
        finally:
            os.killpg(following.pid, 15)
