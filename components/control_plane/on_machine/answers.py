"""Waits until servers answer, before something starts that would ask them in vain and then wait far too long itself.

answers.py [--with PATH] SECONDS AUTHORITY CERTIFICATE URL,URL… …   CERTIFICATE is a path without .crt and .key

Of each list one server has to answer with 200. After SECONDS the unit starts all the same: it may know better. With
`--with`, nothing is waited for unless PATH is there.
"""

import argparse
import http.client
import ssl
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from machine import say

CALL_SECONDS, PAUSE_SECONDS = 2.0, 0.2


def answers(url: str, context: ssl.SSLContext) -> bool:
    where = urlsplit(url)
    line = http.client.HTTPSConnection(where.hostname or "", where.port or 443, timeout=CALL_SECONDS, context=context)
    try:
        line.request("GET", where.path)
        return line.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        line.close()


def silent(lists: Sequence[str], context: ssl.SSLContext) -> list[str]:
    return [urls for urls in lists if not any(answers(url, context) for url in urls.split(","))]


def main() -> None:
    parser = argparse.ArgumentParser(description="Waits until of each list one server answers with 200.")
    parser.add_argument("--with", dest="path", type=Path, help="waits only if this is there")
    parser.add_argument("seconds", type=float)
    parser.add_argument("authority")
    parser.add_argument("certificate")
    parser.add_argument("urls", nargs="+")
    told = parser.parse_args()
    if told.path and not told.path.exists():
        return
    context = ssl.create_default_context(cafile=told.authority)
    context.load_cert_chain(f"{told.certificate}.crt", f"{told.certificate}.key")
    end = time.monotonic() + told.seconds
    while lists := silent(told.urls, context):
        if time.monotonic() > end:
            say(f"no answer in {told.seconds:g} s: {' '.join(lists)}")
            return
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    main()
