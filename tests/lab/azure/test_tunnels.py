"""Azure beside AWS: a site's rendered gateway and both clouds' ends, by Azure's rules, which the far daemons keep."""

import contextlib
import json
import time
from collections.abc import Iterator

import pytest

from components.control_plane.units import SCRIPTS, SETTINGS
from components.links.gateway import bgp, ipsec
from components.links.gateway.spec import End
from tests.components.links.bed import AZURE, planned

from .. import frr, report, traffic
from ..clouds import Clouds
from ..gateway import DAEMONS
from ..machines import LabError, awaited
from ..test_causes import LINE

import gateway_causes  # isort: skip

AWS = "us-west-2"
START_SECONDS, DOG_SECONDS, BGP_SECONDS = 40.0, 5.0, 45.0
TOLD, OUTSIDE = f"{SETTINGS}/gateway.json", "169.254.30.2"


@pytest.fixture(scope="module")
def clouds(tmp_path_factory: pytest.TempPathFactory, possible: None) -> Iterator[Clouds]:
    lab = Clouds(tmp_path_factory.mktemp("clouds"), *planned(AZURE), AWS, AZURE)
    lab.begin()
    yield lab
    lab.close()


@pytest.fixture
def lab(clouds: Clouds) -> Clouds:
    clouds.settle()
    return clouds


def test_all_three_come_up_from_rendered_files_and_reach_each_other(lab: Clouds) -> None:
    report.note("site, AWS and Azure: eight tunnels up", f"{lab.took_seconds:.1f} s", f"{START_SECONDS:g} s")
    assert lab.took_seconds < START_SECONDS
    with (
        lab.asking(AZURE) as there,
        traffic.asking(lab.azure.host, lab.addresses(lab.networks[AZURE]), lab.addresses(lab.lan)) as back,
        between(lab) as across,
    ):
        pass
    assert [(flows.sent > 0, flows.lost) for flows in (there, back, across)] == [(True, 0)] * 3


def between(lab: Clouds) -> contextlib.AbstractContextManager[traffic.Result]:
    """Flows from AWS to Azure, by all four tunnels."""
    here, there = (lab.addresses(lab.networks[region]) for region in (AWS, AZURE))
    return traffic.asking(lab.hubs[AWS].host, here, there)


@contextlib.contextmanager
def watched(lab: Clouds) -> Iterator[None]:
    """It has heard of every tunnel by then, and leaves FRR as it was."""
    with lab.gateway.watchdog():
        time.sleep(3)
        yield
    machine, lines = lab.gateway.machine, ["configure terminal", f"router bgp {lab.spec.asn}"]
    lines += [f"no neighbor {end.there} shutdown" for end in lab.spec.ends]
    lines.append("address-family ipv4 unicast")
    frr.vtysh(machine, *lines, *(f"neighbor {end.there} prefix-list {bgp.OWN} out" for end in lab.spec.ends), "end")


def silent(lab: Clouds) -> tuple[traffic.Result, bool]:
    """Flows between site and Azure while one instance's tunnel swallows everything; and whether a new watchdog has left
    it within 6 s.
    """
    lab.settle()
    end = lab.ends(AZURE)[1]
    with watched(lab), lab.asking(AZURE) as flows, lab.silent(end):
        time.sleep(6)
        left = "Admin" in frr.sessions(lab.gateway.machine)[end.there]
    return flows, left


def test_a_silent_instance_is_left_within_seconds(lab: Clouds) -> None:
    """Azure's own hold timer of 180 s would be the other way to find out."""
    flows, left = silent(lab)
    if not left or flows.gap_seconds >= DOG_SECONDS:  # The machine has other work, too.
        flows, left = silent(lab)
    report.note("silent tunnel to Azure, with the watchdog", flows, f"{DOG_SECONDS:g} s")
    assert left
    assert flows.gap_seconds < DOG_SECONDS


