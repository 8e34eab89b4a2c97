"""Runs what a machine is told to at its first start, as its cloud hands it over: once for each machine.

EC2 user guide: user-data that begins with #! is a script, run as root. A machine made of another's disk is another one,
by its id. Machines of no cloud have a script on their EFI partition, or none: then nothing is done.

Azure hands custom data over on a disc, once, and user data by its metadata. It takes a machine for failed that does not
say within twenty minutes that it has been told ("Creating generalized images without a provisioning agent").
"""

import base64
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from xml.etree import ElementTree

METADATA = "http://169.254.169.254/latest/"
VENDOR = Path("/sys/class/dmi/id/sys_vendor")
# Azure's machines, told from others of Hyper-V.
ASSET, AZURE = Path("/sys/class/dmi/id/chassis_asset_tag"), "7783-7084-3265-9085-8269-3286-77"
COMPUTE = "http://169.254.169.254/metadata/instance/compute/{name}?api-version=2021-02-01&format=text"
HOST = "http://168.63.129.16/machine/?comp="
DISC, MOUNTED = Path("/dev/sr0"), Path("/run/landbridge-disc")
CUSTOM_DATA = "{http://schemas.microsoft.com/windowsazure}CustomData"
HEALTH = """<?xml version="1.0" encoding="utf-8"?>
<Health><GoalStateIncarnation>{incarnation}</GoalStateIncarnation><Container><ContainerId>{container}</ContainerId>
<RoleInstanceList><Role><InstanceId>{instance}</InstanceId><Health><State>Ready</State></Health></Role></RoleInstanceList>
</Container></Health>
"""
DONE = Path("/var/lib/landbridge/started")
# The machine that has reported to Azure that it is ready.
REPORTED = Path("/var/lib/landbridge/said")
# Not below /run, from which nothing may be executed.
SCRIPT = Path("/var/lib/landbridge/user-data")
# Where a stick or an installer may put a script for a machine of no cloud.
OWN = Path("/dev/disk/by-partlabel/esp"), "landbridge/user-data"
PATIENCE_SECONDS = 120
Answer = TypeVar("Answer")


def ask(path: str, token: str = "", method: str = "GET") -> str:
    headers = {"X-aws-ec2-metadata-token": token} if token else {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
    request = urllib.request.Request(METADATA + path, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=5) as answer:
        return bytes(answer.read()).decode()


def of_ec2() -> tuple[str, str]:
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


def of_azure() -> tuple[str, str]:
    """As `of_ec2`, and Azure hears of it. What was on the disc is kept: it is there at the first start alone."""
    machine = patiently(lambda: fetched(COMPUTE.format(name="vmId"), Metadata="true").decode())
    if REPORTED.exists() and REPORTED.read_text() == machine:
        return machine, SCRIPT.read_text()
    data = patiently(lambda: fetched(COMPUTE.format(name="userData"), Metadata="true"))
    script = base64.b64decode(data).decode() if data.strip() else of_disc()
    keep(script)
    patiently(say_ready)
    REPORTED.write_text(machine)
    return machine, script


def patiently(what: Callable[[], Answer]) -> Answer:
    """Azure's answers may come later than the network."""
    last = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return what()
        except OSError as error:
            if time.monotonic() > last:
                sys.exit(f"Azure has told nothing: {error}; tried again")
            time.sleep(1)


def fetched(url: str, body: bytes | None = None, **headers: str) -> bytes:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with urllib.request.urlopen(urllib.request.Request(url, body, named), timeout=5) as answer:
        return bytes(answer.read())


def of_disc() -> str:
    """The custom data; what was kept of it where the disc is gone."""
    command = ["mount", "--mkdir", "-o", "ro", "-t", "udf,iso9660", str(DISC), str(MOUNTED)]
    if subprocess.run(command, check=False).returncode:
        if SCRIPT.exists():
            return SCRIPT.read_text()
        sys.exit(f"{DISC} can't be mounted: nothing was told; tried again")
    try:
        return custom_data((MOUNTED / "ovf-env.xml").read_bytes())
    finally:
        subprocess.run(["umount", MOUNTED], check=False)


def custom_data(document: bytes) -> str:
    """Of what the host has written on the disc."""
    found = next(ElementTree.fromstring(document).iter(CUSTOM_DATA), None)  # noqa: S314 - from the host itself
    return base64.b64decode(found.text or "").decode() if found is not None else ""


def say_ready() -> None:
    state = ElementTree.fromstring(fetched(HOST + "goalstate", x_ms_version="2012-11-30"))  # noqa: S314 - the host's
    names = {"incarnation": "Incarnation", "container": "ContainerId", "instance": "InstanceId"}
    told_ = {name: (next(state.iter(tag)).text or "") for name, tag in names.items()}
    kind = "text/xml; charset=utf-8"
    fetched(HOST + "health", HEALTH.format(**told_).encode(), x_ms_version="2012-11-30", Content_Type=kind)


def keep(script: str) -> None:
    SCRIPT.parent.mkdir(parents=True, exist_ok=True)
    SCRIPT.touch(mode=0o700)
    SCRIPT.write_text(script)


def read(file: Path) -> str:
    return file.read_text().strip() if file.exists() else ""


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
    cloud = of_ec2 if read(VENDOR) == "Amazon EC2" else of_azure if read(ASSET) == AZURE else of_stick
    machine, script = cloud()
    if not script.startswith("#!"):
        print("nothing to run", file=sys.stderr)
        return 0
    if DONE.exists() and DONE.read_text() == machine:
        return 0
    keep(script)
    status = subprocess.run([SCRIPT], check=False).returncode
    if status:
        print(f"the machine's script failed ({status}); it is tried again", file=sys.stderr)
        return 1
    DONE.write_text(machine)
    os.sync()
    return 0


if __name__ == "__main__":
    sys.exit(main())
