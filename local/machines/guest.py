"""A whole machine: an image's disk, started by QEMU with its own kernel and systemd, where others are processes here.

It learns its address by DHCP, its names by DNS and what to run from the metadata, as in the cloud. What clouds need not
tell, whom to trust besides the authorities of the world, comes by systemd's own way from whoever runs a machine: a
credential in its SMBIOS tables (systemd.system-credentials(7), "tmpfiles.extra"). The disk stays as it was baked.
"""

import base64
import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import tap
from .lease import Lease
from .machine import Live, Machine, MachineError
from .network import SYSTEM, Interface, at, hardware_address
from .waiting import readable

FIRMWARE = Path("/usr/share/OVMF/OVMF_CODE_4M.fd")
VARIABLES = Path("/usr/share/OVMF/OVMF_VARS_4M.fd")
TUN = Path("/dev/net/tun")
# What it takes → Debian's package.
NEEDED = {
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "dnsmasq": "dnsmasq-base",
    "setpriv": "util-linux",
    str(FIRMWARE): "ovmf",
}
# An instance type's are what there may be; this computer has others to feed. A kubelet keeps 2 GiB for itself.
MOST_CPUS, MOST_MEMORY_MIB, MOST_DISK_GIB = 2, 8192, 32
# Its monitor answers once all that QEMU was told has been taken; what it does not like it says before.
ASKED, ANSWER, ANSWER_SECONDS = b"info status\n", b"VM status:", 60.0
# On the EC2 that images know: images/files/all/usr/local/lib/landbridge/boot.py.
MAKER = "Amazon EC2"


def lacking() -> str | None:
    """Why this computer can't run one, with what to do; None where it can."""
    path = f"{os.environ.get('PATH', os.defpath)}:{SYSTEM}"
    packages = {package for what, package in NEEDED.items() if not (shutil.which(what, path=path) or _file(what))}
    if packages:
        return f"Packages are missing: sudo apt-get install {' '.join(sorted(packages))}"
    if not os.access(TUN, os.R_OK | os.W_OK):
        return f"{TUN} can't be opened, which a guest's card needs: start the local cloud as root"
    return None


def _file(what: str) -> bool:
    return what.startswith("/") and Path(what).exists()


