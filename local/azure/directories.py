"""Which directory of Entra ID, Azure's tenant, a subscription is in: one, for good.

Nobody makes subscriptions here: one is there when its owner first comes, and is in the directory that vouches for that.
"""

import re

from .errors import ArmError
from .sign_in import TENANT
from .tokens import DEPLOYER, Caller, issuer

_SUBSCRIPTION = re.compile(r"/subscriptions/([^/]+)", re.IGNORECASE)
_of: dict[str, str] = {}


def of(id_: str) -> str:
    """The tenant of what a resource id, or the path of a call, names."""
    return _of.get(_subscription(id_), TENANT)


def enter(path: str, caller: Caller) -> None:
    """Raises ArmError for a caller from another directory than the subscription's."""
    name = _subscription(path)
    if name and caller.principal == DEPLOYER:
        _of.setdefault(name, caller.tenant)
    if name and caller.tenant != of(path):
        message = (
            f"The access token is from the wrong issuer '{issuer(caller.tenant)}'. It must match the tenant "
            f"'{issuer(of(path))}' associated with this subscription. Please use the authority (URL) "
            f"'https://login.windows.net/{of(path)}' to get the token."
        )
        raise ArmError(401, "InvalidAuthenticationTokenTenant", message)


def _subscription(path: str) -> str:
    found = _SUBSCRIPTION.match(path)
    return found[1].lower() if found else ""
