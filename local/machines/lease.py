"""What a VPC tells a whole machine about its network: a lease by DHCP, and names by DNS. By dnsmasq, at its card.

Names are those of a hosts file; any other is none, as without a way out. VPC user guide, "DHCP option sets".
"""

import os
import signal
import subprocess
from pathlib import Path

from .network import SYSTEM, Interface, addresses, at, hardware_address
from .tap import RESOLVER, gateway, netmask

LEASE_SECONDS = 3600


class Lease:
    """Lives as long as the thread that made it, at most: who ends that ends this."""

    def __init__(self, folder: Path, interface: Interface, device: str, domain: str, router: Path | None) -> None:
        self.hosts, self.log = folder / "hosts", folder / "dnsmasq.log"
        words = command(self.hosts, interface, device, domain)
        # What comes before it is ready must not end it: it reads the file then anyway.
        self.command = [*at(router), "setpriv", "--pdeathsig", "KILL", "env", "--ignore-signal=HUP", *words]
        self.process: subprocess.Popen[bytes] | None = None

    def name(self, text: str) -> None:
        """Has it answer with what a hosts file says; starts it, the first time."""
        draft = self.hosts.with_suffix(".new")
        draft.write_text(text)
        draft.replace(self.hosts)
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGHUP)
            return
        env = {**os.environ, "PATH": f"{os.environ.get('PATH', os.defpath)}:{SYSTEM}"}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env)

    def end(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()


def command(hosts: Path, interface: Interface, device: str, domain: str) -> list[str]:
    address = addresses(interface)[0]
    options = {
        # It is root of the local cloud's namespace, which may have no other user.
        "user": "root",
        "conf-file": "/dev/null",
        "pid-file": "",
        "log-facility": "-",
        "interface": device,
        "addn-hosts": str(hosts),
        # Neither an address nor a server: there is no such name.
        "address": "/#/",
        "dhcp-range": f"{address},static,{netmask(interface)},{LEASE_SECONDS}",
        "dhcp-host": f"{hardware_address(interface)},{address}",
        "dhcp-leasefile": str(hosts.with_name("leases")),
    }
    values = {"router": gateway(interface), "dns-server": RESOLVER, "domain-name": domain}
    return [
        *("dnsmasq", "--keep-in-foreground", "--bind-interfaces", "--except-interface=lo"),
        *("--no-resolv", "--no-hosts", "--no-ping", "--dhcp-authoritative"),
        *(f"--{name}={value}" for name, value in options.items()),
        *(f"--dhcp-option=option:{name},{value}" for name, value in values.items()),
    ]
