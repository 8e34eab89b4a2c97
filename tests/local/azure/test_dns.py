"""Private zones, private endpoints and resolvers of the local Azure."""

import uuid
from typing import Any

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.mgmt.network import NetworkManagementClient
from azure.mgmt.network import models as networks
from azure.mgmt.privatedns import PrivateDnsManagementClient, models

from .network_support import Place, reference
from .support import LocalAzure, assert_model

NAME = "lab.example.com"
SOUTH = {"location": "southcentralus"}


@pytest.fixture
def dns(azure: LocalAzure) -> Any:
    return azure.client(PrivateDnsManagementClient)


@pytest.fixture
def zone(dns: Any, group: str) -> Any:
    return dns.private_zones.begin_create_or_update(group, NAME, models.PrivateZone(location="global")).result()


@pytest.fixture
def subnet(here: Place) -> dict[str, Any]:
    here.network()
    return here.subnet("10.1.0.0/24")


def test_a_zone_begins_with_its_soa_and_counts(dns: Any, group: str, zone: Any) -> None:
    assert_model(models.PrivateZone, zone.as_dict())
    assert (zone.number_of_record_sets, zone.number_of_virtual_network_links) == (1, 0)
    soa = dns.record_sets.get(group, NAME, "SOA", "@")
    assert_model(models.RecordSet, soa.as_dict())
    assert soa.soa_record.host == "azureprivatedns.net"
    with pytest.raises(HttpResponseError, match="SOA"):
        dns.record_sets.delete(group, NAME, "SOA", "@")


RECORDS: list[tuple[str, str, dict[str, Any]]] = [
    ("A", "gpu-1", {"aRecords": [{"ipv4Address": "10.1.0.9"}]}),
    ("AAAA", "gpu-1", {"aaaaRecords": [{"ipv6Address": "2001:db8::1"}]}),
    ("CNAME", "head", {"cnameRecord": {"cname": "gpu-1.lab.example.com"}}),
    ("TXT", "_owner", {"txtRecords": [{"value": ["a", "b"]}]}),
    ("SRV", "_ldap._tcp", {"srvRecords": [{"priority": 1, "weight": 2, "port": 389, "target": "gpu-1"}]}),
    ("PTR", "9", {"ptrRecords": [{"ptrdname": "gpu-1.lab.example.com"}]}),
    ("MX", "@", {"mxRecords": [{"preference": 10, "exchange": "mail"}]}),
    ("A", "*.apps", {"aRecords": [{"ipv4Address": "10.1.0.10"}, {"ipv4Address": "10.1.0.11"}]}),
]


def test_record_sets_of_every_type_come_back(dns: Any, group: str, zone: Any) -> None:
    for sort, name, told in RECORDS:
        wanted = models.RecordSet({"properties": {"ttl": 60, **told}})
        dns.record_sets.create_or_update(group, NAME, sort, name, wanted)
        found = dns.record_sets.get(group, NAME, sort, name)
        assert_model(models.RecordSet, found.as_dict())
        assert found.as_dict()["properties"].items() >= told.items()
        assert found.fqdn == (f"{NAME}." if name == "@" else f"{name}.{NAME}.")
    assert len(list(dns.record_sets.list(group, NAME))) == len(RECORDS) + 1
    assert len(list(dns.record_sets.list_by_type(group, NAME, "A"))) == 2
    assert dns.private_zones.get(group, zone.name).number_of_record_sets == len(RECORDS) + 1
    dns.record_sets.delete(group, NAME, "A", "gpu-1")
    with pytest.raises(ResourceNotFoundError):
        dns.record_sets.get(group, NAME, "A", "gpu-1")


@pytest.mark.usefixtures("zone")
def test_a_record_set_is_not_overwritten_by_who_knows_of_none(dns: Any, group: str) -> None:
    wanted = models.RecordSet({"properties": {"ttl": 60, "aRecords": [{"ipv4Address": "10.1.0.9"}]}})
    dns.record_sets.create_or_update(group, NAME, "A", "one", wanted)
    with pytest.raises(HttpResponseError) as refusal:
        dns.record_sets.create_or_update(
            group, NAME, "A", "one", wanted, etag="*", match_condition=MatchConditions.IfMissing
        )
    assert refusal.value.status_code == 412


