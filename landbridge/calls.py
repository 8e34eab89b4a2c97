"""What a command calls, told as it happens: programs, and requests to clouds and clusters, with the seconds each took.

For `-v`. Of a request its method, place and status are told, and of AWS the call's name: no other header, and no body.
It hooks in where all libraries pass, subprocess and http.client, and only while someone wants to know.
"""

import functools
import http.client
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

from landbridge import redaction

# Levels: what was called; and besides, that it begins, and what the engine prints.
CALLS, DETAIL = 1, 2
# Of AWS's Authorization header: region and service of who signs, and nothing of who that is.
HEADERS = {
    "authorization": re.compile(r"/\d{8}/([a-z0-9-]+)/([a-z0-9-]+)/aws4_request"),
    "x-amz-target": re.compile(r"\.(\w+)$"),
}
ACTION = re.compile(r"(?:^|&)Action=(\w+)")
TOLD = "_landbridge_told"
Write = Callable[[str], Any]
# Whose attribute, its name, and what it is meanwhile.
Hook = tuple[Any, str, Any]


class Call(NamedTuple):
    """`begun` is in seconds of the monotonic clock."""

    what: str
    begun: float
    aws: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        return " ".join((self.what, *self.aws))


class Teller:
    """Writes a line for each call."""

    def __init__(self, level: int, write: Write) -> None:
        self.level, self.write = level, write

    def line(self, text: str) -> None:
        self.write(f"{datetime.now().astimezone():%H:%M:%S} {text}\n")

    def begin(self, what: str) -> Call:
        if self.level >= DETAIL:
            self.line(f"  begins  {what}")
        return Call(what, time.monotonic())

    def end(self, call: Call, how: str = "") -> None:
        self.line(f"{time.monotonic() - call.begun:6.2f} s  {call.said}{how and f': {how}'}")


_teller: Teller | None = None


@contextmanager
def told(level: int, write: Write | None = None) -> Iterator[None]:
    """Tells of all calls of this process while the body runs; of none at level 0, and once if it is told already."""
    global _teller
    if not level or _teller:
        yield
        return
    _teller = Teller(level, write or to_stderr)
    hooks = [*programs(_teller), *requests(_teller)]
    before = [(owner, name, vars(owner).get(name)) for owner, name, _ in hooks]
    for owner, name, hook in hooks:
        setattr(owner, name, hook)
    try:
        yield
    finally:
        for owner, name, old in before:
            if old is None:
                delattr(owner, name)
            else:
                setattr(owner, name, old)
        _teller = None


def to_stderr(text: str) -> None:
    """As it is just then: a live table on the terminal takes its place, and keeps lines above itself."""
    sys.stderr.write(text)
    sys.stderr.flush()


def detail(source: str, line: str) -> None:
    """What a program prints that no one else is shown."""
    if _teller and _teller.level >= DETAIL and line.strip():
        _teller.line(f"  {source}  {redaction.text(line)}")


def programs(teller: Teller) -> Iterator[Hook]:
    """Programs that are started, until they have ended; and the one that this process becomes."""
    original = subprocess.Popen.__init__

    @functools.wraps(original)
    def start(self: Any, args: Any, *more: Any, **named: Any) -> None:
        call = teller.begin(redaction.words(argv(args)))
        try:
            original(self, args, *more, **named)
        except OSError as error:
            teller.end(call, error.strerror or "not started")
            raise
        self.__dict__[TOLD] = call

    def ended(self: Any, code: int | None) -> None:
        self.__dict__["returncode"] = code
        if code is not None and (call := self.__dict__.pop(TOLD, None)):
            teller.end(call, f"exit code {code}" if code > 0 else f"ended by signal {-code}" if code else "")

    yield subprocess.Popen, "__init__", start
    # Whichever way a program's end is seen, its code is set.
    yield subprocess.Popen, "returncode", property(lambda self: self.__dict__.get("returncode"), ended)

    def becoming(name: str) -> Callable[..., Any]:
        execute = getattr(os, name)

        def become(file: Any, args: Any, *more: Any) -> Any:
            teller.line(f" becomes  {redaction.words(argv(args))}")
            return execute(file, args, *more)

        return become

    # Not execve: execvpe tries each folder of the PATH by it.
    for name in ("execv", "execvpe"):
        yield os, name, becoming(name)


def argv(args: Any) -> list[str]:
    return [os.fsdecode(args)] if isinstance(args, str | bytes | os.PathLike) else [os.fsdecode(one) for one in args]


def requests(teller: Teller) -> Iterator[Hook]:
    """From a request's first line to the answer's."""
    told_of, of = Requests(teller), http.client.HTTPConnection
    yield of, "putrequest", on_instances(told_of.begin)
    yield of, "putheader", on_instances(told_of.header)
    yield of, "send", on_instances(told_of.body)
    yield of, "getresponse", on_instances(told_of.answer)


def on_instances(hook: Callable[..., Any]) -> Callable[..., Any]:
    """As a method of another class: its instance is the first argument."""

    def method(instance: Any, *given: Any, **named: Any) -> Any:
        return hook(instance, *given, **named)

    return method


class Requests:
    """Each step of a request, as http.client takes it; `line` is the connection, which has one at a time."""

    def __init__(self, teller: Teller) -> None:
        of = http.client.HTTPConnection
        self.teller = teller
        self.put_request, self.put_header, self.send, self.get = of.putrequest, of.putheader, of.send, of.getresponse

    def begin(self, line: Any, method: str, url: str, *more: Any, **named: Any) -> None:
        line.__dict__[TOLD] = self.teller.begin(f"{method} {place(line, url)}")
        self.put_request(line, method, url, *more, **named)

    def header(self, line: Any, name: Any, *values: Any) -> None:
        if pattern := HEADERS.get(latin(name).lower()):
            note(line, pattern, latin(values[0]))
        self.put_header(line, name, *values)

    def body(self, line: Any, data: Any) -> None:
        if isinstance(data, str | bytes):
            note(line, ACTION, latin(data[:2000]))
        with self.failing(line):
            self.send(line, data)

    def answer(self, line: Any) -> http.client.HTTPResponse:
        with self.failing(line):
            found = self.get(line)
        self.end(line, str(found.status))
        return found

    @contextmanager
    def failing(self, line: Any) -> Iterator[None]:
        try:
            yield
        except (OSError, http.client.HTTPException) as error:
            self.end(line, getattr(error, "strerror", None) or type(error).__name__)
            raise

    def end(self, line: Any, how: str) -> None:
        if call := line.__dict__.pop(TOLD, None):
            self.teller.end(call, how)


def note(line: Any, pattern: re.Pattern[str], text: str) -> None:
    """What a pattern finds is told with the request."""
    if (call := line.__dict__.get(TOLD)) and (found := pattern.search(text)):
        line.__dict__[TOLD] = call._replace(aws=(*call.aws, *found.groups()))


def latin(text: Any) -> str:
    return text.decode("latin-1") if isinstance(text, bytes) else str(text)


def place(line: http.client.HTTPConnection, url: str) -> str:
    """Where a request goes, without what is asked for there."""
    if "://" in url:
        return redaction.address(url)
    scheme = "https" if line.default_port == http.client.HTTPS_PORT else "http"
    port = "" if line.port == line.default_port else f":{line.port}"
    return redaction.address(f"{scheme}://{line.host}{port}{url}")
