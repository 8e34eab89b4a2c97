"""Who may do what: role assignments of the store, as Azure RBAC judges them.

The deployer owns every subscription, as who made it does. An owner has all of ARM, and none of the data in containers
and vaults: for that, a role with data actions must be assigned to it, too.
"""

from collections.abc import Mapping

from .errors import ArmError
from .kinds import World
from .roles.conditions import Request
from .roles.evaluation import allowed
from .tokens import DEPLOYER, Caller


def require(world: World, caller: Caller, action: str, scope: str) -> None:
    """Raises ArmError for a principal that no role lets do that there."""
    if caller.principal == DEPLOYER or allowed(world, caller.principal, scope, Request(action, {})):
        return
    message = (
        f"The client with object id '{caller.principal}' does not have authorization to perform action '{action}' "
        f"over scope '{scope}' or the scope is invalid."
    )
    raise ArmError(403, "AuthorizationFailed", message)


def data_allowed(
    world: World, principal: str, action: str, scope: str, attributes: Mapping[str, str] | None = None, part: str = ""
) -> bool:
    """Of a data action; for what a condition may ask about the call, see `roles.conditions`."""
    return allowed(world, principal, scope, Request(action, attributes or {}, part), data=True)
