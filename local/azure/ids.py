"""Ids of Azure's resources: paths whose letters' case means nothing, and that keep the case they were made with.

/subscriptions/S  /subscriptions/S/resourceGroups/G  …/providers/NAMESPACE/TYPE/NAME[/TYPE/NAME …], and behind any of
these /providers/NAMESPACE/TYPE/NAME of an extension, such as a role's assignment (azure-resource-manager-rpc).
"""

from typing import NamedTuple

from .errors import bad_request


class Id(NamedTuple):
    """A path in its parts. `scope` is what stands before the last `providers`; `names` belong to `types`, one each."""

    text: str
    scope: str
    namespace: str
    types: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def key(self) -> str:
        """Equal for ids that mean the same."""
        return self.text.lower()

    @property
    def type(self) -> str:
        """Such as Microsoft.Network/virtualNetworks/subnets."""
        return "/".join((self.namespace, *self.types))

    @property
    def name(self) -> str:
        """The last one. With its parents' it is `path_name`."""
        return self.names[-1]

    @property
    def path_name(self) -> str:
        return "/".join(self.names)

    @property
    def parent(self) -> "Id | None":
        """The resource that this one is a part of; None for one that stands in a resource group or at a scope."""
        return parse("/".join(self.text.split("/")[:-2])) if len(self.names) > 1 else None

    @property
    def subscription(self) -> str:
        return self.text.split("/")[2]

    @property
    def group(self) -> str:
        """The resource group's name; empty for what stands in none."""
        parts = self.text.split("/")
        return parts[4] if len(parts) > 4 and parts[3].lower() == "resourcegroups" else ""


def parse(path: str) -> Id:
    """Raises ArmError for a path that is no resource's."""
    scope, providers, rest = _last_providers(path.rstrip("/"))
    parts = rest.split("/")
    if not providers or len(parts) < 3 or len(parts) % 2 == 0 or not all(parts):
        raise bad_request("InvalidResourceId", f"'{path}' is no id of a resource.")
    return Id(path.rstrip("/"), scope, parts[0], tuple(parts[1::2]), tuple(parts[2::2]))


def _last_providers(path: str) -> tuple[str, str, str]:
    at = path.lower().rfind("/providers/")
    return (path[:at], "providers", path[at + len("/providers/") :]) if at >= 0 else ("", "", "")


def group_id(subscription: str, group: str) -> str:
    return f"/subscriptions/{subscription}/resourceGroups/{group}"


def same(one: str | None, other: str | None) -> bool:
    """Whether two ids, names or locations mean the same."""
    return (one or "").lower() == (other or "").lower()


def location(text: str) -> str:
    """A region's name as ARM keeps it: "South Central US" is southcentralus."""
    return text.replace(" ", "").lower()
