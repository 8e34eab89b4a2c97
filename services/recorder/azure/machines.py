"""What Azure's activity log says of machines whose nodes fell silent or went: one call, of many of a resource group.

An entry may come ten minutes after what it tells of ("Azure Monitor activity log", retention and latency).
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from evidence.azure import machines
from evidence.observation import Observation

from ..errors import CloudError

ARM, SCOPE = "https://management.azure.com", "https://management.azure.com/.default"
VERSION = "2015-04-01"
# A node is silent for 40 s before it is asked about, and up to half an hour after that.
BACK_SECONDS = 2400.0
CONNECT_SECONDS, READ_SECONDS = 5, 20


class Group:
    """`place` is /subscriptions/…/resourceGroups/…. One thread calls it."""

    def __init__(self, place: str, client: Any = None) -> None:
        _, _, self.subscription, _, self.group = place.split("/")
        self._client = client

    @property
    def client(self) -> Any:
        if self._client is None:
            from azure.core import PipelineClient
            from azure.core.pipeline.policies import BearerTokenCredentialPolicy, RetryPolicy
            from azure.identity import WorkloadIdentityCredential

            # Whoever asks in vain asks again in seconds.
            known = BearerTokenCredentialPolicy(WorkloadIdentityCredential(), SCOPE)
            self._client = PipelineClient(ARM, policies=[RetryPolicy(retry_total=1), known])
        return self._client

    def ask(self, nodes: Mapping[str, str], now: float) -> tuple[list[Observation], set[str]]:
        """`nodes` by their machines' ids. Second are those of which there is no more to say. Raises CloudError."""
        from azure.core.exceptions import AzureError

        known = {name.lower(): node for name, node in nodes.items()}
        try:
            seen = [one for entry in self._entries(now - BACK_SECONDS) for one in machines.of_entry(entry, known)]
        except (AzureError, OSError, ValueError) as error:
            raise CloudError(f"{self.group}: {str(error).partition(chr(10))[0]}") from None
        told = {one.about for one in seen}
        return seen, {name for name, node in nodes.items() if f"node/{node}" in told}

    def _entries(self, since: float) -> Iterator[Mapping[str, Any]]:
        from azure.core.rest import HttpRequest

        begun = datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        wanted = f"eventTimestamp ge '{begun}' and resourceGroupName eq '{self.group}'"
        path = f"/subscriptions/{self.subscription}/providers/Microsoft.Insights/eventtypes/management/values"
        asked = HttpRequest("GET", f"{ARM}{path}", params={"api-version": VERSION, "$filter": wanted})
        while asked:
            answer = self.client.send_request(asked, connection_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS)
            answer.raise_for_status()
            page = answer.json()
            yield from page["value"]
            asked = HttpRequest("GET", page["nextLink"]) if page.get("nextLink") else None
