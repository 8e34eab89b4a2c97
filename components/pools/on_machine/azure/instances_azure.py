"""One region's instances of Azure, in the pools' scale sets or alone: asked of Azure's Resource Manager.

Compute REST API: Virtual Machine Scale Set VMs (List), and of Microsoft.Network the sets' interfaces (List Virtual
Machine Scale Set Network Interfaces); Virtual Machines (Get). A machine is called by its computer's name, in small
letters, as its node is.
"""

from collections.abc import Callable, Collection
from typing import Any

from join_rules import OF_SET, Instance
from machine import Refused

COMPUTE, NETWORK, CARD = "2024-11-01", "2018-10-01", "2024-05-01"
GONE, MISSING = "Deleting", 404
# A path with its version → what Resource Manager answers.
Get = Callable[[str], Any]


class ScaleSets:
    """`groups` are names of scale sets, but for those that are `alone`: of virtual machines by themselves, which
    are called as a set's are. `place` is the id of their resource group.

    A subscription has 900 looks at its sets in half an hour, of which the autoscaler takes most: fewer than EC2's.
    """

    what = "Azure"
    period_seconds, absent_seconds = 120.0, 15.0

    def __init__(self, groups: Collection[str], place: str, get: Get, alone: Collection[str] = ()) -> None:
        self.groups, self.place, self.get, self.alone = groups, place, get, frozenset(alone)

    def names(self, node: str) -> bool:
        return self._group(node) in self.groups

    def some(self, nodes: Collection[str]) -> list[Instance]:
        return self._of({self._group(node) for node in nodes} & set(self.groups))

    def all(self) -> list[Instance]:
        return self._of(set(self.groups))

    @staticmethod
    def _group(node: str) -> str:
        found = OF_SET.fullmatch(node)
        return found[1] if found else ""

    def _of(self, groups: Collection[str]) -> list[Instance]:
        """All of some sets. Raises OSError, Refused."""
        return [one for group in sorted(groups) for one in (self._one if group in self.alone else self._set)(group)]

    def _one(self, group: str) -> list[Instance]:
        told = self._got(f"{self.place}/providers/Microsoft.Compute/virtualMachines/{group}?api-version={COMPUTE}")
        if told is None:
            return []
        cards = (told["properties"].get("networkProfile") or {}).get("networkInterfaces") or [{}]
        card = self._got(f"{cards[0]['id']}?api-version={CARD}") if cards[0].get("id") else None
        first = ((card or {}).get("properties", {}).get("ipConfigurations") or [{}])[0]
        address = str((first.get("properties") or {}).get("privateIPAddress", ""))
        return [instance(group, told, address)]

    def _set(self, group: str) -> list[Instance]:
        path = f"{self.place}/providers/Microsoft.Compute/virtualMachineScaleSets/{group}"
        machines = self._listed(f"{path}/virtualMachines?api-version={COMPUTE}")
        cards = self._listed(f"{path}/networkInterfaces?api-version={NETWORK}") if machines else []
        addresses = {number: address for number, address in map(_address, cards) if number and address}
        return [instance(group, one, addresses.get(str(one["instanceId"]), "")) for one in machines]

    def _listed(self, path: str) -> list[Any]:
        found: list[Any] = []
        while path:
            page = self._got(path)
            if page is None:
                return []  # the set is gone, and all its machines with it
            found += page.get("value") or []
            path = str(page.get("nextLink") or "")
        return found

    def _got(self, path: str) -> Any:
        """None for what is not there. Raises OSError, Refused."""
        try:
            return self.get(path)
        except Refused as refused:
            if refused.status != MISSING:
                raise
            return None


def instance(group: str, told: Any, address: str) -> Instance:
    """`told` is a VirtualMachineScaleSetVM, or a VirtualMachine.

    What Azure is still making, or calls failed, may run all the same: nobody else asks for a certificate.
    """
    about = told["properties"]
    return Instance(
        id=str((about.get("osProfile") or {}).get("computerName", "")).lower(),
        state="shutting-down" if about.get("provisioningState") == GONE else "running",
        group=group,
        address=address,
        vm=str(about.get("vmId", "")).lower(),
    )


def _address(card: Any) -> tuple[str, str]:
    """Number of its machine, and address, of the first card; nothing of others."""
    about = card["properties"]
    number = str((about.get("virtualMachine") or {}).get("id", "")).rpartition("/")[2]
    if not about.get("primary"):
        return "", ""
    first = (about.get("ipConfigurations") or [{}])[0]
    return number, str((first.get("properties") or {}).get("privateIPAddress", ""))
