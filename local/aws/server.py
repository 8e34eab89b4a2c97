"""AWS for the local cloud: moto's server with our extensions. `python -m local.aws.server --port N`."""

import argparse
import logging
import os
import signal
import threading

# moto can tell unknown images from known ones, and does so only when asked.
os.environ["MOTO_ENABLE_AMI_VALIDATION"] = "true"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    options = parser.parse_args()
    # werkzeug writes a line a request, with query strings that can hold secrets.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    from . import own_api
    from .extensions import install

    install()
    application = own_api.application(DomainDispatcherApplication(create_backend_app))
    server = make_server(options.host, options.port, application, threaded=True)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever(poll_interval=0.2)


if __name__ == "__main__":
    main()
