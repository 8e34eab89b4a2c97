"""Settings of a service as JSON, which the add-on's stack writes. `refused` is the service's own error, for people."""

import json
from pathlib import Path
from typing import Any


def document(file: Path, refused: type[Exception]) -> Any:
    """Raises `refused`."""
    try:
        return json.loads(file.read_text())
    except OSError as error:
        raise refused(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise refused(f"{file}: it is no JSON: {error}") from None


def require(file: Path, found: Any, kind: type[Any], refused: type[Exception]) -> None:
    """The fields of `kind`, and no others. Raises `refused`."""
    wanted = kind.__annotations__
    if not isinstance(found, dict) or found.keys() != wanted.keys():
        raise refused(f"{file}: {kind.__name__} has to have {', '.join(wanted)}, and nothing else")
