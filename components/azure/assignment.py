"""What an identity may do in Azure: the assignment of one role over one scope, as every part of the fleet makes it."""

import asyncio
from typing import NamedTuple

import pulumi
import pulumi_azure_native as azure

# Role definitions are eventually consistent, mostly for seconds: hashicorp/terraform-provider-azurerm issue 10442.
WAIT_SECONDS, MOST_WAITS = 10, 60
UNKNOWN = "RoleDefinitionDoesNotExist"


class Assignment(NamedTuple):
    """`name` is a GUID that follows from what it is; `role` and `scope` are ids; an empty `condition` is none.

    Scopes and roles are told by names that are known before they are made: policies judge both.
    """

    name: str
    role: pulumi.Input[str]
    scope: pulumi.Input[str]
    condition: str = ""


def assigned(
    name: str,
    assignment: Assignment,
    identity: azure.managedidentity.UserAssignedIdentity,
    parent: pulumi.Resource,
    *after: pulumi.Resource,
) -> pulumi.Resource:
    """`after` must be there before; a role among them is waited for, too: its definition says so at once, not all."""
    own = any(isinstance(one, azure.authorization.RoleDefinition) for one in after)
    conditions = {"condition": assignment.condition, "condition_version": "2.0"} if assignment.condition else {}
    made: pulumi.Resource = azure.authorization.RoleAssignment(
        name,
        role_assignment_name=assignment.name,
        scope=assignment.scope,
        role_definition_id=assignment.role,
        principal_id=identity.principal_id,
        # Else Azure looks for a principal that it does not know everywhere yet.
        principal_type="ServicePrincipal",
        opts=pulumi.ResourceOptions(parent=parent, depends_on=[*after], hooks=_patience(name) if own else None),
        **conditions,
    )
    return made


def _patience(name: str) -> pulumi.ResourceHookBinding:
    async def wait(args: pulumi.ErrorHookArgs) -> bool:
        if not unknown_yet(args.errors):
            return False
        pulumi.log.info(f"{name}: Azure does not know its role everywhere yet; it is asked again in {WAIT_SECONDS} s")
        await asyncio.sleep(WAIT_SECONDS)
        return True

    return pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{name}-role", wait)])


def unknown_yet(errors: list[str]) -> bool:
    """Of what Azure said so far, the newest first: whether another attempt may go better."""
    return UNKNOWN in errors[0] and len(errors) <= MOST_WAITS
