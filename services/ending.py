"""How a service that runs until it is told to end is told: SIGTERM from whoever runs it, or Ctrl-C."""

import signal
import threading


def asked() -> threading.Event:
    """Set from then on. For the main thread, which alone may say what signals do."""
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: over.set())
    return over
