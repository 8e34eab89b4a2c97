"""The bridge of the local cloud, in a network namespace of the test's own."""

import subprocess
import sys
from pathlib import Path

from local import namespace

ROOT = Path(__file__).parents[3]
PROGRAM = """
import json, subprocess
from local.machines import network

def address():
    told = subprocess.run(["ip", "-json", "link", "show", "machines"], capture_output=True, check=True).stdout
    return json.loads(told)[0]["address"]

network.ensure_bridge()
found = [address()]
for number in range(1, 9):
    network.batch(
        [
            f"link add c{number} address 02:00:00:00:00:{9 - number:02x} type veth peer name d{number}",
            f"link set c{number} master machines",
        ]
    )
    found.append(address())
for number in range(1, 9):
    network.unplug(f"c{number}")
    found.append(address())
print(*sorted(set(found)))
"""


def test_the_cloud_itself_keeps_its_hardware_address_whatever_machines_come_and_go() -> None:
    """Machines that remember another one answer into nowhere: calls hung for five seconds after each replacement."""
    words = ["unshare", *namespace.usable_way().make, sys.executable, "-c", PROGRAM]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0a:ff:00:00:00:01"]
