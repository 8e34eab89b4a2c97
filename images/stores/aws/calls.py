"""What the calls to AWS have in common: errors in our words, tokens, tags."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from ...errors import ImageError

# A tag: since when an image is disabled.
DISABLED = "landbridge:disabled"

CREDENTIALS = ". Nothing was done. Look at your credentials: `aws sts get-caller-identity` has to answer"


@contextmanager
def clear_errors(region: str, more: str = "") -> Iterator[None]:
    """What AWS refuses is one clear error."""
    try:
        yield
    except ClientError as error:
        details = error.response["Error"]
        raise ImageError(
            f"{region}: {error.operation_name} was refused ({details['Code']}): {details.get('Message', '')}{more}"
        ) from None
    except BotoCoreError as error:
        raise ImageError(f"{region} can't be reached: {error}{more}") from None
    except OSError as error:  # the disk here, or its journal
        raise ImageError(f"{error.filename or region}: {error.strerror or error}{more}") from None


def token(*parts: str) -> str:
    """The same for the same work, so that a call whose answer was lost is not done twice. 64 digits are allowed."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
