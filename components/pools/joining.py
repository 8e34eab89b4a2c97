"""Files of the service that lets machines join a cluster: part of every API machine's bundle.

What it decides stands in on_machine/join_rules.py, what it may do in admission.py (in the cluster) and `permissions`
(in the cloud).
"""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from components.control_plane.machines import ClusterSpec, Machine
from components.control_plane.units import API_SCRIPTS, UNITS, script, scripts, service, settings
from fleet import joining
from fleet.address.plan import AddressPlan
from fleet.azure.ids import subscription
from fleet.buckets import resource_group
from fleet.model import Cloud, Fleet

from .spec import pool_spec

OWN_SCRIPTS, ROOT = Path(__file__).with_name("on_machine"), Path(__file__).parents[2]
SCRIPT_NAMES = (
    "attest_aws",
    "attest_azure",
    "arm_azure",
    "cluster_token",
    "departed",
    "gpu_taints",
    "instances",
    "instances_aws",
    "instances_azure",
    "join_approver",
    "join_document",
    "join_request",
    "join_rules",
    "join_service",
    "join_table",
    "join_token",
    "join_webhook",
    "nodes",
    "web_identity_aws",
)
PKI = "/etc/kubernetes/pki"
WEBHOOK_CONFIG = "/etc/kubernetes/joining-webhook.kubeconfig"
WEBHOOK = "https://127.0.0.1:6445/"
USER, CERTIFICATE = "landbridge-joining", f"{PKI}/joining"
SERVICE, WEBHOOK_SERVICE = "landbridge-joining.service", "landbridge-joining-webhook.service"
SECONDS = {
    # Between the two answers of the cloud that confirm that a machine is gone.
    "gone": 120,
    "pass": 60,
    # A driver on a machine of eight GPUs is up in two minutes, the device plugin's image may have to come first.
    "gpu": 900,
}


class Joining(NamedTuple):
    """A pool whose machines may join. In a cloud: the role, AWS's alone, and the scaling groups, by name.

    `place` is the region or the site; `hosts` are a site's, with their address where the fleet file gives one, and
    `lan` is its network. `alone`: its groups are virtual machines by themselves, in Azure.
    """

    name: str
    place: str
    site: bool
    gpus: int
    role: str = ""
    groups: tuple[str, ...] = ()
    hosts: tuple[tuple[str, str], ...] = ()
    lan: str = ""
    cloud: Cloud = "aws"
    alone: bool = False


def pools(
    fleet: Fleet, plan: AddressPlan, cluster: str, role: Callable[[str], str], groups: Callable[[str], Iterable[str]]
) -> tuple[Joining, ...]:
    """All of a cluster that have nodes; `role` and `groups` name a pool's in the cloud."""
    found = []
    for name, pool in sorted(fleet.pools.items()):
        if pool.cluster != cluster or pool.kind == "ssh":
            continue
        spec = pool_spec(fleet, plan, name)
        one = Joining(name, spec.place, spec.site, spec.hardware.gpus)
        if spec.site:
            known = fleet.sites[spec.place].hosts
            hosts = tuple((host, known[host].address or "") for host in spec.hosts)
            found.append(one._replace(hosts=hosts, lan=plan.site(spec.place).lan))
        elif spec.cloud == "azure":
            found.append(one._replace(groups=tuple(groups(name)), cloud=spec.cloud))
        else:
            found.append(one._replace(role=role(name), groups=tuple(groups(name))))
    return tuple(found)


def flags() -> dict[str, str]:
    """What the API server is told besides."""
    return {
        "authentication-token-webhook-config-file": WEBHOOK_CONFIG,
        # Its default is v1beta1, which is no longer served by anybody.
        "authentication-token-webhook-version": "v1",
        # The service itself keeps answers for a minute; a kubelet's first few calls are all there is.
        "authentication-token-webhook-cache-ttl": "10s",
    }


