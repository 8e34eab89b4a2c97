"""What Azure refuses, in words for people: its own sentence, and what to do about it."""

import re
import time
from collections.abc import Callable
from typing import Any, TypeVar

from ..cloud import CloudError

Answer = TypeVar("Answer")
TRIES = 3
# A longer Retry-After is told instead of waited for.
LONGEST_SECONDS = 30.0
TOO_MANY, CONFLICT = 429, 409
BY_STATUS = {
    401: "{needs}",
    403: "{needs}",
    404: "Is the region's stack up?",
    CONFLICT: "Something that stands or is under way is against it: look at it, then run this again",
}
SIGN_IN = "Sign in: `az login`, or set ARM_TENANT_ID, ARM_CLIENT_ID and ARM_CLIENT_SECRET"
# The first that fits Azure's code and message counts. Azure documentation: "Resolve errors for SKU not available",
# "Troubleshoot allocation failures", "Resolve errors for resource quotas", "Throttling Resource Manager requests".
REMEDIES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(text, re.IGNORECASE), remedy)
    for text, remedy in (
        (
            r"SkuNotAvailable|NotAvailableForSubscription",
            "Azure does not sell this size here, or not to this subscription: `az vm list-skus` lists what it sells. "
            "Name another instance_type or zone in the fleet file, or have Azure's support open this one",
        ),
        (
            r"AllocationFailed|OverconstrainedAllocation|AllocationRequest",
            "Azure has no free hardware of this size there just now, which no quota changes: run this again later, or "
            "name another zone, size or region in the fleet file",
        ),
        (
            r"QuotaExceeded|exceed\w* .*quota|quota.* exceed",
            "The subscription's quota of this family is used up: make something smaller, or ask for more (portal, "
            "Quotas), then run this again",
        ),
        (
            r"SubnetIsFull",
            "The subnet has no free address: make the pool smaller, or give the region a larger network",
        ),
        (
            r"AnotherOperation|another operation|in progress|OperationPreempted|RetryableError",
            "Somebody else changes it just now: wait until that has ended, then run this again",
        ),
        (
            r"AuthorizationFailed|AuthorizationPermissionMismatch|ForbiddenByRbac|LinkedAuthorizationFailed",
            "{needs}",
        ),
        (
            r"ForbiddenByConnection|ForbiddenByFirewall|PublicNetworkAccess",
            "It is closed to where you are: use the VPN",
        ),
        (r"ScopeLocked", "A lock protects it: `az lock list` tells whose"),
    )
)


def call_azure(what: str, needs: str, call: Callable[[], Answer]) -> Answer:
    """What the call gives. `what` can't be done if it fails, `needs` is what whoever asks must be allowed to.

    A call that Azure puts off is made again when it says so, if that is soon. Raises CloudError.
    """
    from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError

    left = TRIES
    while True:
        left -= 1
        try:
            return call()
        except ClientAuthenticationError as error:
            raise CloudError(f"{what}: {sentence(error)}. {SIGN_IN}") from None
        except HttpResponseError as error:
            seconds = put_off(error)
            if seconds is None or seconds > LONGEST_SECONDS or left <= 0:
                raise CloudError(f"{what}: {sentence(error)}. {remedy(error, needs)}") from None
            time.sleep(seconds)
        except AzureError as error:
            why = str(error).partition("\n")[0]
            raise CloudError(f"{what}: Azure does not answer: {why}. Is the network up, and the VPN?") from None


def put_off(error: Any) -> float | None:
    """In how many seconds Azure takes the call; None if it does not say that it will."""
    if error.status_code not in (TOO_MANY, CONFLICT) or error.response is None:
        return None
    header = str(error.response.headers.get("Retry-After", ""))
    return float(header) if header.isdigit() else None


def sentence(error: Any) -> str:
    """Azure's code and message, with those behind them, in one line."""
    body = getattr(error, "error", None)
    if body is None or not body.message:
        code, text = getattr(error, "error_code", "") or "", str(error.message or error).strip().partition("\n")[0]
        return f"{code}: {text}".removeprefix(": ").rstrip(".")
    message = f"{body.code}: {body.message}"
    behind = [f"{one.code}: {one.message}" for one in body.details or () if one.message]
    return " ".join([message, *(one for one in behind if one not in message)]).replace("\n", " ").rstrip(".")


def remedy_of(message: str) -> str:
    """By Azure's sentence alone, as the engine hands it on."""
    found = next((advice for pattern, advice in REMEDIES if pattern.search(message)), "")
    return found.format(needs="You need the role Contributor on the resource group") if found else "See the log of it"


def remedy(error: Any, needs: str) -> str:
    message = sentence(error)
    # Throttling has OperationNotAllowed for its code, as quotas have: the status comes first.
    if error.status_code == TOO_MANY:
        seconds = put_off(error)
        when = f"for another {seconds:.0f} s" if seconds is not None else "for some minutes"
        return f"Azure takes no more such calls {when}: run this again then"
    found = next((advice for pattern, advice in REMEDIES if pattern.search(message)), "")
    return (found or BY_STATUS.get(error.status_code, "Azure says no more")).format(needs=needs)
