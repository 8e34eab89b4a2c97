"""Which certificates machines get: every rule, and nothing that asks anybody. Decides only.

Two signers are judged, the kubelets' (Kubernetes' page "Certificates and Certificate Signing Requests"); requests of
others are left to others. Of these two, all is denied that is not explicitly right, with a reason that people read in
`kubectl get csr`.
"""

import base64
import ipaddress
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple

import join_request
import join_token

CLIENT, SERVING = "kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"
# With an RSA key a kubelet asks for the third, too.
USES = {
    signer: ({"digital signature", use}, {"digital signature", use, "key encipherment"})
    for signer, use in ((CLIENT, "client auth"), (SERVING, "server auth"))
}
ATTESTED = re.compile(rf"{join_token.USER}:([a-z0-9-]+):([a-z0-9-]{{1,64}})", re.ASCII)
ENROLLED, SITES = re.compile(r"system:bootstrap:[a-z0-9]{6}", re.ASCII), f"{join_token.USER}:"
NODE = re.compile(r"system:node:([a-z0-9.-]{1,120})", re.ASCII)
INSTANCE = re.compile(r"i-[0-9a-f]{8,17}", re.ASCII)
# A scale set's name, a hyphen, and a number of the set's own.
OF_SET = re.compile(r"([a-z0-9-]{1,57})-[0-9a-z]{6}", re.ASCII)
# EC2's answers may lack an instance for a while after its start ("Eventual consistency in the Amazon EC2 API").
PATIENCE_SECONDS = 90.0

Kind = Literal["approve", "deny", "wait", "leave"]


class Verdict(NamedTuple):
    kind: Kind
    why: str


class Pool(NamedTuple):
    """`groups` are its scaling groups' names, none at a site; `hosts` are a site's, host → address or nothing."""

    place: str
    site: bool
    groups: frozenset[str]
    hosts: Mapping[str, str]
    gpus: int
    cloud: str = "aws"


class Instance(NamedTuple):
    """As its cloud tells it, by its node's name; `group` is its scaling group. `vm` is its number in Azure."""

    id: str
    state: str
    group: str
    address: str
    vm: str = ""


class Unsure(NamedTuple):
    """Whether there is such an instance is not known now."""

    why: str


class Facts(NamedTuple):
    """`look` tells of an instance in some regions; `owner` which node has an address; `age` is the request's."""

    pools: Mapping[str, Pool]
    lans: Mapping[str, str]
    departed: Collection[str]
    look: Callable[[str, Collection[str]], Instance | Unsure | None]
    owner: Callable[[str], str | None]
    age: float


class Machine(NamedTuple):
    """Whom a request is for. `pool` is None where only its scaling group tells. `vm` is what Azure has vouched for."""

    name: str
    pool: str | None
    site: str | None
    vm: str = ""


def pools_of(told: Any) -> dict[str, Pool]:
    """Out of the table."""
    return {
        name: Pool(
            one["place"], one["site"], frozenset(one["groups"]), one["hosts"], one["gpus"], one.get("cloud", "aws")
        )
        for name, one in told["pools"].items()
    }


def judge(spec: Mapping[str, Any], facts: Facts) -> Verdict:
    """`spec` is a CertificateSigningRequest's."""
    signer = spec.get("signerName")
    if signer not in USES:
        return Verdict("leave", "another signer's")
    try:
        asked = join_request.subject_fields(base64.b64decode(spec["request"], validate=True).decode("ascii"))
    except (KeyError, ValueError) as error:
        return Verdict("deny", f"not a kubelet's request: {error}"[:200])
    uses = list(spec.get("usages") or [])
    if len(uses) != len(set(uses)) or set(uses) not in USES[signer]:
        return Verdict("deny", f"its usages may be {', '.join(sorted(USES[signer][0]))}, and nothing else")
    machine = _machine(spec, facts.pools, renewing_only=signer == SERVING)
    if isinstance(machine, str):
        return Verdict("deny", machine)
    if asked.subject not in join_request.subjects(machine.name):
        return Verdict("deny", f"this machine may be O=system:nodes, CN=system:node:{machine.name}, and nobody else")
    if machine.name in facts.departed:
        return Verdict("deny", f"the machine {machine.name} has gone for good")
    if signer == CLIENT and asked.attributes != join_request.NOTHING:
        return Verdict("deny", "a client's certificate has no names but its subject")
    if machine.site is not None:
        return _host(signer, machine.name, machine.site, asked, facts)
    return _instance(signer, machine, asked, facts)


