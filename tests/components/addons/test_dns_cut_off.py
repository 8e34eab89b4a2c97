"""Names at a site that is cut off: a real CoreDNS with our very Corefiles, whose ways out go silent.

Other than on a machine are ports, addresses and the way to the API; and the cluster's names live for 5 seconds, not 30.
"""

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from components.addons import dns, node_dns
from components.addons.images import COREDNS
from components.addons.spec import AddOnsSpec
from tests.components.addons.bed import ROOT
from tests.support.apiserver import BIN, Server, free_port
from tests.support.dns import FAILED, NO_ERROR, NO_NAME, Answer, World, ask
from tests.support.link import Link

GROUPS = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")
SERVICE, HEADLESS, OUTSIDE = (
    "store.default.svc.cluster.local",
    "rank-0.ranks.default.svc.cluster.local",
    "data.example.com",
)
POD = "10.0.0.5"
# Caches keep nothing for less than five seconds.
EXPIRED_SECONDS = 6.0


def moved(corefile: str, **here: str) -> str:
    """With what is in the text changed to what there is here; all of it must be found."""
    for there, text in {**COMMON, **here}.items():
        assert re.search(there, corefile), there
        corefile = re.sub(there, text, corefile)
    return corefile


COMMON = {r":53 \{": ":PORT {"}


class Names(NamedTuple):
    """`node` and `site` are ports: of a node's cache, and of the site's CoreDNS behind it."""

    node: int
    site: int
    link: Link
    world: World
    restart: Callable[[], None]


@pytest.fixture
def names(installed: Server, example: AddOnsSpec, tmp_path: Path) -> Iterator[Names]:
    with ExitStack() as stack:
        link, world = Link(installed.port), World()
        stack.callback(link.close)
        stack.callback(world.close)
        user = f"system:serviceaccount:kube-system:{dns.ADDON}"
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(installed.kubeconfig(user, GROUPS, server=f"https://127.0.0.1:{link.port}"))
        site, node = free_port(), free_port()
        resolver = f"127.0.0.1:{world.port}"
        programs: dict[str, subprocess.Popen[bytes]] = {}

        def start(name: str, port: int, corefile: str) -> None:
            file = tmp_path / f"{name}.Corefile"
            file.write_text(corefile.replace("PORT", str(port)))
            log = (tmp_path / f"{name}.log").open("ab")
            programs[name] = subprocess.Popen([BIN / "coredns", "-conf", file], stdout=log, stderr=log)
            stack.callback(lambda: (programs[name].kill(), programs[name].wait()))

        of_site = moved(
            dns.COREFILE,
            **{
                r"(?m)^    errors$": "    errors\n    bind 127.0.0.1",
                r"    health \{": f"    health 127.0.0.1:{free_port()} {{",
                r"(?m)^    ready$": f"    ready 127.0.0.1:{free_port()}",
                r"(?m)^        ttl 30$": f"        ttl 5\n        kubeconfig {kubeconfig}",
                rf":{dns.METRICS_PORT}": f"127.0.0.1:{free_port()}",
                r"/etc/resolv\.conf": resolver,
            },
        )
        of_node = moved(
            node_dns.corefile(example),
            **{
                r"bind .*": "bind 127.0.0.1",
                rf"{node_dns.ADDRESS}:{node_dns.HEALTH_PORT}": f"127.0.0.1:{free_port()}",
                rf"127\.0\.0\.1:{node_dns.METRICS_PORT}": f"127.0.0.1:{free_port()}",
                rf"forward \. {re.escape(example.service_address(dns.UPSTREAM_ADDRESS))}": f"forward . 127.0.0.1:{site}",
                r"/etc/resolv\.conf": resolver,
            },
        )

        def restart() -> None:
            programs["site"].kill()
            programs["site"].wait()
            start("site", site, of_site)

        start("site", site, of_site)
        start("node", node, of_node)
        for port in (site, node):
            until(lambda port=port: answer(port, SERVICE).code == NO_ERROR)
        yield Names(node, site, link, world, restart)


@pytest.fixture(scope="module", autouse=True)
def services(installed: Server) -> None:
    """One with an address of its own, and a headless one as jobs use it."""
    ports = [{"port": 80}]
    for name, spec in (("store", {}), ("unasked", {}), ("ranks", {"clusterIP": "None"})):
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": ports, **spec}}
        installed.api.call("POST", "/api/v1/namespaces/default/services", {}, service)
    piece = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "ranks-1", "labels": {"kubernetes.io/service-name": "ranks"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [POD], "hostname": "rank-0", "conditions": {"ready": True}}],
        "ports": [{"port": 80, "name": ""}],
    }
    installed.api.call("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {}, piece)


def answer(port: int, name: str) -> Answer:
    try:
        return ask(port, name)
    except OSError:  # not there yet, or no answer
        return Answer(FAILED, ())


def until(what: Callable[[], Any], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.2)


def often(ports: tuple[int, ...], wanted: dict[str, Answer]) -> None:
    """More than once: what is stale is asked for anew behind the first answer."""

    def one(port: int, name: str) -> list[Answer]:
        found = []
        for _ in range(6):
            found.append(answer(port, name))
            time.sleep(0.3)
        return found

    with ThreadPoolExecutor(8) as pool:
        asked = {(port, name): pool.submit(one, port, name) for port in ports for name in wanted}
        for (port, name), found in asked.items():
            assert found.result() == 6 * [wanted[name]], (port, name)


def test_a_site_s_names_and_cached_ones_resolve_while_it_is_cut_off(names: Names, installed: Server) -> None:
    service = installed.api.call("GET", "/api/v1/namespaces/default/services/store")["spec"]["clusterIP"]
    inside = {SERVICE: Answer(NO_ERROR, (service,)), HEADLESS: Answer(NO_ERROR, (POD,))}
    told, both = {**inside, OUTSIDE: Answer(NO_ERROR, (names.world.address,))}, (names.node, names.site)
    for port in both:
        for name, wanted in told.items():
            until(lambda port=port, name=name, wanted=wanted: answer(port, name) == wanted)

    names.link.cut()
    names.world.mood = "fails"
    time.sleep(EXPIRED_SECONDS)
    often(both, told)
    for port in both:
        # Nobody has asked for that one before.
        assert answer(port, "unasked.default.svc.cluster.local").code == NO_ERROR
        assert answer(port, "no-such.default.svc.cluster.local").code == NO_NAME
        assert answer(port, f"new-{port}.example.com").code == FAILED, "the world is out of reach"
    names.world.mood = "silent"
    often(both, told)

    # A replica that starts anew knows nothing: the nodes' caches do.
    names.restart()
    until(lambda: answer(names.site, SERVICE).code == FAILED)
    often((names.node,), inside)

    names.link.mend()
    names.world.mood = "answers"
    until(lambda: answer(names.site, SERVICE) == told[SERVICE])
    for port in both:
        until(lambda port=port: answer(port, f"new-{port}.example.com") == told[OUTSIDE])


def test_the_program_is_of_the_image_s_version() -> None:
    assert f"github.com/coredns/coredns {COREDNS.tag}\n" in (ROOT / "tools/coredns/go.mod").read_text()
