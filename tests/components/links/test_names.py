"""Names between places: who knows whose, what a site's resolver forwards, and what a site's hosts are called."""

import shutil
import subprocess
from pathlib import Path

import pytest

from components.links.forwarding import forwarding, unbound
from components.links.names import site_zones
from components.network.aws.spec import network_spec
from components.network.azure.spec import network_spec as azure_network
from components.network.resolver import answering, forwards
from fleet.model import Host, Site
from tests.support import golden

from .bed import planned

HOST = Host(cpus=8, memory_gib=64)
HOSTS = {"two": HOST.model_copy(update={"address": "192.168.50.12"}), "one": HOST}
ROOM = Site(gateways=["192.0.2.30"], asn=65030, cidr="192.168.50.0/24", hosts=HOSTS)
UNBOUND = shutil.which("unbound-checkconf", path="/usr/sbin:/usr/local/sbin:/usr/bin")


@pytest.mark.golden
def test_the_file_of_the_example_s_site() -> None:
    golden.same(Path(__file__).parent / "golden/names/unbound.conf", unbound(forwarding(*planned(), "lab")))


def test_every_region_is_asked_at_planned_addresses_in_two_zones() -> None:
    fleet, plan = planned()
    spec = forwarding(fleet, plan, "lab")
    assert list(spec.addresses) == list(fleet.regions)
    for region, addresses in spec.addresses.items():
        found = answering(plan.region(region))
        assert tuple(one.address for one in found) == addresses
        assert len({one.zone for one in found}) == 2
        assert {plan.owner(address) for address in addresses} == {
            f"region/{region}/zone/{one.zone}/private/resolver/{number}" for number, one in enumerate(found, 1)
        }


@pytest.mark.skipif(UNBOUND is None, reason="there is no unbound here: `make lab` installs it")
@pytest.mark.parametrize("broken", ["", "server: no-such-option: yes"])
@pytest.mark.parametrize("site", ["lab", "room"])
def test_unbound_itself_takes_it(tmp_path: Path, site: str, broken: str) -> None:
    file = tmp_path / "landbridge.conf"
    file.write_text(f"{unbound(forwarding(*planned(room=ROOM), site))}\n{broken}\n")
    done = subprocess.run([str(UNBOUND), str(file)], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is not bool(broken), done.stderr


def test_each_cloud_asks_the_other_one_s_regions_for_their_own_names_and_for_no_others() -> None:
    fleet, plan = planned("westeurope", "southcentralus", room=ROOM)
    for region, about in fleet.regions.items():
        found = forwards(fleet, plan, region)
        assert [one.region for one in found] == [n for n, o in fleet.regions.items() if o.cloud != about.cloud]
        assert {one.zone for one in found} == {f"{one.region}.{fleet.domain}" for one in found}
        # Where that region really listens: what its own stack is built from.
        for one in found:
            if fleet.regions[one.region].cloud == "aws":
                answer = tuple(each.address for each in network_spec(fleet, plan, one.region).resolver)
            else:
                answer = (azure_network(fleet, plan, one.region).resolver,)
            assert one.addresses == answer
            assert all((plan.owner(address) or "").startswith(f"region/{one.region}/") for address in answer)
    assert not [one for region in planned()[0].regions for one in forwards(*planned(), region)]


def test_a_site_asks_regions_of_both_clouds_for_all_names() -> None:
    fleet, plan = planned("southcentralus")
    spec = forwarding(fleet, plan, "lab")
    assert "southcentralus.fleet.example.com" in spec.zones
    assert list(spec.addresses) == list(fleet.regions)
    assert len(spec.addresses["southcentralus"]) == 1
    assert f"    forward-addr: {spec.addresses['southcentralus'][0]}  # southcentralus\n" in unbound(spec)


def test_a_site_s_own_names_are_never_forwarded() -> None:
    """Mounts ask for HOST.SITE.DOMAIN of hosts without an address, which the site's own DNS alone knows."""
    fleet, plan = planned(room=ROOM)
    server = fleet.sites["lab"].nfs
    for site in fleet.sites:
        spec = forwarding(fleet, plan, site)
        regions = [f"{region}.{fleet.domain}" for region in fleet.regions]
        assert list(spec.zones) == regions + [f"room.{fleet.domain}"] * (site != "room")
        assert not any(f"{server}.{site}.{fleet.domain}".endswith(f".{zone}") for zone in spec.zones)


def test_own_hosts_with_an_address_are_known_without_any_region() -> None:
    text = unbound(forwarding(*planned(room=ROOM), "room"))
    assert '    local-zone: "room.fleet.example.com." transparent\n' in text
    assert '    local-data: "two.room.fleet.example.com. A 192.168.50.12"\n' in text
    assert "local-" not in unbound(forwarding(*planned(room=ROOM), "lab"))


def test_hosts_with_an_address_have_a_name_and_others_have_none() -> None:
    fleet, _ = planned(room=ROOM)
    (zone,) = site_zones(fleet)
    assert zone == ("room", "room.fleet.example.com", (("two.room.fleet.example.com", "192.168.50.12"),))