@pytest.mark.usefixtures("zone")
def test_record_sets_that_are_none_are_refused(here: Place) -> None:
    here.make("privateDnsZones/CNAME", NAME, "alias", properties={"cnameRecord": {"cname": "a.example.com"}})
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("A", "one", {"aRecords": [{"ipv4Address": "10.1.0.256"}]}),
        ("A", "one", {"aRecords": []}),
        ("A", "one", {"aRecords": [{"ipv6Address": "2001:db8::1"}]}),
        ("A", "one", {"txtRecords": [{"value": ["a"]}]}),
        ("A", "one", {"ttl": 0, "aRecords": [{"ipv4Address": "10.1.0.1"}]}),
        ("A", "alias", {"aRecords": [{"ipv4Address": "10.1.0.1"}]}),
        ("CNAME", "@", {"cnameRecord": {"cname": "a.example.com"}}),
        ("TXT", "one", {"txtRecords": [{"value": ["a" * 256]}]}),
    ]
    for sort, name, told in cases:
        assert here.refused(f"privateDnsZones/{sort}", NAME, name, properties=told), (sort, name, told)


def test_a_zone_stays_while_networks_are_linked_with_it(
    dns: Any, group: str, zone: Any, here: Place, subnet: Any
) -> None:
    network = {"id": here.path("virtualNetworks", "net")}
    wanted = models.VirtualNetworkLink(location="global", virtual_network=network, registration_enabled=False)
    made = dns.virtual_network_links.begin_create_or_update(group, NAME, "net", wanted).result()
    assert_model(models.VirtualNetworkLink, made.as_dict())
    assert made.virtual_network_link_state == "Completed"
    assert dns.private_zones.get(group, NAME).number_of_virtual_network_links == 1
    with pytest.raises(HttpResponseError, match="CannotDeleteResource"):
        dns.private_zones.begin_delete(group, NAME).result()
    here.delete("virtualNetworks/subnets", "net", subnet["name"])
    assert here.delete("virtualNetworks", "net") == "InUseVirtualNetworkCannotBeDeleted"
    dns.virtual_network_links.begin_delete(group, NAME, "net").result()
    dns.private_zones.begin_delete(group, zone.name).result()
    assert here.get("privateDnsZones/SOA", NAME, "@")["error"]["code"] == "ResourceNotFound"


@pytest.mark.usefixtures("zone")
def test_links_that_cannot_be_are_refused(azure: LocalAzure, group: str, here: Place, subnet: Any) -> None:
    kind = "privateDnsZones/virtualNetworkLinks"
    network = {"virtualNetwork": {"id": here.path("virtualNetworks", "net")}}
    body = {"location": "global", "properties": network}
    assert here.refused(kind, NAME, "one", **{**body, "location": "southcentralus"})
    assert here.refused(kind, NAME, "one", location="global", properties={**network, "registrationEnabled": True})
    none = {"virtualNetwork": {"id": f"{here.path('virtualNetworks', 'none')}"}}
    assert here.refused(kind, NAME, "one", location="global", properties=none) == "InvalidResourceReference"
    here.make(kind, NAME, "one", **body)
    assert here.refused(kind, NAME, "two", **body) == "Conflict"
    other = Place(azure, here.id.replace(group, f"{group}-other"))
    azure.put(other.id, {"location": "southcentralus"})
    other.make("privateDnsZones", NAME, location="global", properties={})
    assert other.refused(kind, NAME, "one", **body) == "Conflict"


@pytest.fixture
def account(azure: LocalAzure, here: Place) -> str:
    """A storage account's id."""
    path = f"{here.id}/providers/Microsoft.Storage/storageAccounts/st{uuid.uuid4().hex[:12]}"
    body = {"location": "southcentralus", "kind": "StorageV2", "sku": {"name": "Standard_ZRS"}, "properties": {}}
    assert azure.put(path, body, "2024-01-01").status_code < 300
    return path


