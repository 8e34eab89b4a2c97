# Run inside a local cloud by `inside.Inside`: a small fleet of machines in Azure, made by plain requests to its names.
"""A network, an account, a vault, and what one machine needs beside them."""

import hashlib
import json
import urllib.error
import urllib.parse
import urllib.request
import uuid

from local.azure import sign_in, tokens

SUBSCRIPTION, REGION, VERSION = "00000000-0000-4000-8000-00000000000a", "southcentralus", "2024-05-01"
PLACE = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/azurelet"
ACCOUNT, VAULT = "azureletfleet", "azurelet-vault"
STORE = f"{PLACE}/providers/Microsoft.Storage/storageAccounts/{ACCOUNT}"
KEEP = f"{PLACE}/providers/Microsoft.KeyVault/vaults/{VAULT}"
# Built-in roles: Storage Blob Data Owner and Reader, Key Vault Secrets Officer and User, Reader.
BLOB_OWNER, BLOB_READER = "b7e6dc6d-f1e8-4753-8033-0f276bb0955b", "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1"
SECRETS_OFFICER, SECRETS_USER = "b86a8fe4-44ce-4948-aee5-eccb2c155cd7", "4633458b-17de-408a-b874-0445c86b69e6"
READER = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
SIZE = "Standard_D2s_v5"
MARKET = {"publisher": "Canonical", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"}
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaMDEyMzQ1 nobody"
UNITS = {
    "/etc/systemd/system/landbridge.target": "[Unit]\nWants=web.service\n[Install]\nWantedBy=multi-user.target\n",
    "/etc/systemd/system/web.service": (
        "[Service]\nType=exec\nExecStart=/usr/bin/python3 -m http.server --directory /srv 8080\n"
        "ExecStartPre=/bin/sh -c 'hostname > /srv/name; cat /etc/keys/secret > /srv/seen'\n"
        "[Install]\nWantedBy=landbridge.target\n"
    ),
}


def ask(method, url, body=None, **headers):
    """The answer's body; None for none. Raises RuntimeError with Azure's words."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, sent, method=method), timeout=30) as answer:
            text = answer.read()
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{error.code} {error.read().decode()}") from None
    return json.loads(text) if text else None


def bearer(service):
    form = {"grant_type": "client_credentials", "client_id": tokens.CLIENT, "client_secret": tokens.SECRET}
    login = f"https://login.microsoftonline.com/{sign_in.TENANT}/oauth2/v2.0/token"
    asked = urllib.request.Request(login, urllib.parse.urlencode({**form, "scope": f"{service}/.default"}).encode())
    return "Bearer " + json.loads(urllib.request.urlopen(asked, timeout=30).read())["access_token"]


def arm(method, path, body=None):
    return ask(
        method, f"https://management.azure.com{path}?api-version={VERSION}", body, Authorization=bearer(tokens.ARM)
    )


def made(type_, name, **body):
    """A resource of the group, when Azure is done with it."""
    path = name if name.startswith("/") else f"{PLACE}/providers/{type_}/{name}"
    arm("PUT", path, {"location": REGION, **body})
    found = arm("GET", path)
    assert found["properties"].get("provisioningState", "Succeeded") == "Succeeded", found
    return found


def own(name, body=None, method="PUT"):
    """Our own API."""
    return ask("GET" if body is None else method, f"http://127.0.0.1:5003/landbridge-api/{name}", body)


def assign(principal, role, scope):
    role = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{role}"
    path = f"{scope}/providers/Microsoft.Authorization/roleAssignments/{uuid.uuid4()}"
    arm("PUT", path, {"properties": {"roleDefinitionId": role, "principalId": principal}})


def found():
    """The network and what all machines share."""
    arm("PUT", PLACE, {"location": REGION})
    space = {"addressSpace": {"addressPrefixes": ["10.1.0.0/16"]}}
    subnets = [{"name": n, "properties": {"addressPrefix": p}} for n, p in (("a", "10.1.1.0/24"), ("b", "10.1.2.0/24"))]
    net = made("Microsoft.Network/virtualNetworks", "net", properties={**space, "subnets": subnets})
    made("Microsoft.Storage/storageAccounts", ACCOUNT, kind="StorageV2", sku={"name": "Standard_ZRS"}, properties={})
    arm("PUT", f"{STORE}/blobServices/default/containers/fleet", {"properties": {}})
    vault = {"tenantId": sign_in.TENANT, "sku": {"family": "A", "name": "standard"}, "enableRbacAuthorization": True}
    made("Microsoft.KeyVault/vaults", VAULT, properties=vault)
    assign(tokens.DEPLOYER, BLOB_OWNER, STORE)
    assign(tokens.DEPLOYER, SECRETS_OFFICER, KEEP)
    return {one["name"]: one["id"] for one in net["properties"]["subnets"]}


def identity(name):
    """A user-assigned one that may read the bundle of its name's, and no more."""
    told = made("Microsoft.ManagedIdentity/userAssignedIdentities", name)
    assign(told["properties"]["principalId"], BLOB_READER, STORE)
    assign(told["properties"]["principalId"], SECRETS_USER, f"{KEEP}/secrets/azurelet--{name}")
    return told


def publish(name, signed_by, files=None):
    """A bundle as the contract has it."""
    files, keys = files or UNITS, {"/etc/keys/secret": f"of {name}"}
    token = bearer(tokens.VAULT)
    url = f"https://{VAULT}.vault.azure.net/secrets/azurelet--{name}?api-version=7.4"
    version = ask("PUT", url, {"value": json.dumps(keys)}, Authorization=token)["id"].rpartition("/")[2]
    digest = lambda given: {  # noqa: E731
        path: {"sha256": hashlib.sha256(text.encode()).hexdigest(), "mode": "0644"} for path, text in given.items()
    }
    told = {"prefix": f"azurelet/{name}", "version": "1", "secret_version": version}
    text = json.dumps({**told, "files": digest(files), "keys": digest(keys)})
    put(f"azurelet/{name}/1.json", json.dumps(files))
    put(f"azurelet/{name}/manifest.json", json.dumps({"manifest": text, "signature": signed_by(text)}))


def put(blob, text):
    url = f"https://{ACCOUNT}.blob.core.windows.net/fleet/{blob}"
    kind = {"x_ms_blob_type": "BlockBlob", "x_ms_version": "2023-11-03"}
    ask("PUT", url, text.encode(), Authorization=bearer(tokens.STORAGE), **kind)


def os_profile(name, custom_data):
    keys = [{"path": "/home/nobody/.ssh/authorized_keys", "keyData": KEY}]
    linux = {"disablePasswordAuthentication": True, "ssh": {"publicKeys": keys}}
    return {"computerName": name, "adminUsername": "nobody", "customData": custom_data, "linuxConfiguration": linux}


def nic(name, subnet, address, **more):
    place = {"privateIPAllocationMethod": "Static", "privateIPAddress": address} if address else {}
    configuration = {"name": "primary", "properties": {"subnet": {"id": subnet}, **place, **more}}
    return made("Microsoft.Network/networkInterfaces", name, properties={"ipConfigurations": [configuration]})


def disk(name, zone="1"):
    told = {"creationData": {"createOption": "Empty"}, "diskSizeGB": 4}
    return made("Microsoft.Compute/disks", name, sku={"name": "Premium_LRS"}, zones=[zone], properties=told)


def attached(disk, lun):
    return {"lun": lun, "createOption": "Attach", "managedDisk": {"id": disk["id"]}}


def machine(name, interfaces, custom_data, identities=(), disks=(), tags=None, **more):
    """One that stands alone, in zone 1. `identities` are user-assigned ones, or "system"."""
    users = {one["id"]: {} for one in identities if one != "system"}
    kinds = ", ".join([*(["SystemAssigned"] if "system" in identities else []), *(["UserAssigned"] if users else [])])
    body = {"zones": ["1"], "tags": tags or {}}
    if kinds:
        body["identity"] = {"type": kinds, **({"userAssignedIdentities": users} if users else {})}
    cards = [{"id": one["id"], "properties": {"primary": n == 0}} for n, one in enumerate(interfaces)]
    return made(
        "Microsoft.Compute/virtualMachines",
        name,
        **body,
        properties={
            "hardwareProfile": {"vmSize": SIZE},
            "osProfile": os_profile(name, custom_data),
            "storageProfile": {
                "imageReference": MARKET,
                "osDisk": {"createOption": "FromImage", "deleteOption": "Delete"},
                "dataDisks": list(disks),
            },
            "networkProfile": {"networkInterfaces": cards},
            **more,
        },
    )


def act(name, action):
    arm("POST", f"{PLACE}/providers/Microsoft.Compute/virtualMachines/{name}/{action}")


def delete(type_, name):
    arm("DELETE", f"{PLACE}/providers/{type_}/{name}")


def scale_set(name, subnet, capacity, custom_data, identities=(), disks=(), tags=None, **more):
    """A uniform one in zone 1, whose machines are called NAME-00000N."""
    address = {"name": "primary", "properties": {"subnet": {"id": subnet}, "primary": True}}
    card = {"name": "main", "properties": {"primary": True, "ipConfigurations": [address]}}
    profile = os_profile("", custom_data)
    del profile["computerName"]
    users = {one["id"]: {} for one in identities}
    image = {"imageReference": MARKET, "osDisk": {"createOption": "FromImage"}, "dataDisks": list(disks)}
    return made(
        "Microsoft.Compute/virtualMachineScaleSets",
        name,
        zones=["1"],
        sku={"name": SIZE, "capacity": capacity},
        tags=tags or {},
        **({"identity": {"type": "UserAssigned", "userAssignedIdentities": users}} if users else {}),
        properties={
            "orchestrationMode": "Uniform",
            "overprovision": False,
            "singlePlacementGroup": False,
            "upgradePolicy": {"mode": "Manual"},
            "virtualMachineProfile": {
                "osProfile": {**profile, "computerNamePrefix": f"{name}-"},
                "storageProfile": image,
                "networkProfile": {"networkInterfaceConfigurations": [card]},
                **more,
            },
        },
    )


def of_set(name, action, *instances):
    """An action on some of its machines, by their numbers."""
    path = f"{PLACE}/providers/Microsoft.Compute/virtualMachineScaleSets/{name}/{action}"
    arm("POST", path, {"instanceIds": list(instances)})


def resize(name, capacity):
    arm("PATCH", f"{PLACE}/providers/Microsoft.Compute/virtualMachineScaleSets/{name}", {"sku": {"capacity": capacity}})


def balancer(name, subnet, address, probe, **rule):
    """An internal one with one pool and one rule, port 80 → 8080; None: nobody asks whether machines are well."""
    path = f"{PLACE}/providers/Microsoft.Network/loadBalancers/{name}"
    place = {"subnet": {"id": subnet}, "privateIPAllocationMethod": "Static", "privateIPAddress": address}
    told = {"frontendIPConfiguration": {"id": f"{path}/frontendIPConfigurations/front"}, **rule}
    told |= {"backendAddressPool": {"id": f"{path}/backendAddressPools/behind"}, "protocol": "Tcp"}
    if probe:
        told["probe"] = {"id": f"{path}/probes/well"}
    return made(
        "Microsoft.Network/loadBalancers",
        name,
        sku={"name": "Standard"},
        properties={
            "frontendIPConfigurations": [{"name": "front", "properties": place}],
            "backendAddressPools": [{"name": "behind"}],
            "probes": [{"name": "well", "properties": probe}] if probe else [],
            "loadBalancingRules": [{"name": "web", "properties": {"frontendPort": 80, "backendPort": 8080, **told}}],
        },
    )


def behind(name):
    """A pool, as interfaces name it."""
    path = f"{PLACE}/providers/Microsoft.Network/loadBalancers/{name}/backendAddressPools/behind"
    return {"loadBalancerBackendAddressPools": [{"id": path}]}
