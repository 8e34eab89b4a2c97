"""How tunnels of VPN connections in a region of Azure are, by the connections themselves, which keep their keys back.

A list of them has no states; so each is asked for, by its id.
"""

from collections.abc import Collection, Mapping
from typing import Any

from ..errors import CloudError

ARM, SCOPE = "https://management.azure.com", "https://management.azure.com/.default"
VERSION = "2024-05-01"
CONNECT_SECONDS, READ_SECONDS = 5, 20
NOT_THERE = 404


class Region:
    """One thread calls it."""

    def __init__(self, region: str, client: Any = None) -> None:
        self.region, self._client = region, client

    @property
    def client(self) -> Any:
        if self._client is None:
            from azure.core import PipelineClient
            from azure.core.pipeline.policies import BearerTokenCredentialPolicy, RetryPolicy
            from azure.identity import WorkloadIdentityCredential

            known = BearerTokenCredentialPolicy(WorkloadIdentityCredential(), SCOPE)
            self._client = PipelineClient(ARM, policies=[RetryPolicy(retry_total=1), known])
        return self._client

    def up(self, named: Collection[str], now: float) -> Mapping[str, float]:  # noqa: ARG002
        """By ids. Raises CloudError."""
        from azure.core.exceptions import AzureError

        try:
            return {one: told for one in named if (told := self._up(one)) is not None}
        except (AzureError, OSError, ValueError) as error:
            raise CloudError(f"{self.region}: {str(error).partition(chr(10))[0]}") from None

    def _up(self, id_: str) -> float | None:
        from azure.core.rest import HttpRequest

        asked = HttpRequest("GET", f"{ARM}{id_}", params={"api-version": VERSION})
        answer = self.client.send_request(asked, connection_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS)
        if answer.status_code == NOT_THERE:
            return 0.0
        answer.raise_for_status()
        told: Mapping[str, Any] = answer.json()
        return part(told.get("properties") or {})


def part(properties: Mapping[str, Any]) -> float | None:
    """Of a connection. Where nothing is told of its tunnels its own state counts: see landbridge/links/azure."""
    states = [one.get("connectionStatus") for one in properties.get("tunnelConnectionStatus") or []]
    states = states or [properties.get("connectionStatus") or "Unknown"]
    if "Unknown" in states:
        return None
    return float(sum(one == "Connected" for one in states) / len(states))
