"""`python`, as Pulumi's language host calls it: hands over to the run's interpreter, and ends as what that forked did.

Its first argument is the real Python, which does it where no interpreter waits: run as `python -IS client.py REAL …`,
from as little of the standard library as will do, since every millisecond here is one of each program.
"""

import json
import os
import socket
import sys

ADDRESS = "LANDBRIDGE_INTERPRETER"
# Options that server.run knows; what has another goes to the real Python, as --version does.
KNOWN = {"-u", "-c", "-m"}


def main(real: str, arguments: list[str]) -> None:
    with socket.socket(socket.AF_UNIX) as there:
        try:
            if not arguments or (arguments[0].startswith("-") and arguments[0] not in KNOWN):
                raise KeyError(arguments)
            there.connect("\0" + os.environ[ADDRESS])
        except (KeyError, OSError):
            os.execv(real, [real, *arguments])  # noqa: S606
        request = json.dumps([arguments, dict(os.environ), os.getcwd()]).encode()  # noqa: PTH109
        socket.send_fds(there, [len(request).to_bytes(8, "big")], [0, 1, 2])
        there.sendall(request)
        code = there.recv(1)
    # Without a code it was killed, or its interpreter was.
    sys.exit(code[0] if code else 137)


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2:])
    except KeyboardInterrupt:  # so the engine ends a program whose run has failed; what was forked ends with this
        sys.exit(130)
