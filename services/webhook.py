"""Owners' webhooks, of the form that Slack's incoming ones have: a POST of {"text": …}. Their addresses are secrets."""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

TIMEOUT_SECONDS = 5
# Of Slack's mrkdwn (its page "Formatting text for app surfaces").
ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Stays(urllib.request.HTTPRedirectHandler):
    """What a webhook is told goes to nobody else."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


OPENER = urllib.request.build_opener(Stays())


def address(folder: Path, team: str) -> str | None:
    """Of the Secret as Kubernetes lays it there: a file a team. None for a team without, and for what is no address."""
    try:
        found = (folder / team).read_text().strip()
    except OSError:
        return None
    parts = urllib.parse.urlsplit(found)
    if parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)):
        return found
    complain(team, "its address is no https://…")
    return None


def post(url: str, team: str, text: str) -> bool:
    """Whether it was taken."""
    for plain, escaped in ESCAPED.items():
        text = text.replace(plain, escaped)
    body = json.dumps({"text": text}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # noqa: S310
    try:
        with OPENER.open(request, timeout=TIMEOUT_SECONDS):
            return True
    except urllib.error.HTTPError as error:
        complain(team, f"answers {error.code}")
    except (OSError, ValueError) as error:
        # The address itself is a secret: an error's own words may have it.
        complain(team, type(getattr(error, "reason", error)).__name__)
    return False


def complain(team: str, why: str) -> None:
    sys.stderr.write(f"webhook of {team}: {why}\n")
    sys.stderr.flush()
