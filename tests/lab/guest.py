"""The site's gateway as a whole machine: the gateway image in QEMU, told its two networks as a site's people tell it.

Nothing of it is played: its own kernel has XFRM and ESP, its own systemd-networkd makes the interfaces. What it is told
lies on its EFI partition, where machines of no cloud look.
"""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from components.links.gateway.files import whole
from components.links.gateway.spec import GatewaySpec
from images import guest as guests
from images.disk import ESP_START_MIB
from landbridge.site import gateway as site_gateway

from . import frr, time_server
from .lab import UPLINK, Lab
from .machines import LabError, Machine, awaited, joined

SCRIPTS = "usr/local/lib/landbridge"
FOLDER = "/var/tmp/gateway"
CARDS = {"wan": "52:54:00:00:00:01", "lan": "52:54:00:00:00:02"}
MEMORY_MIB, BOOT_SECONDS, INSTALL_SECONDS, LIFE_SECONDS = 1024, 900.0, 300.0, 3000.0
NETWORK = """\
[Match]
MACAddress={mac}

[Network]
LinkLocalAddressing=no
IPv6AcceptRA=no

[Address]
{address}
"""
UPLINKED = """
[Route]
Gateway={uplink}
GatewayOnLink=yes
"""
# A time server and both networks, before people are let in.
SITE = """\
#!/bin/sh
set -e
echo 'server {uplink} iburst' > /etc/chrony/sources.d/site.sources
chronyc reload sources
{networks}
networkctl reload
"""


class Guest:
    """`run` is a root shell's, over SSH from the site's host, which is in the gateway's LAN."""

    def __init__(self, machine: Machine, host: Machine, folder: Path, address: str) -> None:
        self.machine, self.host, self.folder, self.address = machine, host, folder, address
        self.key = folder / "key"

    def attempt(
        self, *words: str, seconds: float = 60.0, data: bytes | None = None
    ) -> "subprocess.CompletedProcess[bytes]":
        options = {
            "IdentityFile": str(self.key),
            "IdentitiesOnly": "yes",
            "StrictHostKeyChecking": "no",
            "UserKnownHostsFile": "/dev/null",
            "LogLevel": "ERROR",
            "ConnectTimeout": "60",
            "ControlMaster": "auto",
            "ControlPath": str(self.folder / "control"),
            "ControlPersist": "60",
        }
        given = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
        ssh = ["ssh", "-F", "/dev/null", *given, f"{guests.USER}@{self.address}", "sudo", shlex.join(words)]
        # ssh that stays for the next ones must not keep our pipe.
        return subprocess.run(
            self.host.words(*ssh, seconds=seconds), input=data or b"", capture_output=True, check=False
        )

    def run(self, *words: str, seconds: float = 60.0) -> str:
        done = self.attempt(*words, seconds=seconds)
        if done.returncode:
            said = (done.stdout + done.stderr).decode(errors="replace")[-800:]
            raise LabError(f"guest: {shlex.join(words)[:200]} failed ({done.returncode}): {said}")
        return done.stdout.decode(errors="replace")


