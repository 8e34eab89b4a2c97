"""The machines service's side of the local Azure: what its instance metadata has to ask for."""

from typing import Any

from ..cloud import Cloud


class Azure(Cloud):
    """Of each answer the status, too: metadata hands it on as it is."""

    name = "azure"

    def token(self, machine: str, resource: str, chosen: dict[str, str]) -> tuple[int, Any]:
        """A managed identity's, for a machine's id. `chosen` has client_id, object_id or msi_res_id."""
        return self.answer("token", {"identity": machine, "resource": resource, **chosen})

    def events(self, machine: str) -> tuple[int, Any]:
        """What is about to happen to a machine."""
        return self.answer("events", machine)

    def start_events(self, machine: str, body: Any) -> tuple[int, Any]:
        """A machine is ready for some of it."""
        return self.answer("start_events", [machine, body])

    def attested(self, machine: str, nonce: str) -> tuple[int, Any]:
        """A document about a machine, signed."""
        return self.answer("attested", {"machine": machine, "nonce": nonce})
