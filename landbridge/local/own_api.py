"""What the local clouds answer beside their clouds' calls, from inside."""

import json
import urllib.error
import urllib.request
from typing import Any

from landbridge.errors import UsageError

SECONDS = 30.0


def ask(method: str, url: str, body: Any = None) -> Any:
    """Raises UsageError with what was wrong with it, and OSError."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, method=method)  # noqa: S310 (the local cloud's own)
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        raise UsageError(f"The local cloud: {json.loads(error.read() or b'null') or error.reason}.") from None
