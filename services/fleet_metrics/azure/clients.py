"""Azure's resource manager, asked by paths: no client of a service's own, for a few answers would need many models."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from ..errors import CloudError

ARM, SCOPE = "https://management.azure.com", "https://management.azure.com/.default"
CONNECT_SECONDS, READ_SECONDS = 5, 20
NOT_THERE = 404


class Arm:
    """One thread calls it. `client` is azure-core's; nobody is asked before the first question."""

    def __init__(self, client: Any = None) -> None:
        if client is not None:
            self.client = client

    @cached_property
    def client(self) -> Any:
        from azure.core import PipelineClient
        from azure.core.pipeline.policies import BearerTokenCredentialPolicy, RetryPolicy
        from azure.identity import WorkloadIdentityCredential

        known = BearerTokenCredentialPolicy(WorkloadIdentityCredential(), SCOPE)
        return PipelineClient(ARM, policies=[RetryPolicy(retry_total=1), known])

    def get(self, path: str, version: str) -> Mapping[str, Any] | None:
        """What is at a path, or at an answer's link to its next page; None where nothing is. Raises azure-core's
        errors: see `errors`.
        """
        from azure.core.rest import HttpRequest

        address = path if path.startswith("https://") else f"{ARM}{path}?api-version={version}"
        asked = HttpRequest("GET", address)
        answer = self.client.send_request(asked, connection_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS)
        if answer.status_code == NOT_THERE:
            return None
        answer.raise_for_status()
        told: Mapping[str, Any] = answer.json()
        return told

    def listed(self, path: str, version: str) -> Iterator[Mapping[str, Any]]:
        """All pages of a list."""
        while path:
            page = self.get(path, version) or {}
            yield from page.get("value") or []
            path = page.get("nextLink") or ""


@contextmanager
def errors(what: str) -> Iterator[None]:
    """Raises CloudError."""
    from azure.core.exceptions import AzureError

    try:
        yield
    except (AzureError, OSError, ValueError) as error:
        raise CloudError(f"{what}: {str(error).partition(chr(10))[0]}") from None