def endpoint(subnet: dict[str, Any], target: str, sort: str = "blob", **more: Any) -> dict[str, Any]:
    connection = {"name": "it", "properties": {"privateLinkServiceId": target, "groupIds": [sort]}}
    properties = {"subnet": reference(subnet), "privateLinkServiceConnections": [connection]}
    return {"properties": {**properties, **more}}


def fixed(address: str, member: str = "blob") -> list[dict[str, Any]]:
    return [{"name": "ip", "properties": {"groupId": member, "memberName": member, "privateIPAddress": address}}]


def test_a_private_endpoint_has_a_card_and_a_name(
    azure: LocalAzure, group: str, here: Place, subnet: Any, account: str, zone: Any
) -> None:
    client = azure.client(NetworkManagementClient)
    wanted = networks.PrivateEndpoint(
        {
            "location": "southcentralus",
            **endpoint(subnet, account, ipConfigurations=fixed("10.1.0.9"), customNetworkInterfaceName="card"),
        }
    )
    made = client.private_endpoints.begin_create_or_update(group, "blob", wanted).result()
    assert_model(networks.PrivateEndpoint, made.as_dict())
    assert made.custom_dns_configs[0].fqdn == f"{account.rpartition('/')[2]}.blob.core.windows.net"
    assert made.custom_dns_configs[0].ip_addresses == ["10.1.0.9"]
    card = here.get("networkInterfaces", "card")
    assert_model(networks.NetworkInterface, card)
    assert card["properties"]["privateEndpoint"]["id"] == made.id
    assert here.delete("networkInterfaces", "card") == "NicInUse"
    told = here.get("virtualNetworks/subnets", "net", "a")["properties"]
    assert told["privateEndpoints"] == [{"id": made.id}]
    assert told["ipConfigurations"] == [{"id": f"{card['id']}/ipConfigurations/ip"}]
    configuration: dict[str, Any] = {"name": "blob", "properties": {"privateDnsZoneId": zone.id}}
    names = here.make(
        "privateEndpoints/privateDnsZoneGroups",
        "blob",
        "default",
        properties={"privateDnsZoneConfigs": [configuration]},
    )
    assert_model(networks.PrivateDnsZoneGroup, names)
    label = account.rpartition("/")[2]
    record = here.get("privateDnsZones/A", NAME, label)
    assert record["properties"]["aRecords"] == [{"ipv4Address": "10.1.0.9"}]
    assert here.get("privateEndpoints", "blob")["properties"]["customDnsConfigs"] == []
    assert here.delete("virtualNetworks/subnets", "net", "a") == "InUseSubnetCannotBeDeleted"
    other = here.make("privateDnsZones", "other.example.com", location="global", properties={})
    configuration["properties"] = {"privateDnsZoneId": other["id"]}
    here.make(
        "privateEndpoints/privateDnsZoneGroups",
        "blob",
        "default",
        properties={"privateDnsZoneConfigs": [configuration]},
    )
    assert here.get("privateDnsZones/A", NAME, label)["error"]["code"] == "ResourceNotFound"
    assert here.get("privateDnsZones/A", "other.example.com", label)["properties"]["ttl"] == 10
    assert here.delete("privateEndpoints", "blob") == ""
    assert here.get("privateDnsZones/A", "other.example.com", label)["error"]["code"] == "ResourceNotFound"
    assert here.get("networkInterfaces", "card")["error"]["code"] == "ResourceNotFound"
    assert here.delete("virtualNetworks/subnets", "net", "a") == ""


