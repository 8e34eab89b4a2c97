"""A network with a subnet and what stands beside it, made by plain requests: bodies as short as Azure takes them."""

from typing import Any

from .support import LocalAzure

REGION = "southcentralus"


class Place:
    """A group of a local Azure, in which things are made by type and name. `id` is the group's."""

    def __init__(self, azure: LocalAzure, id_: str) -> None:
        self.azure, self.id = azure, id_

    def path(self, type_: str, *names: str) -> str:
        """path("virtualNetworks/subnets", "net", "a") is …/virtualNetworks/net/subnets/a."""
        kinds = type_.split("/")
        inner = "/".join(f"{kind}/{name}" for kind, name in zip(kinds, names, strict=True))
        return f"{self.id}/providers/Microsoft.Network/{inner}"

    def put(self, type_: str, *names: str, **body: Any) -> Any:
        """The answer. A type in one part gets the region unless `location` says another."""
        place = {} if "/" in type_ else {"location": REGION}
        return self.azure.put(self.path(type_, *names), {**place, **body})

    def make(self, type_: str, *names: str, **body: Any) -> dict[str, Any]:
        """What Azure has when it is done."""
        answer = self.put(type_, *names, **body)
        assert answer.status_code in (200, 201), answer.text
        return self.get(type_, *names)

    def get(self, type_: str, *names: str) -> dict[str, Any]:
        found: dict[str, Any] = self.azure.ask("GET", self.path(type_, *names)).json()
        return found

    def refused(self, type_: str, *names: str, **body: Any) -> str:
        """The code of a refusal."""
        answer = self.put(type_, *names, **body)
        assert answer.status_code >= 400, answer.text
        return str(answer.json()["error"]["code"])

    def delete(self, type_: str, *names: str) -> str:
        """The code of a refusal, or ""."""
        answer = self.azure.ask("DELETE", self.path(type_, *names))
        return str(answer.json()["error"]["code"]) if answer.status_code >= 400 else ""

    def network(self, name: str = "net", space: str = "10.1.0.0/16") -> dict[str, Any]:
        return self.make("virtualNetworks", name, properties={"addressSpace": {"addressPrefixes": [space]}})

    def subnet(self, prefix: str, name: str = "a", network: str = "net", **more: Any) -> dict[str, Any]:
        return self.make("virtualNetworks/subnets", network, name, properties={"addressPrefix": prefix, **more})

    def public(self, name: str, **more: Any) -> dict[str, Any]:
        sku, properties = {"name": "Standard"}, {"publicIPAllocationMethod": "Static"}
        return self.make("publicIPAddresses", name, sku=sku, properties=properties, **more)


def reference(to: dict[str, Any]) -> dict[str, str]:
    return {"id": to["id"]}