def test_one_of_four_tunnels_between_the_clouds_is_lost_and_all_is_in_reach(lab: Clouds) -> None:
    lost = lab.crosses[0]
    with between(lab) as flows:
        time.sleep(1)
        with lab.lost(lost):
            awaited("AWS leaves it", lambda: lost.tunnel.azure_address not in lab.hub_ways(), BGP_SECONDS, 0.5)
            awaited("Azure leaves it", lambda: not lab.azure.believes(lost.tunnel.aws_address), BGP_SECONDS, 0.5)
            time.sleep(2)
            assert len(lab.hub_ways()) == 3
    report.note("one of four tunnels between AWS and Azure is silent", flows, f"{BGP_SECONDS:g} s")
    assert DOG_SECONDS < flows.gap_seconds < BGP_SECONDS, "a flow that was never in it proves nothing"


def test_new_keys_towards_azure_lose_no_packet(lab: Clouds) -> None:
    with lab.asking(AZURE) as flows:
        for end in lab.ends(AZURE):
            charon = lab.gateway.charons[end.name]
            charon.swanctl("--rekey", "--child", end.name)
            time.sleep(0.5)
            charon.swanctl("--rekey", "--ike", end.name)
            time.sleep(0.5)
    report.note("keys towards Azure made anew", flows, "1 in 100")
    assert flows.lost <= flows.sent / 100


def test_segments_towards_azure_are_of_1350_bytes(lab: Clouds) -> None:
    here, there = lab.addresses(lab.lan)[0], lab.addresses(lab.networks[AZURE])[0]
    match = f"ip saddr {here} tcp flags syn / syn,ack tcp option maxseg size 1350"
    with traffic.Witness(lab.azure.host, match) as witness:
        assert traffic.moved(lab.host, "fetch", here, there, 500_000, 20.0)
        assert witness.packets() == 1


def test_azure_tells_aws_of_the_site_and_aws_believes_none_of_it(lab: Clouds) -> None:
    """By Azure it would come to the site through a tunnel on which the firewall takes Azure's packets alone."""
    assert lab.ways_to_site() == {end.tunnel.gateway_address for end in lab.hubs[AWS].ends}
    frr.vtysh(lab.gateway.machine, *_not_on(lab, "no "))
    try:
        by_azure = {one.tunnel.azure_address for one in lab.crosses}
        awaited("AWS hears of it by Azure", lambda: bool(lab.ways_to_site() & by_azure), 30.0)
    finally:
        frr.vtysh(lab.gateway.machine, *_not_on(lab, ""))


def _not_on(lab: Clouds, no: str) -> list[str]:
    lines = ["configure terminal", f"router bgp {lab.spec.asn}", "address-family ipv4 unicast"]
    return [*lines, *(f"{no}neighbor {end.there} route-map {bgp.NOT_ON} out" for end in lab.spec.azure), "end"]


def test_azure_takes_its_own_network_s_prefix_from_nobody(lab: Clouds) -> None:
    """The other end's rule, which nothing that is rendered comes near: the site tells its block, and one prefix it is."""
    peer, machine = lab.line(0).end.bgp_address, lab.gateway.machine
    assert lab.azure.taken(0, peer) == {lab.spec.block_cidr}
    told, begun = ("100.64.9.0/24", lab.about.network), ("configure terminal", f"router bgp {lab.spec.asn}")
    everything = f"ip prefix-list {bgp.OWN} seq 99 permit 0.0.0.0/0 le 32"
    frr.vtysh(machine, begun[0], everything, begun[1], "no bgp network import-check", "end")
    frr.vtysh(machine, *begun, "address-family ipv4 unicast", *(f"network {one}" for one in told), "end")
    try:
        awaited("Azure takes the other one", lambda: told[0] in lab.azure.taken(0, peer), 20.0)
        assert told[1] not in lab.azure.taken(0, peer)
    finally:
        frr.vtysh(machine, *begun, "address-family ipv4 unicast", *(f"no network {one}" for one in told), "end")
        frr.vtysh(machine, begun[0], f"no {everything}", begun[1], "bgp network import-check", "end")


