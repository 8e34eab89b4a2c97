"""What says what a role may do, and how it is read: for all rules about roles."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from ..reading import Finding, Item, finding, of_types, undecidable, unknown_in, values
from .grants import statements

ROLE, INLINE, ATTACHMENT = "aws:iam/role:Role", "aws:iam/rolePolicy:RolePolicy", "aws:iam/rolePolicyAttachment:"


def inlined(found: list[Item]) -> dict[Any, list[Item]]:
    """Policies that stand in roles, by the role's name."""
    inline: dict[Any, list[Item]] = defaultdict(list)
    for item in of_types(found, (INLINE,)):
        inline[item.props.get("role")].append(item)
    return inline


def attached_to(attached: list[Item], role: Item) -> Iterator[Any]:
    """ARNs of policies that attachments give a role."""
    return (item.props.get("policyArn") for item in attached if item.props.get("role") == role.props.get("name"))


def documents(role: Item, inline: dict[Any, list[Item]]) -> Iterator[tuple[Item, str, Any]]:
    """Every policy document that says what a role may do, with where it stands."""
    for document in values(role.props, "inlinePolicies.policy"):
        if document:
            yield role, "inlinePolicies.policy", document
    for item in inline.get(role.props.get("name"), ()):
        yield item, "policy", item.props.get("policy")


def allowed(document: Any) -> Iterator[dict[str, Any]]:
    """Statements that allow something. Raises ValueError."""
    return (statement for statement in statements(document or "{}") if statement.get("Effect") == "Allow")


def judged(
    item: Item, path: str, document: Any, who: str, remedy: str, judge: Callable[[dict[str, Any]], Iterator[Finding]]
) -> Iterator[Finding]:
    """What `judge` finds wrong with each statement that allows something to `who`, and what nobody can judge."""
    if unknown_in(document):
        yield undecidable(item, path)
        return
    try:
        found = list(allowed(document))
    except ValueError as error:
        yield finding(item, path, f"{path} can't be read: {error}", "Make it with json.dumps")
        return
    for statement in found:
        if "NotAction" in statement or "NotResource" in statement:
            yield finding(item, path, f"{who} may do all but what a statement names", remedy)
        else:
            yield from judge(statement)


def asks(statement: dict[str, Any], operator: str, key: str, value: str) -> bool:
    """Whether a statement holds only under this condition."""
    conditions = (statement.get("Condition") or {}).get(operator)
    return isinstance(conditions, dict) and listed(conditions.get(key)) == [value]


def listed(value: Any) -> list[str]:
    """IAM takes one text for a list of one."""
    return [str(entry) for entry in (value if isinstance(value, list) else [value])]
