"""Boots an image in QEMU, by UEFI, as a machine of EC2 would be: metadata, no other network, SSH from here alone.

By software emulation (TCG): machines that are guests themselves often have a KVM that hangs.
"""

import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from .errors import ImageError
from .running import BOOT_NEEDED, check, run

ROOT = Path(__file__).resolve().parents[1]
FIRMWARE = Path("/usr/share/OVMF/OVMF_CODE_4M.fd")
VARIABLES = Path("/usr/share/OVMF/OVMF_VARS_4M.fd")
USER = "checker"
# Told on the console once every unit of the boot has started or failed; systemd's own lines end where logins begin.
STARTED = "landbridge-guest:"
FAILED = ("Kernel panic", "You are in emergency mode", "No bootable option")
DISK_GIB = 4
# The guest's network is the one in which clouds answer, so that the answer lies in it.
NETWORK = "net=169.254.169.0/24,host=169.254.169.2,dhcpstart=169.254.169.15"
METADATA = "tcp:169.254.169.254:80"
# What lets the checks in; a bundle's people come the same way.
LETS_IN = """#!/bin/sh
set -e
useradd --create-home --shell /bin/bash {user}
install -d -m 700 -o {user} /home/{user}/.ssh
echo '{key}' > /home/{user}/.ssh/authorized_keys
chown {user} /home/{user}/.ssh/authorized_keys
echo '{user} ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/{user}
systemd-run --quiet --no-block sh -c 'echo {started} $(systemctl is-system-running --wait) > /dev/ttyS0'
"""


class Guest(NamedTuple):
    """`started_seconds` is from power-on until all units have started."""

    ssh_config: Path
    started_seconds: float


def started(console: str) -> bool:
    """Raises ImageError where the console says that nothing will come any more."""
    if wrong := next((sign for sign in FAILED if sign in console), None):
        raise ImageError(f"The image does not boot: {wrong}. The end of its console:\n{console[-2000:]}")
    return STARTED in console


@contextmanager
def booted(disk: Path, tell: Callable[[str], None], *, limit_seconds: float) -> Iterator[Guest]:
    """`disk` is qcow2 and stays as it is.

    Raises ImageError when it has not started within the limit.
    """
    check(BOOT_NEEDED, root=False)
    with tempfile.TemporaryDirectory(prefix="landbridge-guest-") as temporary:
        folder = Path(temporary)
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "key")])
        _write_metadata(folder / "told", (folder / "key.pub").read_text().strip())
        shutil.copyfile(VARIABLES, folder / "variables")
        overlay = folder / "disk.qcow2"
        backing = ["-F", "qcow2", "-b", str(disk.resolve())]
        run(["qemu-img", "create", "-q", "-f", "qcow2", *backing, str(overlay), f"{DISK_GIB}G"])
        port = _free_port()
        began = time.monotonic()
        with (folder / "qemu").open("w") as stderr:
            machine = subprocess.Popen(
                _command(folder, overlay, port), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr
            )
        try:
            seconds = _wait(machine, folder, began, limit_seconds, tell)
            yield Guest(_ssh_config(folder, port), seconds)
        finally:
            machine.kill()
            machine.wait()


def _write_metadata(folder: Path, key: str) -> None:
    folder.mkdir()
    (folder / "instance-id").write_text("i-0123456789abcdef0")
    (folder / "user-data").write_text(LETS_IN.format(user=USER, key=key, started=STARTED))


def _command(folder: Path, overlay: Path, port: int) -> list[str]:
    metadata = shlex.join([sys.executable, "-B", str(ROOT / "images/metadata.py"), str(folder / "told")])
    network = f"user,id=net,restrict=on,{NETWORK},hostfwd=tcp:127.0.0.1:{port}-:22,guestfwd={METADATA}-cmd:{metadata}"
    smbios = ("-smbios", "type=1,manufacturer=Amazon EC2,product=t3.large")
    # It ends with whoever started it, however that ends.
    return ["setpriv", "--pdeathsig", "KILL", *qemu(folder, overlay, "qcow2", 2048, {"net": (network, "")}), *smbios]


def qemu(folder: Path, disk: Path, form: str, memory_mib: int, interfaces: Mapping[str, tuple[str, str]]) -> list[str]:
    """Its command line; firmware's variables and the console lie in `folder`.

    `interfaces` are by their netdevs' ids, each what the netdev is and what the card has besides.
    """
    given = {
        "-machine": ["q35"],
        "-accel": ["tcg,thread=multi"],
        "-cpu": ["max"],
        "-smp": ["2"],
        "-m": [str(memory_mib)],
        "-display": ["none"],
        "-monitor": ["none"],
        "-serial": [f"file:{folder / 'console'}"],
        "-drive": [
            f"if=pflash,format=raw,readonly=on,file={FIRMWARE}",
            f"if=pflash,format=raw,file={folder / 'variables'}",
            f"if=virtio,format={form},file={disk}",
        ],
        "-netdev": [netdev for netdev, _ in interfaces.values()],
        "-device": [
            *(f"virtio-net-pci,netdev={name}{more},romfile=" for name, (_, more) in interfaces.items()),
            "virtio-rng-pci",
        ],
    }
    return [
        "qemu-system-x86_64",
        "-nodefaults",
        *(part for name, many in given.items() for one in many for part in (name, one)),
    ]


def _wait(
    machine: "subprocess.Popen[bytes]", folder: Path, began: float, limit_seconds: float, tell: Callable[[str], None]
) -> float:
    console, reported = folder / "console", began
    while True:
        text = console.read_text(errors="replace") if console.exists() else ""
        seconds = time.monotonic() - began
        if started(text):
            return seconds
        if machine.poll() is not None:
            raise ImageError(f"QEMU ended: {(folder / 'qemu').read_text()[-2000:]}")
        if seconds > limit_seconds:
            raise ImageError(
                f"The image has not started within {limit_seconds:.0f} s. The end of its console:\n{text[-2000:]}"
            )
        if time.monotonic() - reported > 10:
            reported = time.monotonic()
            tell(f"boots: {seconds:.0f} s")
        time.sleep(0.2)


def _ssh_config(folder: Path, port: int) -> Path:
    """One connection for all checks: under emulation each handshake takes a second."""
    lines = {
        "HostName": "127.0.0.1",
        "Port": str(port),
        "User": USER,
        "IdentityFile": str(folder / "key"),
        "IdentitiesOnly": "yes",
        # Its host key was made a minute ago, and nobody is between.
        "StrictHostKeyChecking": "no",
        "UserKnownHostsFile": "/dev/null",
        "LogLevel": "ERROR",
        "ConnectTimeout": "60",
        "ControlMaster": "auto",
        "ControlPath": str(folder / "control"),
        "ControlPersist": "60",
    }
    file = folder / "ssh_config"
    file.write_text("Host guest\n" + "".join(f"    {name} {value}\n" for name, value in lines.items()))
    return file


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
