"""What the calls to Azure have in common: errors in our words, and what a gallery's answers mean."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError

from ...errors import ImageError

CREDENTIALS = ". Nothing was done. Sign in: `az login`, or ARM_TENANT_ID, ARM_CLIENT_ID and ARM_CLIENT_SECRET"
# States of what is not over.
BUSY = ("Creating", "Updating", "Migrating", "Deleting")


@contextmanager
def clear_errors(place: str, more: str = "") -> Iterator[None]:
    """What Azure refuses is one clear error."""
    try:
        yield
    except ClientAuthenticationError as error:
        raise ImageError(f"{place}: nobody is signed in to Azure: {_line(error)}{CREDENTIALS}") from None
    except HttpResponseError as error:
        details = getattr(error, "error", None)
        code, message = (details.code, details.message) if details else (error.status_code, _line(error))
        raise ImageError(f"{place}: Azure has refused ({code}): {message}{more}") from None
    except AzureError as error:
        raise ImageError(f"{place}: Azure can't be reached: {_line(error)}{more}") from None
    except OSError as error:  # the disk here, or its journal
        raise ImageError(f"{error.filename or place}: {error.strerror or error}{more}") from None


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def region(name: str) -> str:
    """As fleet files write it; Azure may say South Central US."""
    return name.replace(" ", "").lower()


def targets(version: Any) -> dict[str, Any]:
    """Where a version is to be, by region."""
    return {region(one.name): one for one in version.publishing_profile.target_regions or ()}


def replicas(version: Any) -> Mapping[str, str]:
    """How each region's copy is, if that was asked for with the version: Completed, Replicating, Failed, Unknown."""
    status = version.replication_status
    return {region(one.region): _text(one.state) for one in (status.summary if status else None) or ()}


def state(version: Any) -> str:
    return _text(version.provisioning_state)


def _text(value: Any) -> str:
    """Of an enum, or of a value that the SDK does not know yet."""
    return str(getattr(value, "value", value))
