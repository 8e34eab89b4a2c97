"""The ID by which a node names its machine (Node's spec.providerID), and what the machine's cloud calls it.

Both sides write it: this one, and the kubelet of each machine (components/pools/on_machine/node_facts.py). The
autoscaler takes a machine for its node only where both wrote the same.
"""

import re

# cloud-provider-aws: the zone and the instance. cloud-provider-azure: the resource's own id, with the group of
# resources in lower case; a machine of a uniform scale set is its set's and a number, and called NAME_NUMBER.
FORMS = (
    (re.compile(r"aws:///[^/]+/([^/]+)"), r"\1"),
    (
        re.compile(
            r"azure:///subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Compute"
            r"/virtualMachineScaleSets/([^/]+)/virtualMachines/(\d+)",
            re.IGNORECASE,
        ),
        r"\1_\2",
    ),
)


def aws(zone: str, instance: str) -> str:
    return f"aws:///{zone}/{instance}"


def azure(subscription: str, resource_group: str, scale_set: str, number: str) -> str:
    return (
        f"azure:///subscriptions/{subscription}/resourceGroups/{resource_group.lower()}/providers/Microsoft.Compute"
        f"/virtualMachineScaleSets/{scale_set}/virtualMachines/{number}"
    )


def instance(provider: str) -> str | None:
    """The machine's name in its cloud; None for a machine of a site, of another cloud, and for a placeholder."""
    found = ((form.fullmatch(provider), name) for form, name in FORMS)
    # Azure's names are alike in any case, and so are told in any.
    return next((match.expand(name).lower() for match, name in found if match), None)
