"""Logs that are kept: what collectors, who gives them out and commands call alike."""

import json
import re

# Fields of each line: its machine, its file, and where it is of one, its unit.
NODE, FILE, UNIT = "node", "file", "unit"
STORE, REPLICAS = "victoria-logs", 2
# Who gives people of a team what is their own: its pods' port, and whom tokens are for that it takes.
READER, READER_PORT, AUDIENCE = "log-reader", 8092, "landbridge-logs"


def pods(of: str) -> list[str]:
    """Names of a set's replicas."""
    return [f"{of}-{number}" for number in range(REPLICAS)]


def of_namespace(namespace: str) -> str:
    """What its pods have printed, a filter of streams: of PODS/NAMESPACE_POD_UID/CONTAINER/STARTS.log."""
    pattern = f".+/{re.escape(namespace)}_[^/]+/[^/]+/[0-9]+[.]log"
    return f"{{{FILE}=~{json.dumps(pattern)}}}"
