"""Runs what a machine is told to at its first start, as its cloud hands it over: once for each machine.

EC2 user guide: user-data that begins with #! is a script, run as root. A machine made of another's disk is another one,
by its id. Machines of no cloud have a script on their EFI partition, or none: then nothing is done.
"""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

METADATA = "http://169.254.169.254/latest/"
VENDOR = Path("/sys/class/dmi/id/sys_vendor")
DONE = Path("/var/lib/landbridge/started")
# Not below /run, from which nothing may be executed.
SCRIPT = Path("/var/lib/landbridge/user-data")
# Where a stick or an installer may put a script for a machine of no cloud.
OWN = Path("/dev/disk/by-partlabel/esp"), "landbridge/user-data"
PATIENCE_SECONDS = 120


def ask(path: str, token: str = "", method: str = "GET") -> str:
    headers = {"X-aws-ec2-metadata-token": token} if token else {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
    request = urllib.request.Request(METADATA + path, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=5) as answer:
        return bytes(answer.read()).decode()


def told() -> tuple[str, str]:
    """The machine's id and its script, which may be empty."""
    last = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            token = ask("api/token", method="PUT")
            machine = ask("meta-data/instance-id", token)
            try:
                return machine, ask("user-data", token)
            except urllib.error.HTTPError as error:
                if error.code != 404:
                    raise
                return machine, ""
        except OSError as error:
            if time.monotonic() > last:
                sys.exit(f"{METADATA}: {error}: nothing was told; tried again")
            time.sleep(1)


def of_stick() -> tuple[str, str]:
    device, name = OWN
    if not device.exists():
        return "", ""
    # As systemd may have it at /efi already: read-only it could not be mounted a second time.
    if subprocess.run(["mount", "--mkdir", device, "/run/landbridge-esp"], check=False).returncode:
        sys.exit(f"{device} can't be mounted: nothing was told; tried again")
    try:
        file = Path("/run/landbridge-esp") / name
        return "stick", file.read_text() if file.exists() else ""
    finally:
        subprocess.run(["umount", "/run/landbridge-esp"], check=False)


def main() -> int:
    vendor = VENDOR.read_text().strip() if VENDOR.exists() else ""
    machine, script = told() if vendor == "Amazon EC2" else of_stick()
    if not script.startswith("#!"):
        print("nothing to run", file=sys.stderr)
        return 0
    if DONE.exists() and DONE.read_text() == machine:
        return 0
    SCRIPT.parent.mkdir(parents=True, exist_ok=True)
    SCRIPT.touch(mode=0o700)
    SCRIPT.write_text(script)
    status = subprocess.run([SCRIPT], check=False).returncode
    if status:
        print(f"the machine's script failed ({status}); it is tried again", file=sys.stderr)
        return 1
    DONE.write_text(machine)
    os.sync()
    return 0


if __name__ == "__main__":
    sys.exit(main())
