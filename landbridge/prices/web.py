"""Answers of price lists by HTTP: read as they come, and from their begin again where a line breaks."""

import time
import urllib.request
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError, MaxRetryError

from fleet.price_book import Kind

# Of a connection, and of what then comes; three times, after breaks of a second and two.
SECONDS, TRIES, PAUSE_SECONDS = 30.0, 3, 1.0
AGAIN = (429, 500, 502, 503, 504)
# US dollars an hour: a price above is of no machine.
MOST_USD = 10_000.0
Found = TypeVar("Found")
# By kind: where from, and US dollars an hour by instance type.
Lists = dict[Kind, tuple[str, dict[str, float]]]
# Bytes that came, of those to come (None: nobody said it).
Hear = Callable[[int, int | None], None]


class AwayError(Exception):
    """Prices could not be fetched. The text says from where and why, with no full stop."""


def read(url: str, take: Callable[[urllib3.BaseHTTPResponse], Found]) -> Found:
    """What `take` makes of the answer. Raises AwayError, also for an answer that `take` raises ValueError for."""
    host = urlsplit(url).netloc
    for number in range(1, TRIES + 1):
        try:
            answer = _pool(url).request(
                "GET",
                url,
                headers={"Accept-Encoding": "gzip"},
                preload_content=False,
                timeout=SECONDS,
                retries=urllib3.Retry(TRIES - 1, backoff_factor=PAUSE_SECONDS, status_forcelist=AGAIN),
            )
            try:
                if answer.status != 200:
                    raise AwayError(f"{host} answers {answer.status} to {url}")
                return take(answer)
            finally:
                answer.close()
        except MaxRetryError as error:
            raise AwayError(f"{host} does not answer ({_why(error)})") from None
        except HTTPError as error:  # it broke in the middle
            if number == TRIES:
                raise AwayError(f"{host} breaks off in the middle of {url} ({_why(error)})") from None
            time.sleep(PAUSE_SECONDS * number)
        except (ValueError, LookupError, TypeError) as error:
            raise AwayError(f"{url} is no price list: {error}") from None
    raise AssertionError("the last try returns or raises")


def _pool(url: str) -> urllib3.PoolManager:
    """Through the proxy that the environment names for it, if any."""
    place = urlsplit(url)
    proxy = urllib.request.getproxies().get(place.scheme)
    if proxy and not urllib.request.proxy_bypass(place.hostname or ""):
        return urllib3.ProxyManager(proxy)
    return urllib3.PoolManager()


def _why(error: BaseException) -> str:
    """In the words of the system, where it has some."""
    while isinstance(cause := getattr(error, "reason", None) or error.__cause__, BaseException):
        error = cause
    return str(getattr(error, "strerror", None) or error)
