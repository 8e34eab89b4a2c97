"""The machines service for an ordinary user, in a user namespace of their own; and its commands."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from .inside import REPOSITORY, Inside, eventually, up
from .test_machine import NOBODY, gone, python_for_others

CODE = """
import sys
from pathlib import Path
from tests.local.machines.inside import eventually, fleetlet, up
cloud = fleetlet(Path(sys.argv[1]))
try:
    eventually(lambda: up(cloud, "one") and up(cloud, "two"), 60)
    told = cloud.machine("one")
    disk = "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_" + cloud(
        "v = volume('one'); ec2.attach_volume(VolumeId=v, InstanceId=instance('one'), Device='/dev/sdf'); result = v"
    ).replace("-", "")
    eventually(lambda: cloud.run("one", "mkfs.ext4", "-q", disk).returncode == 0)
    cloud.sh("one", "printf '[Service]\\\\nExecStart=/bin/false\\\\n' > /etc/systemd/system/bad.service")
    cloud.sh("one", "systemctl daemon-reload; systemctl start bad")
    failed = eventually(lambda: [one["failed"] for one in cloud.machines() if one["machine"] == "one"][0])
    print(cloud.cloud.mode.name, told["state"], told["address"], cloud.sh("one", "cat /srv/name /srv/seen"), failed)
finally:
    cloud.close()
print("closed", (cloud.home / "volumes").exists())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="the others run as an ordinary user already")
def test_an_ordinary_user_s_instances_are_machines_too() -> None:
    with tempfile.TemporaryDirectory() as made:  # pytest's own folders are closed to other users
        folder = Path(made)
        os.chown(folder, NOBODY, NOBODY)
        folder.chmod(0o755)
        become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        done = subprocess.run(
            [*become, python_for_others(folder), "-c", CODE, str(folder / "home")],
            cwd=REPOSITORY,
            env={"PATH": os.environ["PATH"], "HOME": made, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
        said, log = done.stdout.splitlines(), (folder / "home/cloud.log").read_text()
        assert said[:1] == ["user running 10.128.0.10 one"], done.stderr + log
        assert said[1:] == ["of one ['bad.service']", "closed True"]
        assert gone(f"{made}/home")


def landbridge(cloud: Inside, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LANDBRIDGE_HOME": str(cloud.home.parent), "COLUMNS": "200"}
    argv = [sys.executable, "-m", "landbridge", "local", *words]
    return subprocess.run(
        argv, env=environment, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False
    )


def test_machines_and_their_logs_are_one_command_away(cloud: Inside) -> None:
    eventually(lambda: up(cloud, "one") and up(cloud, "two"))
    table = landbridge(cloud, "machines")
    line = next(line for line in table.stdout.splitlines() if line.startswith("one "))
    assert "10.128.0.10" in line
    assert "us-west-2a" in line
    listed = {one["machine"]: one for one in json.loads(landbridge(cloud, "machines", "--json").stdout)["machines"]}
    assert {"instance", "region", "zone", "address", "state", "failed", "since", "folder"} <= set(listed["one"])
    assert listed["two"]["address"] == "10.128.0.11"
    assert json.loads(landbridge(cloud, "status", "--json").stdout)["machines"] >= 2
    logs = landbridge(cloud, "logs", "one").stdout
    assert "boot: done" in logs
    assert "init: ready" in logs
    assert "up" in landbridge(cloud, "logs", "one", "--unit", "marker").stdout.splitlines()
    pod = Path(listed["one"]["folder"], "disk/var/log/pods/kube-system_some-pod_0-1")
    for name in ("main/10.log", "main/9.log", "main/9.log.1", "beside/0.log"):
        (pod / name).parent.mkdir(parents=True, exist_ok=True)
        (pod / name).write_text(f"this is {name}\n")
    said = landbridge(cloud, "logs", "one", "--pod", "kube-system/some-pod").stdout
    order = ["beside/0.log", "main/9.log.1", "main/9.log", "main/10.log"]
    assert [line for line in said.splitlines() if line.startswith("this")] == [f"this is {name}" for name in order]
    for words, said in (
        (
            ("logs", "one", "--pod", "kube-system/some"),
            "that this machine runs itself. It has logs of: kube-system/some-pod.",
        ),
        (("logs", "--pod", "a/b"), "--pod goes with a machine"),
        (("logs", "one", "--pod", "a/b", "--unit", "marker"), "not both"),
        (("logs", "nobody"), "has no machine nobody. It has: "),
        (("logs", "one", "--unit", "nosuch"), "has no log of a unit nosuch. It has logs of: "),
        (("logs", "--unit", "marker"), "--unit goes with a machine"),
    ):
        done = landbridge(cloud, *words)
        assert done.returncode == 2
        assert said in done.stderr
