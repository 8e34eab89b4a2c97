"""Starts a provider for the Pulumi engine: asks the local cloud's warm provider host for a port and prints it.

Standard library only, because the engine starts one of these for each provider resource: 20 ms instead of seconds.
"""

import json
import os
import socket
import sys

HOST, PORT = "127.0.0.1", 5001  # fixed: the local cloud has a network namespace of its own


def main() -> None:
    name = sys.argv[1]
    port = int(os.environ.get("LANDBRIDGE_PROVIDER_PORT", PORT))
    try:
        connection = socket.create_connection((HOST, port), timeout=10)
    except OSError as error:
        sys.exit(
            f"the local cloud is not running here ({error}): use `landbridge up --local`, which starts and enters it"
        )
    connection.settimeout(None)
    stream = connection.makefile("rw", encoding="utf-8")
    # The engine's own address is the last argument: there it takes what the user should read.
    stream.write(json.dumps({"plugin": name, "engine": sys.argv[-1]}) + "\n")
    stream.flush()
    print(json.loads(stream.readline())["port"], flush=True)
    stream.readline()  # the host closes when it ends, the engine ends this process: both end the provider


main()