def _machine(spec: Mapping[str, Any], pools: Mapping[str, Pool], *, renewing_only: bool) -> Machine | str:
    """Who asks: by a token of its own, or for itself with the certificate it has. A text says why it is nobody."""
    user, groups, extra = str(spec.get("username")), set(spec.get("groups") or []), spec.get("extra") or {}
    if (found := NODE.fullmatch(user)) and "system:nodes" in groups:
        return _node(found[1], pools)
    if renewing_only:
        return "a server's certificate is given to a node with its own client's certificate alone"
    if found := ATTESTED.fullmatch(user):
        pool, instance = found.groups()
        told = (extra.get(join_token.POOL_EXTRA), extra.get(join_token.INSTANCE_EXTRA))
        if not set(join_token.GROUPS) <= groups or told != ([pool], [instance]):
            return "this user does not come from an attested token"
        return _attested(pool, instance, extra.get(join_token.VM_EXTRA), pools)
    own = [group.removeprefix(SITES).split(":") for group in groups if group.startswith(SITES)]
    if ENROLLED.fullmatch(user) and "system:bootstrappers" in groups and len(own) == 1 and len(own[0]) == 2:
        site, host = own[0]
        if not _at_site(site, host, pools):
            return f"no pool at site {site} has a host {host}"
        return Machine(f"{host}.{site}", None, site)
    return "it asks neither with an attested token, nor with one of an enrolled host, nor as the node itself"


def _attested(name: str, instance: str, vm: Any, pools: Mapping[str, Pool]) -> Machine | str:
    """A machine of AWS by its role, which is its pool's; one of Azure by a number that Azure must know there."""
    if name not in pools or pools[name].site:
        return f"there is no pool {name} in a cloud"
    if pools[name].cloud == "aws":
        named = INSTANCE.fullmatch(instance) and vm is None
        return Machine(instance, name, None) if named else f"pool {name} has no machine named {instance}"
    if not isinstance(vm, list) or len(vm) != 1 or not vm[0]:
        return "this user does not come from an attested token"
    named = of_set(instance, pools) == name
    return Machine(instance, name, None, str(vm[0])) if named else f"no scale set of {name} has a machine {instance}"


def of_set(name: str, pools: Mapping[str, Pool]) -> str | None:
    """The pool in Azure whose scale set has machines of such a name."""
    found = OF_SET.fullmatch(name)
    return next(
        (pool for pool, one in pools.items() if one.cloud == "azure" and found and found[1] in one.groups), None
    )


def _node(name: str, pools: Mapping[str, Pool]) -> Machine | str:
    if INSTANCE.fullmatch(name):
        return Machine(name, None, None)
    if pool := of_set(name, pools):
        return Machine(name, pool, None)
    host, _, site = name.rpartition(".")
    if _at_site(site, host, pools):
        return Machine(name, None, site)
    return f"no pool has a machine {name}"


def _at_site(site: str, host: str, pools: Mapping[str, Pool]) -> bool:
    return any(pool.site and pool.place == site and host in pool.hosts for pool in pools.values())


def _host(signer: str, name: str, site: str, asked: join_request.SubjectFields, facts: Facts) -> Verdict:
    if signer == CLIENT:
        return Verdict("approve", f"{name} is a host of site {site}")
    pools = [pool for pool in facts.pools.values() if pool.site and pool.place == site]
    host = name.removesuffix(f".{site}")
    planned = next((pool.hosts[host] for pool in pools if pool.hosts.get(host)), "")
    raw = join_request.address_asked(asked.attributes, name)
    if raw is None:
        return Verdict("deny", f"its names may be DNS {name} and one address, and nothing else")
    address = ipaddress.IPv4Address(raw)
    if planned and str(address) != planned:
        return Verdict("deny", f"its address is {planned}, not {address}")
    if address not in ipaddress.IPv4Network(facts.lans[site]):
        return Verdict("deny", f"{address} is not in {facts.lans[site]}, the network of site {site}")
    if (other := facts.owner(str(address))) not in (None, name):
        return Verdict("deny", f"{address} is the address of {other}")
    return Verdict("approve", f"{name} is a host of site {site} and has {address}")


def _instance(signer: str, machine: Machine, asked: join_request.SubjectFields, facts: Facts) -> Verdict:
    name, clouds = machine.name, {pool: one for pool, one in facts.pools.items() if not one.site}
    regions = (
        {clouds[machine.pool].place}
        if machine.pool
        else {pool.place for pool in clouds.values() if pool.cloud == "aws"}
    )
    found = facts.look(name, regions)
    if isinstance(found, Unsure):
        return Verdict("wait", found.why)
    young = facts.age < PATIENCE_SECONDS
    if found is None:
        where = ", ".join(sorted(regions))
        return Verdict("wait" if young else "deny", f"there is no instance {name} in {where}")
    if found.state != "running":
        soon = found.state == "pending" and young
        return Verdict("wait" if soon else "deny", f"the instance {name} is {found.state}, not running")
    pool = next((pool for pool, one in clouds.items() if found.group in one.groups), None)
    if pool is None or machine.pool not in (None, pool):
        wanted = f"pool {machine.pool}" if machine.pool else "any pool"
        return Verdict("deny", f"the instance {name} is in no scaling group of {wanted}")
    if machine.vm not in ("", found.vm):
        return Verdict("deny", f"the instance {name} is another machine than the one that Azure vouches for")
    if signer == SERVING and not found.address:
        return Verdict("wait", f"the address of the instance {name} is not known yet")
    if signer == SERVING:
        exact = join_request.alternative_names([name], [ipaddress.IPv4Address(found.address).packed])
        if asked.attributes != exact:
            return Verdict("deny", f"its names may be DNS {name} and IP {found.address}, and nothing else")
    return Verdict("approve", f"{name} runs in pool {pool}")
