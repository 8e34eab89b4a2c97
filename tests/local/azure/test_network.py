"""Networks, subnets and peerings of the local Azure."""

from azure.mgmt.network import NetworkManagementClient, models

from .network_support import Place, reference
from .support import LocalAzure, assert_model


def test_a_network_is_as_azures_client_says(azure: LocalAzure, group: str) -> None:
    client = azure.client(NetworkManagementClient)
    wanted = models.VirtualNetwork(
        location="southcentralus",
        tags={"landbridge:fleet": "lab"},
        address_space=models.AddressSpace(address_prefixes=["10.1.0.0/16"]),
        subnets=[models.Subnet(name="private-1", address_prefix="10.1.0.0/24")],
    )
    client.virtual_networks.begin_create_or_update(group, "net", wanted).result()
    client.subnets.begin_create_or_update(group, "net", "b", models.Subnet(address_prefix="10.1.1.0/24")).result()
    found = client.virtual_networks.get(group, "net")
    assert_model(models.VirtualNetwork, found.as_dict())
    assert [one.name for one in found.subnets] == ["private-1", "b"]
    client.virtual_networks.begin_create_or_update(group, "net", found).result()  # what it told, it takes
    assert client.virtual_networks.get(group, "net").subnets[1].address_prefix == "10.1.1.0/24"


def test_spaces_that_overlap_or_are_kept_are_no_networks(here: Place) -> None:
    for prefixes in (["10.0.0.0/16", "10.0.1.0/24"], ["169.254.0.0/24"], ["10.0.0.0/30"]):
        assert here.refused("virtualNetworks", "net", properties={"addressSpace": {"addressPrefixes": prefixes}})
    assert (
        here.refused("virtualNetworks", "net", properties={"addressSpace": {"addressPrefixes": ["10.0.0.1/16"]}})
        == "InvalidCIDRNotation"
    )


