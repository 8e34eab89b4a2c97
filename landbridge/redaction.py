"""Words of programs and addresses as they may be shown: without what could be a secret.

By the form of words alone, and rather too much than too little: what is shown is for finding out what takes so long.
"""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit, urlunsplit

HIDDEN = "…"
MOST = 60
# Of options and variables whose values are nobody's business.
SECRET = re.compile(r"token|passw|passphrase|secret|credential|authorization|private|api.?key|signature|\bsig\b", re.I)
NAMED = re.compile(r"(?P<name>-{0,2}[A-Za-z][\w.-]*)=(?P<value>.+)", re.DOTALL)
AFTER = re.compile(r"--?[A-Za-z][\w-]*")
URL = re.compile(r"[a-z][a-z0-9+]*://\S+", re.I)
# A key in PEM, a token in three parts, an access key of AWS, GitHub and the like, and anything long and random.
LOOKS = re.compile(
    r"-----BEGIN[\s\S]*|\beyJ[\w-]+\.[\w-]+\.[\w-]*|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\b(?:gh[a-z]|pul|sk|hf)[-_]\w{16,}"
    r"|\b(?:Bearer|Basic)\s+\S+|(?<![\w/+.-])(?=[\w+/=-]*[0-9])(?=[\w+/=-]*[A-Za-z])[A-Za-z0-9][A-Za-z0-9+/_=-]{39,}(?![\w.-])"
)


def words(argv: Iterable[str]) -> str:
    """A command line in one line, each word no longer than MOST."""
    return " ".join(_words(argv))


def _words(argv: Iterable[str]) -> Iterator[str]:
    value_follows = False
    for word in argv:
        if value_follows and not word.startswith("--"):
            yield HIDDEN
        else:
            yield shortened(text(word))
        value_follows = bool(AFTER.fullmatch(word) and SECRET.search(word))


def text(line: str) -> str:
    """A line or a word, with dots for what could be a secret in it."""
    named = NAMED.fullmatch(line)
    if named and SECRET.search(named["name"]):
        return f"{named['name']}={HIDDEN}"
    return LOOKS.sub(HIDDEN, URL.sub(lambda found: address(found[0]), line))


def address(url: str) -> str:
    """Without whoever logs in, and without what is asked for: signatures and tokens stand there."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return HIDDEN
    who, at, host = parts.netloc.rpartition("@")
    where = f"{HIDDEN}{at}{host}" if who else host
    return urlunsplit((parts.scheme, where, parts.path, "", "")) + (f"?{HIDDEN}" if parts.query else "")


def shortened(word: str) -> str:
    first, newline, _ = word.partition("\n")
    cut = len(first) > MOST
    return f"{first[:MOST]}{HIDDEN}" if cut or newline else first