def files(spec: ClusterSpec, machine: Machine) -> dict[str, str]:
    """Path → content; certificate and key are the bundle's."""
    own = {**scripts(*SCRIPT_NAMES, folder=OWN_SCRIPTS), **scripts("kube_http", "kube_lease", folder=ROOT)}
    units = {
        SERVICE: service(
            "Lets machines join, and keeps out those that have gone",
            script("join_service"),
            kind="exec",
            after="kube-apiserver.service",
            TimeoutStopSec="15",
        ),
        # The API server asks it, so it comes first, and goes last.
        WEBHOOK_SERVICE: service("Whose a joining machine's token is", script("join_webhook"), kind="exec").replace(
            "[Unit]\n", "[Unit]\nBefore=kube-apiserver.service\n", 1
        ),
    }
    return {
        # Its pools may be in either cloud, wherever this machine is.
        **scripts("machine", *API_SCRIPTS.values()),
        **own,
        **settings("joining", script_settings(spec, machine)),
        **{f"{UNITS}/{name}": text for name, text in units.items()},
        WEBHOOK_CONFIG: json.dumps(webhook(), indent=2, sort_keys=True) + "\n",
    }


def script_settings(spec: ClusterSpec, machine: Machine) -> dict[str, object]:
    """What the scripts read: nothing about pools, which come and go without these machines."""
    return {
        "machine": machine.name,
        "cluster": f"{spec.fleet}/{spec.name}",
        "account": spec.account,
        "seconds": SECONDS,
    }


def azure(fleet: Fleet, known: Iterable[Joining]) -> dict[str, object]:
    """Where the pools in Azure are, for the table; nothing where there are none. `alone` are no scale sets."""
    there = [one for one in known if one.cloud == "azure"]
    regions = sorted({one.place for one in there})
    alone = sorted(group for one in there if one.alone for group in one.groups)
    if not regions:
        return {}
    assert fleet.azure is not None  # fleet.rules: no region in Azure without a subscription
    return {
        "subscription": fleet.azure.subscription_id,
        "tenant": fleet.azure.tenant_id,
        "places": {name: f"{subscription(fleet)}/resourceGroups/{resource_group(fleet, name)}" for name in regions},
        **({"alone": alone} if alone else {}),
    }


def table(
    known: Iterable[Joining], in_azure: Mapping[str, object] = MappingProxyType({}), aws_role: str = ""
) -> dict[str, object]:
    """The pools as the scripts read them, out of the cluster: admission.py gives them their place there.

    `in_azure` is azure()'s; `aws_role` is by ARN what sees instances of AWS, where API machines are elsewhere.
    """
    known = sorted(known)
    clouds = [one for one in known if not one.site]
    regions: dict[str, list[str]] = {}
    for one in clouds:
        regions.setdefault(one.place, []).extend(one.groups)
    return {
        "regions": {region: sorted(groups) for region, groups in regions.items()},
        "roles": {one.role: one.name for one in clouds if one.cloud == "aws"},
        "lans": {one.place: one.lan for one in known if one.site},
        "pools": {
            one.name: {
                "place": one.place,
                "site": one.site,
                "groups": list(one.groups),
                "hosts": dict(one.hosts),
                "gpus": one.gpus,
                **({"cloud": one.cloud} if one.cloud != "aws" else {}),
            }
            for one in known
        },
        **({"azure": dict(in_azure)} if in_azure else {}),
        **({"aws": {"role": aws_role}} if aws_role else {}),
    }


def webhook() -> dict[str, Any]:
    """How the API server asks the service: over the loopback, knowing it by the cluster's authority."""
    cluster = {"server": WEBHOOK, "certificate-authority": f"{PKI}/ca.crt"}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "joining", "cluster": cluster}],
        "users": [{"name": "api-server", "user": {}}],
        "contexts": [{"name": "joining", "context": {"cluster": "joining", "user": "api-server"}}],
        "current-context": "joining",
    }


def permissions(fleet: Fleet, cluster: str) -> list[dict[str, Any]]:
    """Statements for the role of API machines, or of their service: to look at instances in the pools' regions.

    Who a token is of STS tells without any right of ours: the machine has signed the question.
    """
    if not (named := joining.regions(fleet, cluster, "aws")):
        return []
    return [
        {
            "Sid": "FindMachines",
            "Effect": "Allow",
            "Action": "ec2:DescribeInstances",
            "Resource": "*",  # takes no resource
            "Condition": {"StringEquals": {"aws:RequestedRegion": named}},
        }
    ]