class GuestGateway:
    """What the lab needs of a gateway; `installed` is what its install script said last."""

    def __init__(self, machine: Guest, spec: GatewaySpec, keys: dict[str, str], image: Path, lan: str) -> None:
        self.machine, self.spec, self.image, self.lan = machine, spec, image, lan
        self.rendered = machine.folder / "rendered"
        site_gateway._written(self.rendered, spec, whole(spec, keys))
        self.installed = ""
        self.started_seconds = 0.0

    def start(self) -> None:
        """Boots; nothing of a gateway's is on it yet."""
        folder = self.machine.folder
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.machine.key)], check=True)
        (folder / "told").write_text(self.told())
        disk = folder / "disk.raw"
        subprocess.run(["cp", "--sparse=always", str(self.image / "disk.raw"), str(disk)], check=True)
        subprocess.run(["qemu-img", "resize", "-q", "-f", "raw", str(disk), "4G"], check=True)
        esp = f"{disk}@@{ESP_START_MIB}M"
        subprocess.run(["mmd", "-i", esp, "::landbridge"], check=True)
        subprocess.run(["mcopy", "-i", esp, str(folder / "told"), "::landbridge/user-data"], check=True)
        shutil.copyfile(guests.VARIABLES, folder / "variables")
        self.machine.machine.start(*self.command(disk), seconds=LIFE_SECONDS)
        console = folder / "console"
        console.touch()
        try:
            self.started_seconds = awaited(
                "the guest's units", lambda: guests.started(console.read_text(errors="replace")), BOOT_SECONDS, 0.5
            )
        except LabError as error:
            raise LabError(f"{error}; the end of its console:\n{console.read_text(errors='replace')[-3000:]}") from None

    def told(self) -> str:
        """The script on its EFI partition."""
        public = self.machine.key.with_suffix(".pub").read_text().strip()
        addresses = {
            "wan": f"Address={self.spec.address}/32\nPeer={UPLINK}/32",
            "lan": f"Address={self.machine.address}/{self.lan.partition('/')[2]}",
        }
        texts = {card: NETWORK.format(mac=CARDS[card], address=text) for card, text in addresses.items()}
        texts["wan"] += UPLINKED.format(uplink=UPLINK)
        written = [f"cat > /etc/systemd/network/10-{card}.network <<'END'\n{text}END" for card, text in texts.items()]
        lets_in = guests.LETS_IN.format(user=guests.USER, key=public, started=guests.STARTED).partition("\nset -e\n")[2]
        return SITE.format(uplink=UPLINK, networks="\n".join(written)) + lets_in

    def command(self, disk: Path) -> list[str]:
        cards = {
            card: (f"tap,id={card},ifname=tap-{card},script=no,downscript=no", f",mac={mac}")
            for card, mac in CARDS.items()
        }
        # Its units wait for each other as long as on metal, however many tests run beside it; but half a machine is theirs.
        return ["nice", "-n", "-5", *guests.qemu(self.machine.folder, disk, "raw", MEMORY_MIB, cards)]

    def connect(self) -> None:
        """As the guide has it: the folder there, and its script."""
        self.bring(self.rendered)
        self.installed = self.install()

    def bring(self, folder: Path) -> None:
        packed = subprocess.run(["tar", "-C", str(folder), "-c", "."], capture_output=True, check=True).stdout
        self.machine.run("rm", "-rf", FOLDER)
        self.machine.run("mkdir", "-m", "700", FOLDER)
        done = self.machine.attempt("tar", "-C", FOLDER, "--no-same-owner", "-x", data=packed)
        if done.returncode:
            raise LabError(f"the folder did not come: {done.stderr.decode()}")

    def install(self) -> str:
        """What the script says; raises LabError with its words where it fails."""
        return self.machine.run("python3", f"{FOLDER}/{SCRIPTS}/gateway_install.py", seconds=INSTALL_SECONDS)

    def verified(self) -> dict[str, object]:
        done = self.machine.attempt("python3", f"/{SCRIPTS}/gateway_verify.py", "--json")
        return dict(json.loads(done.stdout))

    def established(self) -> set[str]:
        peers = frr.established(self.machine)  # type: ignore[arg-type]
        return {end.name for end in self.spec.ends if end.there in peers}


class GuestLab(Lab):
    """A lab whose one gateway is a guest, started from the image in a folder."""

    image: Path
    ready_seconds = 300.0

    def site_end(self, number: int) -> GuestGateway:  # type: ignore[override]
        spec, machine = self.specs[number], self._machine("guest")
        for card, other, there in (("wan", self.internet, "site0"), ("lan", self.host, "port0")):
            joined(machine, f"to-{card}", other, there)
            machine.ip(
                f"tuntap add dev tap-{card} mode tap",
                f"link add {card} type bridge",
                *(f"link set {one} master {card} up" for one in (f"tap-{card}", f"to-{card}")),
                f"link set {card} up",
            )
        self.internet.ip(f"addr add {UPLINK} peer {spec.address} dev site0")
        self.host.ip("link set port0 master lan")
        self.internet.start(sys.executable, time_server.__file__, UPLINK, seconds=LIFE_SECONDS)
        folder = self.logs / "guest"
        folder.mkdir()
        guest = Guest(machine, self.host, folder, str(self.lan[1]))
        return GuestGateway(guest, spec, self.keys, self.image, str(self.lan))