def test_a_property_that_no_network_has_is_refused(here: Place) -> None:
    body = {"adressSpace": {}, "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}
    assert here.refused("virtualNetworks", "net", properties=body) == "InvalidRequestFormat"


def test_a_subnet_lies_inside_and_apart(here: Place) -> None:
    here.network()
    here.subnet("10.1.0.0/24")
    cases = {
        "10.2.0.0/24": "NetcfgSubnetRangeOutsideVnet",
        "10.1.0.128/25": "NetcfgSubnetRangesOverlap",
        "10.1.4.0/30": "NetcfgInvalidSubnet",
        "10.1.4.1/24": "InvalidCIDRNotation",
    }
    for prefix, code in cases.items():
        assert here.refused("virtualNetworks/subnets", "net", "b", properties={"addressPrefix": prefix}) == code
    assert here.subnet("10.1.4.0/29", "b")["properties"]["provisioningState"] == "Succeeded"


def test_subnets_listed_in_their_network_are_judged_by_its_new_space(here: Place) -> None:
    listed = [{"name": name, "properties": {"addressPrefix": "10.9.0.0/24"}} for name in ("a", "b")]
    space = {"addressSpace": {"addressPrefixes": ["10.9.0.0/16"]}}
    assert (
        here.refused("virtualNetworks", "net", properties={**space, "subnets": listed}) == "NetcfgSubnetRangesOverlap"
    )
    here.make("virtualNetworks", "net", properties={**space, "subnets": listed[:1]})
    smaller = {"addressSpace": {"addressPrefixes": ["10.9.1.0/24"]}}
    assert here.refused("virtualNetworks", "net", properties=smaller) == "NetcfgSubnetRangeOutsideVnet"


def test_a_gateways_subnet_takes_no_security_group(here: Place) -> None:
    here.network()
    group = here.make("networkSecurityGroups", "g", properties={})
    body = {"addressPrefix": "10.1.255.0/27", "networkSecurityGroup": reference(group)}
    code = here.refused("virtualNetworks/subnets", "net", "GatewaySubnet", properties=body)
    assert code == "NetworkSecurityGroupCannotBeAttachedToGatewaySubnet"


def test_a_subnet_refers_to_what_is_there_and_in_its_region(here: Place) -> None:
    here.network()
    far = here.make("routeTables", "far", location="westeurope", properties={})
    for id_ in (far["id"], here.path("routeTables", "none"), here.path("networkSecurityGroups", "none")):
        body = {"addressPrefix": "10.1.0.0/24", "routeTable": {"id": id_}}
        assert here.refused("virtualNetworks/subnets", "net", "a", properties=body) == "InvalidResourceReference"
    near = here.make("routeTables", "near", properties={})
    here.subnet("10.1.0.0/24", routeTable=reference(near))
    assert here.get("routeTables", "near")["properties"]["subnets"][0]["id"].endswith("/subnets/a")
    assert here.delete("routeTables", "near") == "InUseRouteTableCannotBeDeleted"


def test_a_subnet_in_use_stays_as_it_is(here: Place) -> None:
    here.network()
    subnet = here.subnet("10.1.0.0/24")
    one = {"name": "ip", "properties": {"subnet": reference(subnet)}}
    here.make("networkInterfaces", "nic", properties={"ipConfigurations": [one]})
    assert here.delete("virtualNetworks/subnets", "net", "a") == "InUseSubnetCannotBeDeleted"
    assert here.delete("virtualNetworks", "net") == "InUseSubnetCannotBeDeleted"
    changed = {"addressPrefix": "10.1.0.0/23"}
    assert here.refused("virtualNetworks/subnets", "net", "a", properties=changed) == "InUsePrefixCannotBeDeleted"
    held = here.get("virtualNetworks/subnets", "net", "a")["properties"]["ipConfigurations"]
    assert [one["id"].rpartition("/networkInterfaces/")[2] for one in held] == ["nic/ipConfigurations/ip"]
    assert here.delete("networkInterfaces", "nic") == ""
    assert here.delete("virtualNetworks", "net") == ""
    assert here.get("virtualNetworks/subnets", "net", "a")["error"]["code"] == "ResourceNotFound"


def test_subnets_of_a_network_are_written_one_after_another(azure: LocalAzure, here: Place) -> None:
    here.network()
    azure.own("pace", {"seconds": 30})
    assert (
        here.put("virtualNetworks/subnets", "net", "a", properties={"addressPrefix": "10.1.0.0/24"}).status_code == 201
    )
    code = here.refused("virtualNetworks/subnets", "net", "b", properties={"addressPrefix": "10.1.1.0/24"})
    assert code == "AnotherOperationInProgress"


def test_what_is_still_being_made_cannot_be_referred_to(azure: LocalAzure, here: Place) -> None:
    here.network()
    azure.own("pace", {"seconds": 30})
    here.put("routeTables", "slow", properties={})
    body = {"addressPrefix": "10.1.0.0/24", "routeTable": {"id": here.path("routeTables", "slow")}}
    answer = here.put("virtualNetworks/subnets", "net", "a", properties=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "RetryableError")


def _peer(here: Place, one: str, other: str, **more: bool) -> dict[str, object]:
    remote = {"id": here.path("virtualNetworks", other)}
    return {"properties": {"remoteVirtualNetwork": remote, **more}}


def test_peerings_connect_when_both_are_there(here: Place) -> None:
    here.network("a", "10.1.0.0/16")
    here.network("b", "10.2.0.0/16")
    kind = "virtualNetworks/virtualNetworkPeerings"
    assert here.make(kind, "a", "to-b", **_peer(here, "a", "b"))["properties"]["peeringState"] == "Initiated"
    assert here.make(kind, "b", "to-a", **_peer(here, "b", "a"))["properties"]["peeringState"] == "Connected"
    told = here.get(kind, "a", "to-b")
    assert told["properties"]["peeringState"] == "Connected"
    assert told["properties"]["peeringSyncLevel"] == "FullyInSync"
    assert_model(models.VirtualNetworkPeering, told)
    here.delete(kind, "a", "to-b")
    assert here.get(kind, "b", "to-a")["properties"]["peeringState"] == "Disconnected"
    assert here.refused(kind, "a", "to-b", **_peer(here, "a", "b")) == "RemotePeeringIsDisconnected"


def test_peerings_that_cannot_be_are_refused(here: Place) -> None:
    kind = "virtualNetworks/virtualNetworkPeerings"
    here.network("a", "10.1.0.0/16")
    here.network("b", "10.1.128.0/17")
    here.network("c", "10.3.0.0/16")
    assert here.refused(kind, "a", "p", **_peer(here, "a", "b")) == "VnetAddressSpacesOverlap"
    assert here.refused(kind, "a", "p", **_peer(here, "a", "none")) == "InvalidResourceReference"
    assert here.refused(kind, "a", "p", **_peer(here, "a", "c", useRemoteGateways=True)) == "RemoteVnetHasNoGateways"
    here.make(kind, "c", "to-a", **_peer(here, "c", "a"))
    assert here.refused(kind, "c", "p", **_peer(here, "c", "b")) == "VnetAddressSpaceOverlapsWithAlreadyPeeredVnet"
    assert here.refused(kind, "c", "p", **_peer(here, "c", "a")) == "AnotherPeeringAlreadyReferencesRemoteVnet"


def test_a_delegated_subnet_is_told_with_its_actions(here: Place) -> None:
    here.network()
    delegation = {"name": "dns", "properties": {"serviceName": "Microsoft.Network/dnsResolvers"}}
    subnet = here.subnet("10.1.0.0/28", delegations=[delegation])
    assert subnet["properties"]["delegations"][0]["properties"]["actions"]
    assert_model(models.Subnet, subnet)
    one = {"name": "ip", "properties": {"subnet": reference(subnet)}}
    code = here.refused("networkInterfaces", "nic", properties={"ipConfigurations": [one]})
    assert code == "SubnetIsDelegatedAndCannotBeUsed"


def test_a_region_gets_a_watcher_with_its_first_network(azure: LocalAzure, here: Place) -> None:
    here.network()
    client = azure.client(NetworkManagementClient)
    watcher = client.network_watchers.get("NetworkWatcherRG", "NetworkWatcher_southcentralus")
    assert watcher.location == "southcentralus"
    assert here.refused("networkWatchers", "mine", properties={}) == "NetworkWatcherCountLimitReached"