@dataclass(kw_only=True)
class Guest(Machine):
    """`image` is a qcow2, which stays as it is; `domain` is for names without a dot; `kind` an instance type.

    `files` are laid onto its disk at each start. Programs and volumes of this computer it has none.
    """

    image: Path
    domain: str
    kind: str
    cpus: int
    memory_mib: int
    disk_gib: int
    lease: Lease | None = field(default=None, init=False)

    def start(self) -> None:
        """Returns when QEMU runs. Raises MachineError or NetworkError, and then nothing of it is left running."""
        if self.running:
            raise MachineError(f"The machine {self.name} is running already")
        self.let_go()
        if why := lacking():
            raise MachineError(why)
        self.folder.mkdir(parents=True, exist_ok=True)
        overlay = self.overlay()
        interface = Interface(self.addresses)
        try:
            self.interfaces[interface.name] = device = tap.plug(interface, self.router)
            self.lease = Lease(self.folder, interface, device, self.domain, self.router)
            self.write_hosts(self.hosts)
            log = self.folder / "qemu.log"
            before = log.stat().st_size if log.exists() else 0
            self.live = self.power_on(overlay, device, hardware_address(interface))
            self.await_taken(self.live, log, before)
        except BaseException:
            self.kill() if self.live else self.let_go()
            raise

    def overlay(self) -> Path:
        """Its own disk: what differs from the image. It is there for the next start."""
        file = self.folder / "disk.qcow2"
        if file.exists():
            return file
        if not self.image.exists():
            raise MachineError(f"{self.image}, the disk that {self.name} starts from, is gone")
        shutil.copyfile(VARIABLES, self.folder / "variables")
        size = f"{min(self.disk_gib, MOST_DISK_GIB)}G"
        words = ["-f", "qcow2", "-F", "qcow2", "-b", str(self.image.resolve()), str(file), size]
        done = subprocess.run(["qemu-img", "create", "-q", *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise MachineError(f"{self.name} got no disk: {done.stderr.strip()}")
        return file

    def power_on(self, overlay: Path, device: str, mac: str) -> Live:
        (self.folder / "credentials").write_text(credential(self.files))
        with (self.folder / "qemu.log").open("ab") as log:
            process = subprocess.Popen(
                [*at(self.router), "setpriv", "--pdeathsig", "KILL", *self.command(overlay, device, mac)],
                # Its monitor, by which it is told to shut down.
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
            )
        assert process.stdin is not None
        return Live(process.pid, os.pidfd_open(process.pid), os.dup(process.stdin.fileno()), process)

    def await_taken(self, live: Live, log: Path, before: int) -> None:
        """`before` is the log's length at power-on."""
        with contextlib.suppress(OSError):  # it has ended
            os.write(live.lifeline, ASKED)
        deadline, output = time.monotonic() + ANSWER_SECONDS, b""
        while ANSWER not in output:
            ended = readable(live.handle, seconds=0.05)
            output = log.read_bytes()[before:]
            if ended or time.monotonic() > deadline:
                raise MachineError(f"QEMU does not start {self.name}: {output.decode(errors='replace').strip()[-300:]}")

    def command(self, overlay: Path, device: str, mac: str) -> list[str]:
        given = {
            "-machine": ["q35"],
            # Machines that are guests themselves often have a KVM that hangs.
            "-accel": ["tcg,thread=multi"],
            "-cpu": ["max"],
            "-smp": [str(min(self.cpus, MOST_CPUS))],
            "-m": [str(min(self.memory_mib, MOST_MEMORY_MIB))],
            "-display": ["none"],
            "-monitor": ["stdio"],
            "-chardev": [f"file,id=console,append=on,path={self.console}"],
            "-serial": ["chardev:console"],
            "-smbios": [
                f"type=1,manufacturer={MAKER},product={self.kind}",
                f"type=11,path={self.folder / 'credentials'}",
            ],
            "-drive": [
                f"if=pflash,format=raw,readonly=on,file={FIRMWARE}",
                f"if=pflash,format=raw,file={self.folder / 'variables'}",
                f"if=virtio,format=qcow2,file={overlay}",
            ],
            "-netdev": [f"tap,id=net,ifname={device},script=no,downscript=no"],
            "-device": [f"virtio-net-pci,netdev=net,mac={mac},romfile=", "virtio-rng-pci"],
        }
        parts = (part for name, many in given.items() for one in many for part in (name, one))
        return ["qemu-system-x86_64", "-nodefaults", *parts]

    def write_hosts(self, text: str) -> None:
        """The names that its resolver answers with from now on."""
        if self.lease:
            self.lease.name(text)

    def stop(self, seconds: float = 0.0) -> bool:
        """Presses the power button; by force after so many seconds. False if it had to be forced."""
        if self.live is None:
            return True
        with contextlib.suppress(OSError):
            os.write(self.live.lifeline, b"system_powerdown\n")
        gentle = bool(readable(self.live.handle, seconds=seconds))
        self.kill()
        return gentle

    def let_go(self) -> None:
        if self.lease:
            self.lease.end()
            self.lease = None
        if self.live and self.live.process and self.live.process.stdin:
            self.live.process.stdin.close()
        super().let_go()


def credential(files: Mapping[str, str]) -> str:
    """An SMBIOS string that has systemd write `files`, path → content, before anything else of its own starts."""
    lines = [f"f+~ /{path} 0644 root root - {_encoded(text)}\n" for path, text in files.items()]
    return f"io.systemd.credential.binary:tmpfiles.extra={_encoded(''.join(lines))}"


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
