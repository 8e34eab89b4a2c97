"""What policies say to one action on one resource, as "Policy evaluation logic" in IAM's guide has it."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .conditions import Context, Undecidable, holds, matches, put_in


class Caller(NamedTuple):
    """Who asks. `names` are the principals that name exactly this caller; nobody has none.

    `federated` is the provider that vouches for a caller who has no name in the account.
    """

    account: str
    names: frozenset[str] = frozenset()
    service: str | None = None
    federated: str | None = None

    @property
    def anonymous(self) -> bool:
        return not (self.names or self.service or self.federated)


class Request(NamedTuple):
    """One action on one resource, with the context's keys in lower case."""

    action: str
    resource: str
    context: Context


class Verdict(NamedTuple):
    """What a set of policies says: what it denies, it denies to all; `named` is for this very caller."""

    denied: bool = False
    allowed: bool = False
    named: bool = False


def verdict(policies: Iterable[str], request: Request, caller: Caller | None = None) -> Verdict:
    """What the texts say. `caller` is given for policies of resources, whose statements name principals."""
    denied = allowed = named = False
    for statement in _statements(policies):
        effect = statement.get("Effect")
        try:
            who = _whom(statement, caller) if caller else "named"
            concerned = (
                bool(who) and _concerns(statement, request) and holds(statement.get("Condition", {}), request.context)
            )
        except Undecidable:
            who, concerned = "named", effect == "Deny"
        if concerned and effect == "Deny":
            denied = True
        elif concerned and effect == "Allow":
            allowed, named = True, named or who == "named"
    return Verdict(denied, allowed, named)


def _statements(policies: Iterable[str]) -> Iterator[dict[str, Any]]:
    for text in policies:
        given = json.loads(text).get("Statement", [])
        yield from given if isinstance(given, list) else [given]


def _whom(statement: dict[str, Any], caller: Caller) -> str:
    """How a statement is about the caller: by name ("named"), as one of its account ("account"), not at all ("")."""
    if "NotPrincipal" in statement:
        raise Undecidable("NotPrincipal is not honoured")
    principal = statement.get("Principal", {})
    if caller.federated:
        named = principal.get("Federated", []) if isinstance(principal, dict) else []
        return "named" if caller.federated in _list(named) else ""
    if principal == "*":
        return "named"
    if caller.service:
        return "named" if caller.service in _list(principal.get("Service", [])) else ""
    given = _list(principal.get("AWS", []))
    if "*" in given or caller.names & set(given):
        return "named"
    whole = {caller.account, f"arn:aws:iam::{caller.account}:root"}
    return "account" if not caller.anonymous and whole & set(given) else ""


def _concerns(statement: dict[str, Any], request: Request) -> bool:
    actions = _list(statement.get("Action", statement.get("NotAction", [])))
    fits = any(matches(pattern, request.action, any_case=True) for pattern in actions)
    if fits == ("NotAction" in statement):
        return False
    if "Resource" not in statement and "NotResource" not in statement:  # a trust policy
        return True
    patterns = [
        put_in(text, request.context) for text in _list(statement.get("Resource", statement.get("NotResource")))
    ]
    return any(matches(pattern, request.resource) for pattern in patterns) != ("NotResource" in statement)


def _list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or [])
