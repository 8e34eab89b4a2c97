"""Conditions of role assignments, version 2.0: what a principal may do only to some blobs, such as those below a path.

"Azure role assignment condition format and syntax". An attribute, a function or an operator that the local Azure does
not know is refused when the assignment is written, so that none is ever passed over.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

# Attributes that the blobs' service fills in where a call has them ("Actions and attributes for Azure Blob Storage").
_CONTAINERS = "Microsoft.Storage/storageAccounts/blobServices/containers"
ATTRIBUTES = frozenset(
    name.lower()
    for name in (
        *("@Resource[Microsoft.Storage/storageAccounts:name]", f"@Resource[{_CONTAINERS}:name]"),
        *(f"@Resource[{_CONTAINERS}/blobs:path]", f"@Request[{_CONTAINERS}/blobs:prefix]"),
    )
)
TOKEN = re.compile(
    r"\s*(?:(?P<mark>&&|\|\||[!()])|(?P<function>ActionMatches|SubOperationMatches)\s*\{\s*'(?P<argument>[^']*)'\s*\}"
    r"|(?P<exists>(?:NOT\s+)?Exists)\s+(?P<of>@\w+\[[^\]]+\])|(?P<attribute>@\w+\[[^\]]+\])"
    r"|'(?P<text>(?:[^'\\]|\\.)*)'|\{(?P<set>[^}]*)\}|(?P<word>[A-Za-z:]+))",
    re.IGNORECASE,
)
TEXT = re.compile(r"'((?:[^'\\]|\\.)*)'")
TEXTS = re.compile(rf"\s*{TEXT.pattern}\s*(?:,\s*{TEXT.pattern}\s*)*")
# Of those that Azure has, the one that the blobs' service tells.
PARTS = frozenset(("blob.list",))
Test = Callable[["Request"], bool]


class Request(NamedTuple):
    """`attributes`: names in small letters; what a call has not is not in it. `part` is the suboperation, if any."""

    action: str
    attributes: Mapping[str, str]
    part: str = ""


class BadCondition(Exception):
    """It is no condition, or one of which the local Azure knows some part not."""


def attribute(source: str, name: str) -> str:
    """A key of `Asked.attributes`, such as that of "Resource" and "containers/blobs:path"."""
    start = _CONTAINERS.removesuffix("containers")
    return f"@{source}[{start}{name}]".lower() if name.startswith("containers") else f"@{source}[{name}]".lower()


def parsed(text: str) -> Test:
    """Raises BadCondition."""
    reader = _Reader(text)
    test = reader.any_of()
    if reader.now is not None:
        raise BadCondition(f"it goes on where it should end: {reader.rest()}")
    return test


def fits(pattern: str, value: str, *, any_case: bool = False) -> bool:
    """StringLike: `*` for any characters, `?` for one, a backslash before either for itself."""
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    meaning = {"*": ".*", "?": "."}
    made = "".join(meaning.get(part, re.escape(part[-1])) for part in parts)
    return re.fullmatch(made, value, (re.IGNORECASE if any_case else 0) | re.DOTALL) is not None


OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "stringequals": lambda value, wanted: value == wanted,
    "stringequalsignorecase": lambda value, wanted: value.lower() == wanted.lower(),
    "stringlike": lambda value, wanted: fits(wanted, value),
    "stringstartswith": lambda value, wanted: value.startswith(wanted),
    "stringnotequals": lambda value, wanted: value != wanted,
    "stringnotlike": lambda value, wanted: not fits(wanted, value),
    "stringnotstartswith": lambda value, wanted: not value.startswith(wanted),
}
ANY = "foranyofanyvalues:"


class _Reader:
    """A recursive descent: any_of is OR, all_of is AND, one is NOT, parentheses or a single test."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.now: re.Match[str] | None = None
        self._next()

    def _next(self) -> None:
        if not self.text[self.at :].strip():
            self.now = None
            return
        self.now = TOKEN.match(self.text, self.at)
        if self.now is None:
            raise BadCondition(f"what is this: {self.rest()}")
        self.at = self.now.end()

    def rest(self) -> str:
        start = self.now.start() if self.now else self.at
        return self.text[start:].strip()[:60]

    def _takes(self, *words: str) -> bool:
        if self.now and (self.now["mark"] or self.now["word"] or "").upper() in words:
            self._next()
            return True
        return False

    def any_of(self) -> Test:
        tests = [self._all_of()]
        while self._takes("OR", "||"):
            tests.append(self._all_of())
        return lambda request: any(test(request) for test in tests)

    def _all_of(self) -> Test:
        tests = [self._one()]
        while self._takes("AND", "&&"):
            tests.append(self._one())
        return lambda request: all(test(request) for test in tests)

    def _one(self) -> Test:
        if self._takes("!", "NOT"):
            inner = self._one()
            return lambda request: not inner(request)
        if self._takes("("):
            inner = self.any_of()
            if not self._takes(")"):
                raise BadCondition(f"a parenthesis is not closed before: {self.rest()}")
            return inner
        found = self.now
        if found is None:
            raise BadCondition("it ends too early")
        self._next()
        if found["function"]:
            return _function(found["function"].lower(), found["argument"])
        if found["exists"]:
            name, there = _known(found["of"]), not found["exists"].lower().startswith("not")
            return lambda request: (name in request.attributes) == there
        if found["attribute"]:
            return self._comparison(_known(found["attribute"]))
        raise BadCondition(f"no test begins with {found[0].strip()}")

    def _comparison(self, name: str) -> Test:
        operator, value = self.now, None
        if operator and operator["word"]:
            self._next()
            value = self.now
        if operator is None or value is None or (value["text"] is None and value["set"] is None):
            raise BadCondition(f"{name} is compared with a text or {{…}} by an operator")
        self._next()
        spelled = operator["word"].lower()
        bare, several = spelled.removeprefix(ANY), value["set"] is not None
        if bare not in OPERATORS or several != spelled.startswith(ANY):
            raise BadCondition(f"the local Azure does not know the operator {operator['word']} here")
        if several and not TEXTS.fullmatch(value["set"]):
            raise BadCondition(f"{{{value['set']}}} is no set of texts with commas between them")
        wanted = TEXT.findall(value["set"]) if several else [value["text"]]
        test = OPERATORS[bare]
        return lambda request: (
            name in request.attributes and any(test(request.attributes[name], _plain(bare, one)) for one in wanted)
        )


def _plain(operator: str, text: str) -> str:
    """Backslashes stay where a pattern reads them itself."""
    return text if operator.endswith("like") else re.sub(r"\\(.)", r"\1", text)


def _known(name: str) -> str:
    if name.lower() not in ATTRIBUTES:
        raise BadCondition(f"the local Azure does not know the attribute {name}")
    return name.lower()


def _function(name: str, argument: Any) -> Test:
    if name == "actionmatches":
        return lambda request: action_fits(argument, request.action)
    if argument.lower() not in PARTS:
        raise BadCondition(f"the local Azure does not know the suboperation {argument}")
    return lambda request: request.part.lower() == argument.lower()


def action_fits(pattern: str, action: str) -> bool:
    """`*` is for any characters, and `/*/` for one slash, too: a/*/read has a/read."""
    made = re.escape(pattern).replace(r"/\*/", r"(?:/.*)?/").replace(r"\*", ".*")
    return re.fullmatch(made, action, re.IGNORECASE) is not None
