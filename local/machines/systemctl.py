"""The `systemctl` of local machines: the part of the real one's command line that bundles and people need.

A booting machine calls it again and again, and most of the time would go into imports: it has the fewest that do.
"""

import _socket
import sys

SOCKET = "/run/landbridge-init.sock"
SUFFIXES = (".service", ".mount", ".automount", ".timer", ".target")

MANY = 1000
# How many units a verb takes at least and at most.
VERBS = {
    "daemon-reload": (0, 0),
    "start": (1, MANY),
    "stop": (1, MANY),
    "restart": (1, MANY),
    "is-active": (1, MANY),
    "is-failed": (1, MANY),
    "status": (0, MANY),
    "list-units": (0, MANY),
    "reset-failed": (0, MANY),
    "enable": (1, MANY),
    "disable": (1, MANY),
}
OPTIONS = {"--no-block": "", "--now": "", "--quiet": "", "-q": "", "--no-pager": ""}
# What goes with a verb by --now.
NOW = {"enable": "start", "disable": "stop"}
USAGE = f"systemctl [{'|'.join(option for option in OPTIONS)}] {'|'.join(VERBS)} [UNIT…]"


def main(arguments: list[str] | None = None) -> int:
    """Asks init, prints its answer, and gives the real systemctl's exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    options = {argument for argument in given if argument.startswith("-")}
    words = [argument for argument in given if not argument.startswith("-")]
    fewest, most = VERBS.get(words[0] if words else "", (1, 0))
    if options - set(OPTIONS) or not fewest <= len(words) - 1 <= most:
        sys.stderr.write(f"Local machines honour: {USAGE}\n")
        return 2
    units = [name if name.endswith(SUFFIXES) else f"{name}.service" for name in words[1:]]
    try:
        code, out, err = ask(words[0], units, wait="--no-block" not in options)
        if "--now" in options and words[0] in NOW:
            code, out, more = ask(NOW[words[0]], units, wait="--no-block" not in options)
            err = "\n".join(filter(None, (err, more)))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"init does not answer on {SOCKET}: {error}\n")
        return 1
    if out and not options & {"--quiet", "-q"}:
        sys.stdout.write(out + "\n")
    if err:
        sys.stderr.write(err + "\n")
    return code


def ask(verb: str, units: list[str], path: str = SOCKET, *, wait: bool) -> tuple[int, str, str]:
    """The exit status, what is to be printed, and what is wrong. Raises OSError, ValueError."""
    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        line.connect(path)
        line.sendall("\0".join([verb, "wait" if wait else "", *units]).encode())
        chunks = []
        while chunk := line.recv(65536):
            chunks.append(chunk)
    finally:
        line.close()
    code, out, err = b"".join(chunks).decode().split("\0")
    return int(code), out, err


if __name__ == "__main__":
    sys.exit(main())