def test_an_endpoint_keeps_its_address_and_takes_no_others(here: Place, subnet: Any, account: str) -> None:
    made = [here.make("privateEndpoints", "blob", **endpoint(subnet, account)) for _ in range(2)]
    addresses = [one["properties"]["customDnsConfigs"][0]["ipAddresses"] for one in made]
    assert addresses == [["10.1.0.4"], ["10.1.0.4"]]
    assert made[0]["properties"]["networkInterfaces"] == made[1]["properties"]["networkInterfaces"]
    taken = endpoint(subnet, account, ipConfigurations=fixed("10.1.0.4"))
    assert here.refused("privateEndpoints", "other", **taken) == "PrivateIPAddressIsAllocated"
    assert here.refused("privateEndpoints", "other", **endpoint(subnet, account, "vault")) == "InvalidRequestFormat"
    assert here.refused("privateEndpoints", "other", **endpoint(subnet, f"{account}none")) == "InvalidResourceReference"
    wrong = endpoint(subnet, account, ipConfigurations=fixed("10.1.0.9", "file"))
    assert here.refused("privateEndpoints", "other", **wrong) == "InvalidRequestFormat"


def test_a_flow_log_watches_a_network_and_goes_with_it(
    azure: LocalAzure, here: Place, subnet: Any, account: str
) -> None:
    group = here.id.rpartition("/resourceGroups/")[0] + "/resourceGroups/NetworkWatcherRG"
    watchers, kind = Place(azure, group), "networkWatchers/flowLogs"
    network = here.path("virtualNetworks", "net")
    properties = {"targetResourceId": network, "storageId": account, "retentionPolicy": {"days": 90, "enabled": True}}
    body = {"location": "southcentralus", "properties": properties}
    watcher = "NetworkWatcher_southcentralus"
    name = f"log-{uuid.uuid4().hex[:8]}"
    made = watchers.make(kind, watcher, name, **body)
    assert_model(networks.FlowLog, made)
    assert here.get("virtualNetworks", "net")["properties"]["flowLogs"] == [reference(made)]
    assert watchers.refused(kind, watcher, "second", **body) == "InvalidRequestFormat"
    for changed in ({"storageId": f"{account}none"}, {"targetResourceId": f"{network}none"}):
        code = watchers.refused(kind, watcher, "other", **{**body, "properties": {**properties, **changed}})
        assert code == "InvalidResourceReference"
    assert made["id"] in azure.own("inventory")["Microsoft.Network/networkWatchers/flowLogs"]
    here.delete("virtualNetworks/subnets", "net", subnet["name"])
    assert here.delete("virtualNetworks", "net") == ""
    assert watchers.get(kind, watcher, name)["error"]["code"] == "ResourceNotFound"


def test_a_resolver_answers_in_a_subnet_of_its_own(here: Place, subnet: Any) -> None:
    resolver = here.make(
        "dnsResolvers", "r", properties={"virtualNetwork": {"id": here.path("virtualNetworks", "net")}}
    )
    assert resolver["properties"]["dnsResolverState"] == "Connected"
    delegation = {"name": "dns", "properties": {"serviceName": "Microsoft.Network/dnsResolvers"}}
    own = here.subnet("10.1.9.0/28", "names", delegations=[delegation])
    one = {"subnet": reference(own), "privateIpAddress": "10.1.9.4", "privateIpAllocationMethod": "Static"}
    kind = "dnsResolvers/inboundEndpoints"

    def body(**changed: Any) -> dict[str, Any]:
        return {"location": "southcentralus", "properties": {"ipConfigurations": [{**one, **changed}]}}

    assert here.refused(kind, "r", "sites", **body(subnet=reference(subnet))) == "InvalidRequestFormat"
    assert here.refused(kind, "r", "sites", **body(privateIpAddress="10.1.9.3")) == "PrivateIPAddressInReservedRange"
    made = here.make(kind, "r", "sites", **body())
    assert made["properties"]["ipConfigurations"][0]["privateIpAddress"] == "10.1.9.4"
    assert here.delete("dnsResolvers", "r") == "CannotDeleteResource"
    assert here.delete("virtualNetworks/subnets", "net", "names") == "InUseSubnetCannotBeDeleted"
    undelegated = {"addressPrefix": "10.1.9.0/28"}
    code = here.refused("virtualNetworks/subnets", "net", "names", properties=undelegated)
    assert code == "SubnetMissingRequiredDelegation"
    assert here.delete(kind, "r", "sites") == ""
    assert here.delete("dnsResolvers", "r") == ""


