"""Azure beside AWS: a site's rendered gateway and both clouds' ends, by Azure's rules, which the far daemons keep."""

import contextlib
import time
from collections.abc import Iterator

import pytest

from components.links.gateway import bgp
from tests.components.links.bed import AZURE, planned

from . import frr, report, traffic
from .clouds import Clouds
from .machines import awaited

AWS = "us-west-2"
START_SECONDS, DOG_SECONDS, BGP_SECONDS = 40.0, 5.0, 45.0


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


def silent(lab: Clouds) -> traffic.Result:
    """Flows between site and Azure while one instance's tunnel swallows everything."""
    lab.settle()
    end = lab.ends(AZURE)[1]
    with lab.asking(AZURE) as flows, lab.silent(end):
        time.sleep(8)
        assert "Admin" in frr.sessions(lab.gateway.machine)[end.there]
    return flows


def test_a_silent_instance_is_left_within_seconds(lab: Clouds) -> None:
    """Azure's own hold timer of 180 s would be the other way to find out."""
    with watched(lab):
        flows = silent(lab)
        if flows.gap_seconds >= DOG_SECONDS:  # The machine has other work, too.
            flows = silent(lab)
    report.note("silent tunnel to Azure, with the watchdog", flows, f"{DOG_SECONDS:g} s")
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
    end, line = lab.ends(AZURE)[0], lab.line(0)
    assert lab.azure.taken(0, line.end.bgp_address) == {lab.spec.block_cidr}
    own = ["configure terminal", "ip prefix-list OWN seq 99 permit 0.0.0.0/0 le 32", f"router bgp {lab.spec.asn}"]
    frr.vtysh(
        lab.gateway.machine,
        *own,
        "address-family ipv4 unicast",
        "no bgp network import-check",
        "network 100.64.9.0/24",
        f"network {lab.about.network}",
        "end",
    )
    try:
        awaited("Azure takes the other one", lambda: "100.64.9.0/24" in lab.azure.taken(0, line.end.bgp_address), 20.0)
        assert lab.about.network not in lab.azure.taken(0, line.end.bgp_address)
    finally:
        gone = ["no network 100.64.9.0/24", f"no network {lab.about.network}", "exit", "exit"]
        frr.vtysh(lab.gateway.machine, *own[:1], own[2], "address-family ipv4 unicast", *gone, f"no {own[1]}", "end")
    assert end
