"""AWS for the local cloud: moto's server with our extensions.

`python -m local.aws.server --port N [--home FOLDER [--tls A:PORT]]`. With `--home` it also answers machines, as `front`
has it, with certificates from FOLDER/authority, and all it holds lies in FOLDER/worlds/aws and FOLDER/blocks: what was
answered outlives the process.
"""

import argparse
import gc
import logging
import os
import signal
import threading
import warnings
from pathlib import Path
from typing import Any

from local.worlds import moment, start

if __name__ == "__main__":  # before moto takes the clock by name
    moment.install()
# moto can tell unknown images from known ones, and has AWS's own policies, but only when asked.
os.environ |= {"MOTO_ENABLE_AMI_VALIDATION": "true", "MOTO_IAM_LOAD_MANAGED_POLICIES": "true"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--tls", help="where it answers machines, if not on the address of instance metadata")
    options = parser.parse_args()
    if options.home:
        start.same_order()
    # werkzeug writes a line a request, with query strings that can hold secrets.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    # Every code that a service's model does not list would be a warning.
    warnings.filterwarnings("ignore", "Exception.* does not match an error shape")
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    from local.authority import Authority

    from . import blocks, front, own_api
    from .extensions import install

    install()
    if options.home:
        blocks.keep_in(options.home / "blocks")
    folder = options.home / "worlds/aws" if options.home else None
    world = own_api.stored_in(folder, DomainDispatcherApplication(create_backend_app))
    start.restore(world)
    gc.freeze()  # a full collection would go over all of moto, again and again
    application = own_api.application(world)
    servers: list[Any] = []
    if options.home:
        servers.append(front.serve(application, Authority(options.home / "authority"), options.tls))
    # Last: once this port answers, all of it is there.
    servers.insert(0, make_server(options.host, options.port, application, threaded=True))
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=shut, args=(servers,)).start())
    for server in servers[1:]:
        threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True).start()
    servers[0].serve_forever(poll_interval=0.2)
    world.end()


def shut(servers: list[Any]) -> None:
    for server in servers:
        server.shutdown()


if __name__ == "__main__":
    main()
