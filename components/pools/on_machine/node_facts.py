"""Finds out what this machine is and writes it down for the kubelet's unit: name, address, provider id, zone, resolver.

In a cloud its metadata say it; at a site /etc/landbridge/host.json does, which the enrolment put there. A machine that
never joined waits a moment first, by chance, so that a thousand of them do not come to the API in one second.
"""

import json
import random
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from cloud import named
from machine import Refused, say, settings, write

HOST = Path("/etc/landbridge/host.json")
FACTS = Path("/run/landbridge/node.env")
KUBECONFIG = Path("/var/lib/kubelet/kubeconfig")
ZONE = "topology.kubernetes.io/zone"
DISCOVERY = Path("/etc/kubernetes/discovery.kubeconfig")
# The first that is there has the servers' own addresses. Where systemd-resolved runs, the other names 127.0.0.53, which
# in a pod is the pod itself: CoreDNS would ask itself for ever (kubeadm chooses alike).
RESOLVERS = (Path("/run/systemd/resolve/resolv.conf"), Path("/etc/resolv.conf"))
PAUSE_SECONDS = 5.0


def in_aws() -> dict[str, str]:
    from api_aws import metadata

    instance, zone = metadata("instance-id").strip(), metadata("placement/availability-zone").strip()
    return {
        "NODE_NAME": instance,
        "NODE_ADDRESS": metadata("local-ipv4").strip(),
        "NODE_PROVIDER_ID": f"aws:///{zone}/{instance}",
        "NODE_ZONE_LABEL": f"{ZONE}={zone}",
    }


def in_azure() -> dict[str, str]:
    """As cloud-provider-azure has it: the resource group of the node's ID in small letters, as the zone's region."""
    from api_azure import instance

    told = instance()
    compute, card = told["compute"], told["network"]["interface"][0]
    place = f"/subscriptions/{compute['subscriptionId']}/resourceGroups/{compute['resourceGroupName'].lower()}"
    number, group = compute["resourceId"].rpartition("/")[2], compute.get("vmScaleSetName")
    # A machine by itself is in no set.
    machines = f"virtualMachineScaleSets/{group}/virtualMachines" if group else "virtualMachines"
    zone = f"{compute['location'].lower()}-{compute['zone']}"
    return {
        "NODE_NAME": compute["osProfile"]["computerName"].lower(),
        "NODE_ADDRESS": card["ipv4"]["ipAddress"][0]["privateIpAddress"],
        "NODE_PROVIDER_ID": f"azure://{place}/providers/Microsoft.Compute/{machines}/{number}",
        "NODE_ZONE_LABEL": f"{ZONE}={zone}",
    }


CLOUDS = {"aws": in_aws, "azure": in_azure}


def at_site(site: str) -> dict[str, str]:
    host = json.loads(HOST.read_text())
    return {
        "NODE_NAME": f"{host['host']}.{site}",
        "NODE_ADDRESS": host.get("address") or own_address(server()),
        "NODE_PROVIDER_ID": f"onprem:///{site}/{host['host']}",
    }


def server() -> tuple[str, int]:
    """Where the API is."""
    told = urlsplit(json.loads(DISCOVERY.read_text())["clusters"][0]["cluster"]["server"])
    return str(told.hostname), told.port or 443


def own_address(far: tuple[str, int]) -> str:
    """The address that a packet to there would leave from. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect(far)
        address: str = out.getsockname()[0]
    return address


def resolver() -> Path:
    return next((path for path in RESOLVERS if path.exists()), RESOLVERS[-1])


def text(facts: Mapping[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in facts.items())


def found(told: Mapping[str, object]) -> dict[str, str]:
    """As soon as they are to be had. It never fails: systemd would not start the kubelet afterwards (Requires=)."""
    while True:
        try:
            return at_site(str(told["place"])) if told["site"] else CLOUDS[named()]()
        except (KeyError, IndexError, OSError, Refused, ValueError) as error:
            say(f"what this machine is can't be told yet: {type(error).__name__}: {error}")
        time.sleep(PAUSE_SECONDS)


def main() -> None:
    told = settings("node")
    facts = {**found(told), "NODE_RESOLV_CONF": str(resolver())}
    FACTS.parent.mkdir(parents=True, exist_ok=True)
    write(FACTS, text(facts))
    say(" ".join(f"{name}={value}" for name, value in facts.items()))
    if not KUBECONFIG.exists():
        time.sleep(random.uniform(0, float(str(told["jitter_seconds"]))))  # noqa: S311  (no secret)


if __name__ == "__main__":
    main()
