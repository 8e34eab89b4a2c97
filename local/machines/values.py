"""The values of unit files: each function takes the text after `=` and raises ValueError with what would be right."""

import re
import resource
import signal
from collections.abc import Callable, Iterator

ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "s": " ",
    "\\": "\\",
    '"': '"',
    "'": "'",
}
BOOLEANS = dict.fromkeys(("1", "yes", "y", "true", "t", "on"), True) | dict.fromkeys(
    ("0", "no", "n", "false", "f", "off"), False
)
SPANS = {
    **dict.fromkeys(("usec", "us", "µs"), 1e-6),
    **dict.fromkeys(("msec", "ms"), 1e-3),
    **dict.fromkeys(("seconds", "second", "sec", "s", ""), 1.0),
    **dict.fromkeys(("minutes", "minute", "min", "m"), 60.0),
    **dict.fromkeys(("hours", "hour", "hr", "h"), 3600.0),
    **dict.fromkeys(("days", "day", "d"), 86400.0),
    **dict.fromkeys(("weeks", "week", "w"), 604800.0),
}
SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
INFINITE = float("inf")


def text(value: str) -> str:
    return value


def boolean(value: str) -> bool:
    if value.lower() not in BOOLEANS:
        raise ValueError("expected yes or no")
    return BOOLEANS[value.lower()]


def span(value: str) -> float:
    """Seconds; infinite for `infinity`."""
    if value == "infinity":
        return INFINITE
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([a-zµ]*)\s*", value)
    if "".join(n + u for n, u in parts) != re.sub(r"\s", "", value) or not parts or {u for _, u in parts} - set(SPANS):
        raise ValueError("expected a time span such as 5, 100ms, 1min 30s or infinity")
    return sum(float(number) * SPANS[unit] for number, unit in parts)


def integer(low: int, high: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        if not re.fullmatch(r"[+-]?\d+", value) or not low <= int(value) <= high:
            raise ValueError(f"expected a whole number from {low} to {high}")
        return int(value)

    return parse


def choice(*allowed: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value not in allowed:
            raise ValueError(f"expected one of {', '.join(allowed)}")
        return value

    return parse


def signal_number(value: str) -> signal.Signals:
    with_prefix = value if value.startswith("SIG") else f"SIG{value}"
    if with_prefix in signal.Signals.__members__:
        return signal.Signals[with_prefix]
    if value.isdecimal() and int(value) in set(signal.Signals):
        return signal.Signals(int(value))
    raise ValueError("expected a signal such as SIGTERM")


def statuses(value: str) -> list[int]:
    """Exit statuses as they are, signals as negative numbers."""
    found = []
    for word in words(value):
        if word.isdecimal() and int(word) < 256:
            found.append(int(word))
        else:
            found.append(-signal_number(word))
    return found


def limit(value: str) -> tuple[int, int]:
    """A soft and a hard limit of resources."""
    sides = value.split(":")
    if len(sides) > 2:
        raise ValueError("expected a limit, or soft:hard")
    soft, hard = size(sides[0]), size(sides[-1])
    if hard != resource.RLIM_INFINITY and not 0 <= soft <= hard:
        raise ValueError("the soft limit is above the hard one")
    return soft, hard


def size(value: str) -> int:
    if value == "infinity":
        return resource.RLIM_INFINITY
    match = re.fullmatch(r"(\d+)([KMGT]?)", value)
    if not match:
        raise ValueError("expected a number, with K, M, G or T, or infinity")
    return int(match[1]) * SIZES[match[2]]


def words(value: str, *, escapes: bool = True) -> list[str]:
    """Splits as systemd does: quotes of both kinds, C escapes, which names of units keep as they are."""
    return list(split(value, escapes=escapes))


def split(value: str, *, escapes: bool) -> Iterator[str]:
    at, end = 0, len(value)
    word: str | None = None
    quote = ""
    while at < end:
        letter = value[at]
        if escapes and letter == "\\":
            piece, at = escape(value, at + 1)
            word = (word or "") + piece
            continue
        at += 1
        if quote and letter == quote:
            quote = ""
        elif not quote and letter in "\"'":
            quote, word = letter, word or ""
        elif not quote and letter.isspace():
            if word is not None:
                yield word
            word = None
        else:
            word = (word or "") + letter
    if quote:
        raise ValueError(f"a quote {quote} is not closed")
    if word is not None:
        yield word


def escape(value: str, at: int) -> tuple[str, int]:
    """What the escape at `at`, behind its backslash, stands for, and where the text goes on."""
    if at < len(value) and value[at] in ESCAPES:
        return ESCAPES[value[at]], at + 1
    if match := re.compile(r"x([0-9a-fA-F]{2})|([0-7]{3})").match(value, at):
        return chr(int(match[1], 16) if match[1] else int(match[2], 8)), match.end()
    raise ValueError(f"unknown escape \\{value[at : at + 1]}")


def assignments(value: str) -> list[tuple[str, str]]:
    found = []
    for word in words(value):
        name, equals, content = word.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise ValueError(f"expected NAME=value, not {word}")
        found.append((name, content))
    return found


def absolute(value: str) -> str:
    if not value.startswith("/") or ".." in value.split("/"):
        raise ValueError("expected an absolute path without ..")
    return value.rstrip("/") or "/"


def absolute_paths(value: str) -> list[str]:
    return [absolute(word) for word in words(value)]


def optional_path(value: str) -> tuple[str, bool]:
    """A path, and whether it may be missing, which a `-` before it says."""
    return absolute(value.removeprefix("-")), value.startswith("-")


def relative_paths(value: str) -> list[str]:
    found = words(value)
    for word in found:
        if word.startswith("/") or ".." in word.split("/") or ":" in word:
            raise ValueError("expected paths under /var/lib, without .. and without :")
    return found


def condition(value: str) -> tuple[str, bool, bool]:
    """A path, whether it must be missing (`!`), and whether it is one of several of which one is enough (`|`)."""
    match = re.fullmatch(r"(\|?)\s*(!?)\s*(.*)", value)
    assert match
    return absolute(match[3]), bool(match[2]), bool(match[1])


def output(value: str) -> tuple[str, str]:
    """Where a stream leads: journal, inherit or null; or a file, with how it is opened."""
    kind, colon, path = value.partition(":")
    if colon and kind in ("file", "append", "truncate"):
        return kind, absolute(path)
    return choice("journal", "inherit", "null")(value) if not colon else bad_output(), ""


def bad_output() -> str:
    raise ValueError("expected journal, inherit, null, file:PATH, append:PATH or truncate:PATH")
