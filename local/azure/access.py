"""Who may do what: role assignments of the store, as Azure RBAC judges them. The deployer owns every subscription."""

from .errors import ArmError
from .kinds import World
from .tokens import DEPLOYER, Caller


def require(world: World, caller: Caller, action: str, scope: str) -> None:  # noqa: ARG001
    """Raises ArmError for a principal that no role lets do that there."""
    if caller.principal == DEPLOYER:
        return
    message = (
        f"The client with object id '{caller.principal}' does not have authorization to perform action '{action}' "
        f"over scope '{scope}' or the scope is invalid."
    )
    raise ArmError(403, "AuthorizationFailed", message)
