"""What a program tells its unit: lines for the log, and that it is up."""

import os
import socket
import sys


def say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def notify(text: str) -> None:
    """As sd_notify(3) does."""
    if place := os.environ.get("NOTIFY_SOCKET"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.sendto(text.encode(), place)
