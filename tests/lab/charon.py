"""A charon process for one end of one tunnel, with ESP in user space.

libipsec knows neither interface ids nor marks: with two tunnels for 0.0.0.0/0 in one process all traffic would leave by
the newest. Hence a process a tunnel, each with a TUN device of its own in place of the XFRM interface.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from .machines import LabError, Machine, awaited

PROGRAM = "/usr/sbin/charon-systemd"
PLUGINS = "random nonce aes sha1 sha2 hmac kdf gcm openssl kernel-libipsec kernel-netlink socket-default vici updown"
UP_SECONDS, LIFE_SECONDS = 10.0, 1800.0
TUN = re.compile(r"^iff:\s*(\S+)", re.MULTILINE)


def daemon(folder: str, number: int, port: int, port_nat: int, include: str) -> str:
    """`include` is read first. libipsec lays routes of its own: into a table that nothing reads before the main one."""
    return f"""\
include {include}
charon {{
    load_modular = no
    load = {PLUGINS}
}}
swanctl {{
    load = pem openssl
    socket = unix://{folder}/vici
}}
charon-systemd {{
    port = {port}
    port_nat_t = {port_nat}
    routing_table = {1000 + number}
    routing_table_prio = {40000 + number}
    plugins {{
        vici {{
            socket = unix://{folder}/vici
        }}
        kernel-libipsec {{
            load = yes
            allow_peer_ts = yes
        }}
    }}
    filelog {{
        whole {{
            path = {folder}/log
            time_format = %H:%M:%S
            default = 1
            ike_name = yes
            flush_line = yes
        }}
    }}
}}
"""


class Charon:
    """`files` are those that swanctl loads."""

    def __init__(self, machine: Machine, name: str, number: int, files: Sequence[str]) -> None:
        self.machine, self.name, self.number = machine, name, number
        self.folder = f"/run/lab/{name}"
        self.device = ""
        includes = "".join(f"include {file}\n" for file in files)
        machine.write({f"{self.folder}/swanctl/swanctl.conf": includes})

    def start(self, port: int, port_nat: int, include: str = "/etc/strongswan.conf") -> None:
        text = daemon(self.folder, self.number, port, port_nat, include)
        self.machine.write({f"{self.folder}/strongswan.conf": text})
        self.machine.start(PROGRAM, seconds=LIFE_SECONDS, env=self.env)

    def ready(self) -> str:
        """Waits until it can be spoken to; the device that it made."""
        socket = self.machine.root / f"{self.folder.lstrip('/')}/vici"
        awaited(f"{self.name}: charon's socket", socket.exists, UP_SECONDS, 0.05)
        awaited(f"{self.name}: charon's device", lambda: bool(self._tun()), UP_SECONDS, 0.05)
        self.device = self._tun()
        return self.device

    def named(self) -> None:
        """After its device has another name or machine: charon lays routes by the old one, and gives up without it."""
        self.machine.ip(f"tuntap add dev {self.device} mode tun", f"link set {self.device} up")

    def pid(self) -> int:
        """Its number inside the machine. Raises LabError when it does not run."""
        for pid in self.machine.processes(PROGRAM):
            environ = (self.machine.root / f"proc/{pid}/environ").read_bytes().decode()
            if f"STRONGSWAN_CONF={self.folder}/strongswan.conf" in environ.split("\0"):
                return pid
        raise LabError(f"{self.machine.name}: charon of {self.name} does not run: {self.log()[-500:]}")

    def _tun(self) -> str:
        for info in (self.machine.root / f"proc/{self.pid()}/fdinfo").iterdir():
            if found := TUN.search(info.read_text()):
                return found[1]
        return ""

    def load(self) -> None:
        self.swanctl("--load-all", "--noprompt")

    @property
    def env(self) -> dict[str, str]:
        """With it `swanctl` speaks to this one."""
        return {"STRONGSWAN_CONF": f"{self.folder}/strongswan.conf", "SWANCTL_DIR": f"{self.folder}/swanctl"}

    def swanctl(self, *words: str, seconds: float = 15.0) -> str:
        return self.machine.run("swanctl", *words, seconds=seconds, env=self.env)

    def log(self) -> str:
        file = self.machine.root / f"{self.folder.lstrip('/')}/log"
        return file.read_text(errors="replace") if Path(file).exists() else ""
