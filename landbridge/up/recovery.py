"""After a run was killed: the operations it had begun and whose end nobody saw.

A creation may have happened without its id reaching the state. What the cloud turns out to have is imported, links are
undone, and what cannot be found is dropped from the state with a warning that names what may be left over.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pulumi.automation.events import StepEventStateMetadata

from landbridge.clouds.aws import lookups as aws_lookups
from landbridge.clouds.azure import lookups as azure_lookups
from landbridge.engine.stack import OnEvent, StackEngine
from landbridge.engine.stack_report import SECRET_MARK, STACK_TYPE, of_urn, short

# Types of objects in clusters: their ids follow from their names.
IN_CLUSTER = "kubernetes:"


class Pending(NamedTuple):
    """An operation without an end: creating, updating, deleting or reading. `resource`: as a state tells of it."""

    operation: str
    resource: Mapping[str, Any]

    @property
    def urn(self) -> str:
        return str(self.resource["urn"])

    @property
    def type(self) -> str:
        return of_urn(self.urn)[0]

    @property
    def name(self) -> str:
        return of_urn(self.urn)[1]

    @property
    def id(self) -> str | None:
        """Known if it nearly ended."""
        return self.resource.get("id") or None

    @property
    def inputs(self) -> Mapping[str, Any]:
        return self.resource.get("inputs") or {}


def resources(state: Mapping[str, Any] | None) -> int:
    """How many resources a stack's state lists, as a run counts them: the stack itself and what it only reads apart."""
    found = (state or {}).get("resources") or ()
    return sum(one["type"] != STACK_TYPE and not one.get("external") for one in found)


def pending(state: Mapping[str, Any] | None) -> list[Pending]:
    """The operations left open in a stack's state."""
    return [Pending(one["type"], one["resource"]) for one in (state or {}).get("pending_operations") or ()]


def given_up(creating: Mapping[str, StepEventStateMetadata]) -> list[Pending]:
    """Creations that the engine has given up, by URN: it takes a broken connection for a failure, and they may have
    happened. No state tells of them.
    """
    return [
        Pending(
            "creating",
            {"urn": urn, "custom": True, "type": one.type, "inputs": without_secrets(one.inputs or {})}
            | {"parent": one.parent, "provider": one.provider},
        )
        for urn, one in creating.items()
        if not one.type.startswith("pulumi:")
    ]


def without_secrets(value: Any) -> Any:
    """Inputs as events have them, without secrets: those are blinded, and no state takes them so."""
    if isinstance(value, Mapping):
        return {key: without_secrets(one) for key, one in value.items() if not _is_blind(one)}
    return [without_secrets(one) for one in value if not _is_blind(one)] if isinstance(value, list) else value


def _is_blind(value: Any) -> bool:
    return isinstance(value, Mapping) and SECRET_MARK in value


def notice(operations: Sequence[Pending]) -> list[str]:
    """What a preview says about them."""
    if not operations:
        return []
    names = ", ".join(f"{op.operation} {short(op.type)} {op.name}" for op in operations)
    return [f"an earlier run was killed while {names}; `landbridge up` clears that up first."]


def resume(
    engine: StackEngine,
    operations: Sequence[Pending],
    clients: aws_lookups.ClientOf,
    on_event: OnEvent,
    subscription: str = "",
) -> list[str]:
    """Brings the state in line with the cloud and returns notes for the user. `subscription` is Azure's.

    Raises CommandError.
    """
    notes = [f"{len(operations)} operations had no end. Asking the cloud about them."]
    made = []
    for op in operations:
        if op.operation != "creating":
            continue
        id_ = op.id or find(clients, subscription, op)
        if id_:
            made.append({**op.resource, "id": id_})
            notes.append(f"found {short(op.type)} {op.name} ({id_}): it is kept.")
        elif not findable(op.type) and not aws_lookups.undo(clients, op.type, op.inputs):
            notes.append(orphan(op))
    engine.settle_pending(made)
    engine.refresh(on_event)
    return notes


def find(clients: aws_lookups.ClientOf, subscription: str, op: Pending) -> str | None:
    """What a creation has made, by its id, in the cloud that its type is of."""
    if op.type.startswith(IN_CLUSTER):
        return name_in_cluster(op.inputs)
    if azure_lookups.known(op.type):
        return azure_lookups.find(subscription, op.type, op.inputs)
    return aws_lookups.find(clients, op.type, op.inputs)


def name_in_cluster(inputs: Mapping[str, Any]) -> str | None:
    """The id of an object of a cluster, as its provider forms it. Whether it is there, the refresh finds out."""
    metadata = inputs.get("metadata") or {}
    namespace, name = metadata.get("namespace"), metadata.get("name")
    return (f"{namespace}/{name}" if namespace else str(name)) if name else None


def findable(type_: str) -> bool:
    """Whether "not found" means that nothing was created, or that creating it again does no harm."""
    known = type_ in aws_lookups.TAGGED or type_ in aws_lookups.FINDERS or type_ in aws_lookups.REPEATABLE
    return known or type_.startswith((IN_CLUSTER, *aws_lookups.NOWHERE)) or azure_lookups.known(type_)


def orphan(op: Pending) -> str:
    tags = op.inputs.get("tags") or {}
    found_by = ", ".join(f"{key}={value}" for key, value in sorted(tags.items())) if isinstance(tags, Mapping) else ""
    by = f", tags {found_by}" if found_by else ""
    return f"{op.type} {op.name} may have been created without being recorded: look for it in the cloud{by}."
