"""Images as their registries have them: whether one is there, and its digest, by which a run can be had exactly again.

Asked as nobody, or as whom ~/.docker/config.json has for that registry.
https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#checking-if-content-exists-in-the-registry
"""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from email.message import Message
from http.client import HTTPException
from typing import NamedTuple
from urllib.parse import urlencode

from . import docker_login

SECONDS = 10.0
DOCKER_HUB, ITS_API = "docker.io", "registry-1.docker.io"
DOCKER_HUBS_LOGIN = "https://index.docker.io/v1/"
# Of one machine, and of several: the digest is then that of their list.
KINDS = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
LOOPBACK = re.compile(r"(localhost|127\.0\.0\.1)(:\d+)?")


class AbsentError(Exception):
    """The registry has no such image."""


class SilentError(Exception):
    """The registry does not say, which is no reason against a run: machines may ask as somebody else."""


class Named(NamedTuple):
    """An image's name, taken apart as containerd does it. `reference` is its tag or its digest."""

    registry: str
    repository: str
    reference: str

    @property
    def url(self) -> str:
        host = ITS_API if self.registry == DOCKER_HUB else self.registry
        scheme = "http" if LOOPBACK.fullmatch(host) else "https"
        return f"{scheme}://{host}/v2/{self.repository}/manifests/{self.reference}"


def named(image: str) -> Named:
    name, _, digest = image.partition("@")
    first, slash, rest = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        registry, path = first, rest
    else:
        registry, path = DOCKER_HUB, name if slash else f"library/{name}"
    path, _, tag = path.partition(":")
    return Named(registry, path, digest or tag or "latest")


def digest(image: str) -> str:
    """`sha256:…` of what its name stands for now. Raises AbsentError and SilentError."""
    one, accepted = named(image), {"Accept": KINDS}
    try:
        status, answer = _asked(one.url, accepted)
        if status == 401 and (login := _login(one, answer.get("WWW-Authenticate", ""))):
            status, answer = _asked(one.url, {**accepted, "Authorization": login})
    except (OSError, HTTPException, ValueError, KeyError) as error:
        raise SilentError(f"{one.registry} does not answer ({_why(error)})") from None
    return _read(one, status, answer)


def _why(error: Exception) -> str:
    """In words, where the system has some for it."""
    reason = getattr(error, "reason", error)
    return str(getattr(reason, "strerror", None) or reason)


def _read(one: Named, status: int, answer: Message) -> str:
    if status == 404:
        raise AbsentError(f"{one.registry} has no {one.repository} with {_said(one)}")
    if status in (401, 403):
        raise SilentError(f"{one.registry} does not let everybody see {one.repository}")
    found = answer.get("Docker-Content-Digest", "")
    if status != 200 or not DIGEST.fullmatch(found):
        raise SilentError(f"{one.registry} answers {status} without a digest")
    return found


def _said(one: Named) -> str:
    return f"the digest {one.reference}" if ":" in one.reference else f"the tag {one.reference}"


def _asked(url: str, headers: Mapping[str, str]) -> tuple[int, Message]:
    request = urllib.request.Request(url, headers=dict(headers), method="HEAD")  # noqa: S310 - https, or loopback
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers


def _login(one: Named, challenge: str) -> str | None:
    """What to answer to a registry that asks who one is; None where there is nothing to say."""
    kind, _, rest = challenge.partition(" ")
    known = docker_login.of(DOCKER_HUBS_LOGIN if one.registry == DOCKER_HUB else one.registry)
    basic = f"Basic {known}" if known else None
    if kind.lower() != "bearer":
        return basic
    told = dict(re.findall(r'(\w+)="([^"]*)"', rest))
    realm = told.pop("realm")
    if not realm.startswith("https://") and not LOOPBACK.fullmatch(realm.removeprefix("http://").partition("/")[0]):
        raise ValueError(f"it sends one to {realm} for a token, where anybody could read it")
    headers = {"Authorization": basic} if basic else {}
    request = urllib.request.Request(f"{realm}?{urlencode(told)}", headers=headers)  # noqa: S310 - https, or loopback
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
        found = json.load(answer)
    return f"Bearer {found.get('token') or found['access_token']}"
