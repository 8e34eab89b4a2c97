"""A site's host finds the fleet's names by the rendered file: real unbound, and real name servers behind the tunnels."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.links.forwarding import forwarding, unbound

from .lab import Lab, example
from .machines import Machine, awaited

UNBOUND, SERVES, FORWARDS = "/usr/sbin/unbound", "/run/serves.conf", "/run/forwards.conf"
REGIONS = ("us-west-2", "us-east-1", "eu-west-1")
OWN, ELSEWHERE = "127.0.0.9", "www.example.net"
# The site's NFS server, by the name that mounts have.
SERVER = "host-1.lab.fleet.example.com"
LIFE_SECONDS, UP_SECONDS, ANSWER_SECONDS = 600.0, 20.0, 20.0
ALONE = """\
server:
    username: ""
    chroot: ""
    pidfile: ""
    use-syslog: no
    module-config: iterator
"""
# What a site has already: a resolver for everything else.
AROUND = f"""\
{ALONE}
    interface: 127.0.0.1
    do-not-query-localhost: no
include: /etc/unbound/landbridge.conf
forward-zone:
    name: "."
    forward-addr: {OWN}
"""
# Prints the address of a name, or why there is none.
ASK = """
import random, socket, struct, sys
name, asked = sys.argv[1], random.randbytes(2)
labels = b"".join(bytes([len(one)]) + one.encode() for one in name.split(".")) + bytes(1)
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.settimeout(5)
line.sendto(asked + bytes.fromhex("01000001000000000000") + labels + bytes.fromhex("00010001"), ("127.0.0.1", 53))
told = line.recv(1500)
code, count = told[3] & 15, struct.unpack(">H", told[6:8])[0]
print(".".join(map(str, told[-4:])) if count and not code else f"none: {code}")
"""


def server(machine: Machine, addresses: list[str], zone: str, names: dict[str, str]) -> None:
    """Answers for a zone and writes every question down."""
    known = "".join(f"    local-data: '{name}. 1 IN A {address}'\n" for name, address in names.items())
    listens = "".join(f"    interface: {address}\n" for address in addresses)
    settings = f"{ALONE}    access-control: 0.0.0.0/0 allow\n    log-queries: yes\n    local-zone: {zone} static\n"
    machine.write({SERVES: settings + listens + known})
    machine.start(UNBOUND, "-d", "-c", SERVES, seconds=LIFE_SECONDS)


class Site:
    """The host of the site, and what each region's servers were asked."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.logs = lab, {region: lab.hubs[region].host.log for region in REGIONS}

    def ask(self, name: str) -> str:
        return self.lab.host.attempt(sys.executable, "-c", ASK, name).stdout.strip().rpartition("\n")[2]

    def asked(self, log: Path) -> str:
        return log.read_text(errors="replace")


@pytest.fixture(scope="module")
def site(whole: Lab) -> Iterator[Site]:
    fleet, plan = example()
    spec = forwarding(fleet, plan, "lab")
    # As AWS has it: each region's network knows all zones.
    names = {
        f"{host}.{region}.{spec.domain}": f"10.0.0.{number}"
        for number, region in enumerate(REGIONS, 1)
        for host in "abc"
    }
    for region, addresses in spec.addresses.items():
        machine = whole.hubs[region].host
        machine.ip(*(f"addr add {address}/32 dev vpc" for address in addresses))
        server(machine, list(addresses), spec.domain, names)
    server(whole.host, [OWN], ".", {ELSEWHERE: "192.0.2.80", SERVER: "10.133.0.17"})
    whole.host.write({FORWARDS: AROUND, "/etc/unbound/landbridge.conf": unbound(spec)})
    whole.host.start(UNBOUND, "-d", "-c", FORWARDS, seconds=LIFE_SECONDS)
    made = Site(whole)
    awaited("unbound answers", lambda: made.ask(ELSEWHERE) == "192.0.2.80", UP_SECONDS)
    yield made
    whole.host.kill(whole.host.processes(UNBOUND))
    for region, addresses in spec.addresses.items():
        machine = whole.hubs[region].host
        machine.kill(machine.processes(UNBOUND))
        machine.ip(*(f"addr del {address}/32 dev vpc" for address in addresses))


def test_names_of_every_region_are_found_and_asked_for_nowhere_else(site: Site, lab: Lab) -> None:
    for number, region in enumerate(REGIONS, 1):
        awaited(
            region, lambda r=region, n=number: site.ask(f"a.{r}.fleet.example.com") == f"10.0.0.{n}", ANSWER_SECONDS
        )
    assert site.ask("nobody.us-west-2.fleet.example.com").startswith("none")
    heard = [region for region in REGIONS if f"{region}.fleet.example.com" in site.asked(lab.host.log)]
    assert not heard, "the site's own resolver hears nothing of regions"
    assert "fleet.example.com" in "".join(site.asked(log) for log in site.logs.values())


@pytest.mark.parametrize(("name", "address"), [(ELSEWHERE, "192.0.2.80"), (SERVER, "10.133.0.17")])
def test_other_names_and_the_site_s_own_are_nothing_to_the_cloud(site: Site, lab: Lab, name: str, address: str) -> None:
    assert site.ask(name) == address
    assert name not in "".join(site.asked(log) for log in site.logs.values())


def test_one_region_that_answers_is_enough(site: Site, lab: Lab) -> None:
    silent = [end for region in REGIONS[:2] for end in lab.ends(region)]
    with lab.silent(*silent):
        awaited(
            "a name that nobody asked for yet", lambda: site.ask("b.us-west-2.fleet.example.com") == "10.0.0.1", 30.0
        )


def test_what_was_known_stays_known_while_no_region_answers(site: Site, lab: Lab) -> None:
    name = "c.us-east-1.fleet.example.com"
    awaited(name, lambda: site.ask(name) == "10.0.0.2", ANSWER_SECONDS)
    with lab.silent(*lab.spec.ends):
        time.sleep(3)
        awaited("it is still known", lambda: site.ask(name) == "10.0.0.2", ANSWER_SECONDS)
