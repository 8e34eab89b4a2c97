"""The `systemctl` of local machines: the part of the real one's command line that bundles and people need."""

import json
import socket
import sys
from typing import Any, NamedTuple

SOCKET = "/run/landbridge-init.sock"
SUFFIXES = (".service", ".mount", ".automount", ".timer", ".target")


class Verb(NamedTuple):
    """How many units a verb takes at least and at most."""

    fewest: int
    most: int


MANY = 1000
VERBS = {
    "daemon-reload": Verb(0, 0),
    "start": Verb(1, MANY),
    "stop": Verb(1, MANY),
    "restart": Verb(1, MANY),
    "is-active": Verb(1, MANY),
    "is-failed": Verb(1, MANY),
    "status": Verb(0, MANY),
    "list-units": Verb(0, MANY),
    "reset-failed": Verb(0, MANY),
    "enable": Verb(1, MANY),
}
OPTIONS = {"--no-block": "", "--quiet": "", "-q": "", "--no-pager": ""}
USAGE = f"systemctl [{'|'.join(option for option in OPTIONS)}] {'|'.join(VERBS)} [UNIT…]"


def main(arguments: list[str] | None = None) -> int:
    """Asks init, prints its answer, and gives the real systemctl's exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    options = {argument for argument in given if argument.startswith("-")}
    words = [argument for argument in given if not argument.startswith("-")]
    verb = VERBS.get(words[0]) if words else None
    if options - set(OPTIONS) or verb is None or not verb.fewest <= len(words) - 1 <= verb.most:
        sys.stderr.write(f"Local machines honour: {USAGE}\n")
        return 2
    units = [name if name.endswith(SUFFIXES) else f"{name}.service" for name in words[1:]]
    try:
        answer = ask({"verb": words[0], "units": units, "wait": "--no-block" not in options})
    except (OSError, ValueError) as error:
        sys.stderr.write(f"init does not answer on {SOCKET}: {error}\n")
        return 1
    if answer["out"] and not options & {"--quiet", "-q"}:
        sys.stdout.write(answer["out"] + "\n")
    if answer["err"]:
        sys.stderr.write(answer["err"] + "\n")
    return int(answer["code"])


def ask(request: dict[str, object], path: str = SOCKET) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(path)
        connection.sendall(json.dumps(request).encode())
        chunks = []
        while chunk := connection.recv(65536):
            chunks.append(chunk)
    answer: dict[str, Any] = json.loads(b"".join(chunks))
    return answer


if __name__ == "__main__":
    sys.exit(main())