def trouble(lab: Clouds, end: End) -> str:
    """What the gateway's own verify.py says of a tunnel, which `links check --gateway` reads."""
    charon = lab.gateway.charons[end.name]
    done = lab.gateway.machine.attempt("python3", f"{SCRIPTS}/gateway_verify.py", "--json", seconds=30, env=charon.env)
    return str(next(one["trouble"] for one in json.loads(done.stdout)["tunnels"] if one["name"] == end.name))


@pytest.fixture
def ends(lab: Clouds) -> Iterator[list[End]]:
    """The tunnels to both instances. In the end all is as it was rendered."""
    both = lab.ends(AZURE)
    yield both
    if lab.gateway.machine.read(bgp.CONFIG) != lab.gateway.rendered[bgp.CONFIG]:
        anew(lab, {})
    else:
        set_up(lab, both[1])
    awaited("all is as before", lab.settled, 60.0, 0.5)


def set_up(lab: Clouds, end: End, pattern: str = "", by: str = "") -> dict[str, str]:
    """The tunnel's keys agreed on anew with a changed file of strongSwan, or the rendered one; what its log says then."""
    path, charon = f"{ipsec.FOLDER}/{end.name}.conf", lab.gateway.charons[end.name]
    text = lab.gateway.change(path, pattern, by) if pattern else lab.gateway.rendered[path]
    lab.gateway.machine.write({path: text})
    charon.load()
    begun = len(charon.log())
    with contextlib.suppress(LabError):
        charon.swanctl("--terminate", "--ike", end.name)
    with contextlib.suppress(LabError):
        charon.swanctl("--initiate", "--child", end.name, "--timeout", "5")
    return gateway_causes.causes(LINE.findall(charon.log()[begun:]))


def anew(lab: Clouds, files: dict[str, str]) -> None:
    """FRR starts with the rendered files, or with others in place of some."""
    machine = lab.gateway.machine
    machine.write({path: lab.gateway.rendered[path] for path in (bgp.CONFIG, TOLD)} | files)
    frr.stop(machine)
    frr.start(machine, *DAEMONS)


def test_another_policy_than_azure_s_one_does_not_come_up(lab: Clouds, ends: list[End]) -> None:
    """It takes one set, and no other that would be as strong."""
    found = set_up(lab, ends[1], "aes256-sha256-ecp384", "aes256-sha384-ecp384")
    assert "ESTABLISHED" not in lab.gateway.charons[ends[1].name].swanctl("--list-sas")
    assert "agree on no encryption of keys" in found[ends[1].name]
    found = set_up(lab, ends[1], "aes256gcm16-ecp384", "aes256-sha256-ecp384")
    assert "agree on no encryption of traffic" in found[ends[1].name]
    assert not found.get(ends[0].name)


def test_bgp_that_azure_does_not_answer_stays_down_and_its_cause_is_named(lab: Clouds, ends: list[End]) -> None:
    """One tunnel waits for Azure to begin, the other is to an address outside of Azure's range."""
    first, second = ends
    config = lab.gateway.change(
        bgp.CONFIG, rf"^ neighbor {first.there} timers.*$", rf"\g<0>\n neighbor {first.there} passive"
    )
    others = {
        bgp.CONFIG: config.replace(second.there, OUTSIDE),
        TOLD: lab.gateway.rendered[TOLD].replace(second.there, OUTSIDE),
    }
    anew(lab, others)
    awaited("AWS's sessions", lambda: len(lab.gateway.established()) == 2, 20.0)
    time.sleep(5)
    for number, end in enumerate(ends):
        assert lab.line(number).end.bgp_address not in frr.established(lab.azure.instances[number])
        assert "INSTALLED" in lab.gateway.charons[end.name].swanctl("--list-sas")
    assert f"FRR waits for {first.there} to begin" in trouble(lab, first)
    assert f"{OUTSIDE} is none of Azure's for BGP" in trouble(lab, second)
