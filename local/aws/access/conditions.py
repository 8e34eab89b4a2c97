"""The Condition of a policy's statement, as "IAM JSON policy elements: Condition operators" has it.

An operator or a key that the local cloud knows nothing of makes the statement undecidable: it allows nothing then,
and what it denies stays denied.
"""

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

Context = Mapping[str, Sequence[str]]

# Keys that the local cloud fills in wherever a call has them. A call without one truly lacks it.
KNOWN = re.compile(
    r"aws:(SecureTransport|PrincipalArn|PrincipalAccount|PrincipalType|PrincipalTag/.+|userid|RequestedRegion"
    r"|CurrentTime|EpochTime|ViaAWSService|PrincipalIsAWSService|CalledVia|SourceArn|SourceAccount"
    r"|ResourceTag/.+|ResourceAccount|MultiFactorAuthPresent)"
    r"|ec2:(ResourceTag/.+|Region|SourceInstanceARN)|(autoscaling|ssm):ResourceTag/.+"
    r"|secretsmanager:(ResourceTag/.+|SecretId)"
    r"|s3:(x-amz-[a-z-]+|prefix|delimiter|max-keys|VersionId|authType|signatureversion)"
    r"|aws:RequestTag/.+|sts:SourceIdentity"
    r"|kms:(ViaService|CallerAccount|GrantIsForAWSResource|ResourceAliases)",
    re.IGNORECASE,
)
VARIABLE = re.compile(r"\$\{([^}]*)\}")


class Undecidable(Exception):
    """The local cloud cannot tell whether this condition holds."""


def holds(condition: Mapping[str, Mapping[str, Any]], context: Context) -> bool:
    """Whether every line of a Condition holds. Raises Undecidable."""
    return all(
        _line(operator, key, _several(wanted), context)
        for operator, lines in condition.items()
        for key, wanted in lines.items()
    )


def put_in(text: str, context: Context) -> str:
    """A pattern with its policy variables (`${aws:…}`) put in, as literals. Raises Undecidable for those without."""

    def put(found: re.Match[str]) -> str:
        if found[1] in ("*", "?", "$"):
            return f"[{found[1]}]"
        name, _, default = found[1].partition(",")
        values = context.get(name.strip().lower())
        if not values and not default:
            raise Undecidable(f"the variable {found[0]} has no value")
        return re.sub(r"[*?\[]", r"[\g<0>]", values[0] if values else default.strip().strip("'"))

    return VARIABLE.sub(put, text)


def matches(pattern: str, text: str, *, any_case: bool = False) -> bool:
    """IAM's wildcards: `*` and `?`; `[*]` is what `put_in` makes of a literal one."""
    parts = re.split(r"(\[[*?$\[]\]|\*|\?)", pattern)
    meaning = {"*": ".*", "?": "."}
    made = "".join(meaning.get(part, re.escape(part[1] if re.fullmatch(r"\[.\]", part) else part)) for part in parts)
    return re.fullmatch(made, text, (re.IGNORECASE if any_case else 0) | re.DOTALL) is not None


def _line(operator: str, key: str, wanted: list[str], context: Context) -> bool:
    # Claims of a token (ISSUER:sub) are known where there is one.
    if not KNOWN.fullmatch(key) and key.lower() not in context:
        raise Undecidable(f"the local cloud does not know the condition key {key}")
    found = context.get(key.lower())
    if operator == "Null":
        return str(not found).lower() in [value.lower() for value in wanted]
    quantifier, _, bare = operator.rpartition(":")
    optional, bare = bare.endswith("IfExists"), bare.removesuffix("IfExists")
    if bare not in OPERATORS or quantifier not in ("", "ForAllValues", "ForAnyValue"):
        raise Undecidable(f"the local cloud does not know the condition operator {operator}")
    negated, test = OPERATORS[bare]
    if not found:  # a key that is not there fits a negated operator, and ForAllValues
        return optional or (negated and quantifier != "ForAnyValue") or quantifier == "ForAllValues"
    wanted = [put_in(value, context) for value in wanted]
    fits = [any(test(value, one) for value in wanted) != negated for one in found]
    return any(fits) if quantifier == "ForAnyValue" else all(fits)


def _several(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [str(one).lower() if isinstance(one, bool) else str(one) for one in values]


def _plain(text: str) -> str:
    return re.sub(r"\[([*?$\[])\]", r"\1", text)


def _moment(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _ordered(read: Callable[[str], float], how: str) -> Callable[[str, str], bool]:
    def test(wanted: str, found: str) -> bool:
        try:
            left, right = read(found), read(wanted)
        except ValueError:
            raise Undecidable(f"{wanted} or {found} is no value for {how}") from None
        return {
            "Equals": left == right,
            "LessThan": left < right,
            "LessThanEquals": left <= right,
            "GreaterThan": left > right,
            "GreaterThanEquals": left >= right,
        }[how]

    return test


def _address(wanted: str, found: str) -> bool:
    try:
        return ipaddress.ip_address(found) in ipaddress.ip_network(wanted)
    except ValueError:
        raise Undecidable(f"{wanted} or {found} is no address") from None


def _arn(wanted: str, found: str) -> bool:
    """Each "of the six colon-delimited components of the ARN is checked separately"."""
    left, right = wanted.split(":", 5), found.split(":", 5)
    return len(left) == len(right) and all(map(matches, left, right))


# Operator → whether it is a negated one, and the test of a wanted value against one that was found.
OPERATORS: dict[str, tuple[bool, Callable[[str, str], bool]]] = {
    "StringEquals": (False, lambda wanted, found: _plain(wanted) == found),
    "StringNotEquals": (True, lambda wanted, found: _plain(wanted) == found),
    "StringEqualsIgnoreCase": (False, lambda wanted, found: _plain(wanted).lower() == found.lower()),
    "StringNotEqualsIgnoreCase": (True, lambda wanted, found: _plain(wanted).lower() == found.lower()),
    "StringLike": (False, matches),
    "StringNotLike": (True, matches),
    "Bool": (False, lambda wanted, found: wanted.lower() == found.lower()),
    "IpAddress": (False, _address),
    "NotIpAddress": (True, _address),
    **dict.fromkeys(("ArnEquals", "ArnLike"), (False, _arn)),
    **dict.fromkeys(("ArnNotEquals", "ArnNotLike"), (True, _arn)),
    **{
        f"{kind}{how}": (False, _ordered(read, how))
        for kind, read in (("Numeric", float), ("Date", _moment))
        for how in ("Equals", "LessThan", "LessThanEquals", "GreaterThan", "GreaterThanEquals")
    },
    "NumericNotEquals": (True, _ordered(float, "Equals")),
    "DateNotEquals": (True, _ordered(_moment, "Equals")),
}