def test_what_a_resolver_asks_elsewhere_is_said_by_a_ruleset_s_rules(
    azure: LocalAzure, here: Place, subnet: Any
) -> None:
    network = {"id": here.path("virtualNetworks", "net")}
    here.make("dnsResolvers", "r", properties={"virtualNetwork": network})
    delegation = {"name": "dns", "properties": {"serviceName": "Microsoft.Network/dnsResolvers"}}
    own = here.subnet("10.1.9.0/28", "questions", delegations=[delegation])
    ends, rules = "dnsResolvers/outboundEndpoints", "dnsForwardingRulesets/forwardingRules"
    links = "dnsForwardingRulesets/virtualNetworkLinks"
    undelegated = here.refused(ends, "r", "out", **SOUTH, properties={"subnet": reference(subnet)})
    assert undelegated == "InvalidRequestFormat"
    end = here.make(ends, "r", "out", **SOUTH, properties={"subnet": reference(own)})
    one = {"subnet": reference(own)}
    shared = here.refused("dnsResolvers/inboundEndpoints", "r", "in", **SOUTH, properties={"ipConfigurations": [one]})
    assert shared == "InvalidRequestFormat", "a resolver's two ends take a subnet each"
    assert here.refused("dnsForwardingRulesets", "s", **SOUTH, properties={}) == "InvalidRequestFormat"
    here.make("dnsForwardingRulesets", "s", properties={"dnsResolverOutboundEndpoints": [reference(end)]})

    def body(**changed: Any) -> dict[str, Any]:
        servers = [{"ipAddress": "10.2.0.8"}]
        return {"properties": {"domainName": "west.example.com.", "targetDnsServers": servers, **changed}}

    assert here.refused(rules, "s", "west", **body(domainName="west.example.com")) == "InvalidRequestFormat"
    assert here.refused(rules, "s", "west", **body(targetDnsServers=[])) == "InvalidRequestFormat"
    assert here.refused(rules, "s", "west", **body(targetDnsServers=[{"ipAddress": "west"}])) == "InvalidRequestFormat"
    made = here.make(rules, "s", "west", **body())["properties"]
    assert (made["forwardingRuleState"], made["targetDnsServers"]) == (
        "Enabled",
        [{"ipAddress": "10.2.0.8", "port": 53}],
    )
    assert here.refused(rules, "s", "again", **body()) == "Conflict"
    assert here.refused(rules, "s", "west", **body(domainName="east.example.com.")) == "InvalidRequestFormat"
    here.make(links, "s", "net", properties={"virtualNetwork": network})
    told = azure.own("world")
    (known,) = [one for one in told["forwards"] if one["targets"] == ["10.2.0.8"]]
    assert (known["domain"], len(known["vpcs"])) == ("west.example.com", 1)
    here.make("dnsForwardingRulesets", "other", properties={"dnsResolverOutboundEndpoints": [reference(end)]})
    assert here.refused(links, "other", "net", properties={"virtualNetwork": network}) == "Conflict"
    assert here.delete("dnsResolvers", "r") == "InUseOutboundEndpointCannotBeDeleted"
    assert here.delete(ends, "r", "out") == "InUseOutboundEndpointCannotBeDeleted"
    assert here.delete("dnsForwardingRulesets", "s") == "CannotDeleteResource"
    assert here.delete(links, "s", "net") == ""
    assert [here.delete("dnsForwardingRulesets", name) for name in ("s", "other")] == ["", ""]
    assert here.get(rules, "s", "west")["error"]["code"] == "ResourceNotFound"
    assert here.delete(ends, "r", "out") == ""
    assert here.delete("virtualNetworks/subnets", "net", "questions") == ""
