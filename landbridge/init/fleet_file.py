"""Entries of a fleet file as YAML that people go on with: each part below what it is for."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from fleet.model import Cloud, Fleet
from fleet.regions import CLOUDS

from . import machines
from .entries import CLUSTER, TEAM, Entries, quotas

# Texts that YAML takes as they are, in every version of it.
PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*|\d+\.\d+\.\d+\.\d+(/\d+)?|\d+\.\d+\.\d+")
WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
LONGEST = 120
# Whose entries have a line each.
TABLES = {"shares", "hosts"}

HEAD = """\
# What the fleet is. After a change `landbridge plan` says whether it is sound, `landbridge plan --write` gives new
# entries their addresses, and `landbridge up --local` brings it up on this machine, without any cloud."""
STATE = {
    "aws": '{{backend: "s3://BUCKET?region={region}", secrets: "awskms://alias/KEY?region={region}"}}',
    "azure": '{{backend: "azblob://CONTAINER?storage_account=ACCOUNT", '
    'secrets: "azurekeyvault://VAULT.vault.azure.net/keys/KEY"}}',
}
ACCOUNT = {
    "aws": "# The one account that the fleet may touch. This is a number of AWS's documentation: write yours.",
    "azure": "# The one subscription that the fleet may touch. These are nobody's: write yours.",
}
ZONES = {
    "aws": "# Those of your account: aws ec2 describe-availability-zones --region {region}",
    "azure": "# Those of your subscription: az vm list-skus --location {region} --zone",
}
NOTES = {
    "owner": "# The team that owns what all share.",
    "domain": "# What private names end in. It need not be known to anybody else; take one below a domain of yours.",
    "supernet": "# All addresses come from here. It has room to grow, outside of what homes, Docker and clouds use.",
    "reserved": "# What something else uses: no prefix of the fleet overlaps it.",
    "max_gpus": "# Of all pools in clouds together: each of them may have so many while the others are short.",
    "regions": "# Networks in cloud regions. One more is one more entry here.",
    "sites": "# Machine rooms of your own. Gateways have addresses of documentation: write those that clouds see.\n"
    "# In a room `cidr: PREFIX` is the network that is there already, and `nfs: HOST` who serves the shares.",
    "storage": "# Shares that look the same from every place.",
    "clusters": "# A control plane: etcd and API servers stand in its region.",
    "pools": "# Like machines. In regions the autoscaler buys from `min` or 0 to `max`, and an empty pool is free.\n"
    "# Where two would do, the one with the higher priority is filled first. Whoever changes a type says its `gpus`.",
    "teams": "# Who shares pools and a bill. A queue says how many GPUs a team's runs may hold in a cluster.",
}
TAIL = """\
# People log in and run work by their names, each with a number that is the same everywhere:
# people:
#   alice: {{uid: 3001, team: {team}}}

# What runs start from that name no image (`landbridge run`):
# images: {{runs: docker.io/pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime}}

# Metrics and alarms of cluster {cluster}:
# monitoring: {{}}
"""


def text(entries: Entries, fleet: Fleet) -> str:
    """The whole file; `fleet` is what the loader makes of the same entries."""
    return "\n".join(_lines(entries, fleet)) + "\n"


def bare(entries: Entries) -> str:
    """The same without comments: what the loader is asked with while answers are still to come."""
    return "".join(f"{key}: {flow(value)}\n" for key, value in entries.items())


def _lines(entries: Entries, fleet: Fleet) -> Iterator[str]:
    yield HEAD
    for key, value in entries.items():
        yield from _above(key, fleet)
        if key in ("regions", "sites"):
            yield f"{key}:"
            for name, entry in value.items():
                yield f"  {scalar(name)}:"
                yield from _of_zones(fleet, name)
                yield from _block(entry, "    ")
                yield from _of_quotas(fleet, name)
        elif isinstance(value, Mapping) and key not in ACCOUNT:
            yield f"{key}:"
            yield from _block(value, "  ")
        else:
            yield f"{key}: {flow(value)}"
    yield ""
    yield TAIL.format(team=TEAM, cluster=CLUSTER).rstrip()


def _above(key: str, fleet: Fleet) -> Iterator[str]:
    """What stands over an entry: a blank line where a part begins, and what it is for."""
    if key not in ("fleet", "owner", "domain", "supernet"):
        yield ""
    if key == "regions":
        yield from _state(fleet)
    yield from (NOTES | ACCOUNT).get(key, "").splitlines()
    if key == "pools":
        bought = {pool.instance_type for pool in fleet.pools.values() if pool.kind == "gpu"}
        yield from (line for cloud, kinds in machines.FIRST.items() if kinds.gpu in bought for line in _others(cloud))


def _state(fleet: Fleet) -> Iterator[str]:
    """By the cloud of the first region."""
    region, entry = next(iter(fleet.regions.items()))
    yield "# Where the team shares Pulumi's state, and the key of the secrets in it: real clouds want both."
    yield f"# state: {STATE[entry.cloud].format(region=region)}"
    yield ""


def _others(cloud: Cloud) -> Iterator[str]:
    named = [f"{model} ({name})" for model, name in machines.others(cloud).items()]
    yield from _wrapped(f"# {CLOUDS[cloud]} has others: {', '.join(named)}.")


def _wrapped(line: str) -> Iterator[str]:
    while len(line) > LONGEST:
        cut = line.rindex(" ", 0, LONGEST)
        yield line[:cut]
        line = f"# {line[cut + 1 :]}"
    yield line


def _of_zones(fleet: Fleet, region: str) -> Iterator[str]:
    if region in fleet.regions:
        yield f"    {ZONES[fleet.regions[region].cloud].format(region=region)}"


def _of_quotas(fleet: Fleet, region: str) -> Iterator[str]:
    if region in fleet.regions and (grown := quotas(fleet, region)):
        yield "    # vCPUs that its pools may grow to. Write what the cloud has granted, and more is refused."
        yield f"    # quotas: {flow(grown)}"


def _block(entry: Mapping[str, Any], indent: str) -> Iterator[str]:
    """A line for each entry; below their name those of tables, and what is longer than a line."""
    for name, value in entry.items():
        line = f"{indent}{scalar(name)}: {flow(value)}"
        if isinstance(value, Mapping) and (name in TABLES or len(line) > LONGEST):
            yield f"{indent}{scalar(name)}:"
            yield from _block(value, f"{indent}  ")
        else:
            yield line


def flow(value: Any) -> str:
    """On one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(name)}: {flow(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def scalar(value: Any) -> str:
    """In quotes what YAML would take for something else."""
    if not isinstance(value, str):
        return json.dumps(value)
    return value if PLAIN.fullmatch(value) and value.lower() not in WORDS else json.dumps(value)
