"""Where Pulumi's state may lie, and what encrypts the secrets in it: stores and keys that Pulumi opens by itself."""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from .model import Fleet, State

Wrong = tuple[tuple[str | int, ...], str, str]
PASSPHRASE, DEFAULT = "passphrase", "default"
# Pulumi Cloud, and a Pulumi Service of one's own.
CLOUD, FILE = "https", "file"
CONSOLE, SERVICE = "app.pulumi.com", "https://api.pulumi.com"


class Store(NamedTuple):
    """A kind of backend: how one is written, and what may encrypt secrets in it, best first."""

    form: str
    secrets: tuple[str, ...]


# Clouds' keys, as they are written.
KEYS = {
    "awskms": "awskms://alias/KEY",
    "gcpkms": "gcpkms://projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY",
    "azurekeyvault": "azurekeyvault://VAULT.vault.azure.net/keys/KEY",
}
# By the scheme of a backend's URL. A cloud's store has that cloud's keys, so that one login opens both.
STORES: dict[str, Store] = {
    CLOUD: Store("https://HOST", (DEFAULT, PASSPHRASE, *KEYS)),
    "s3": Store("s3://BUCKET", ("awskms", PASSPHRASE)),
    "gs": Store("gs://BUCKET", ("gcpkms", PASSPHRASE)),
    "azblob": Store("azblob://CONTAINER", ("azurekeyvault", PASSPHRASE)),
    FILE: Store("file:///FOLDER", (PASSPHRASE, *KEYS)),
}


def kind(url: str) -> str:
    """The scheme of a backend or of a key; a word without one is its own."""
    return url.partition(":")[0]


def in_pulumi_cloud(state: State) -> bool:
    return kind(state.backend) == CLOUD


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    if fleet.state is not None:
        yield from _backend(fleet.state.backend)
        yield from _secrets(fleet.state)
        yield from _organization(fleet.state)


def _backend(text: str) -> Iterator[Wrong]:
    entry, url = ("state", "backend"), urlsplit(text)
    form = STORES[url.scheme].form
    if "@" in url.netloc:
        # Never the thing itself.
        yield entry, "state.backend has a user or a token in it", f"Write {form}, and log in by `pulumi login`"
    elif url.scheme == FILE and url.netloc not in ("", "~"):
        what = f"state.backend is {text}, another folder for each that a command is run in"
        yield entry, what, f"Write {form}, the whole path"
    elif url.scheme != FILE and not url.hostname:
        yield entry, f"state.backend is {text}, which names nothing", f"Write {form}"
    elif url.scheme == CLOUD and url.hostname == CONSOLE:
        yield entry, f"state.backend is {text}, the page that people look at", f"Write {SERVICE}"
    elif url.scheme == CLOUD and (url.path.strip("/") or url.query):
        what = f"state.backend is {text}, more than a host"
        yield entry, what, f"Write https://{url.netloc}, and whose the stacks are as `organization`"


def _secrets(state: State) -> Iterator[Wrong]:
    entry, store, by = ("state", "secrets"), kind(state.backend), kind(state.secrets)
    best, *_ = fitting = STORES[store].secrets
    if by in fitting:
        return
    if by == DEFAULT:
        what = f"state lies in {store}, which encrypts no secrets by default"
        yield entry, what, f"Use {KEYS.get(best, best)}"
    else:
        what = f"state lies in {store} and its secrets in {by}"
        yield entry, what, f"Use {KEYS.get(best, best)} beside {store}://, so that one login opens both"


def _organization(state: State) -> Iterator[Wrong]:
    if in_pulumi_cloud(state) and state.organization is None:
        what = "state lies in Pulumi Cloud, and it is not said whose stacks these are"
        yield ("state",), what, "Add your organization, or your user name, such as organization: example"
    if state.organization is not None and not in_pulumi_cloud(state):
        what = f"stacks in {kind(state.backend)} are nobody's"
        yield ("state", "organization"), what, "Leave organization out: it is for Pulumi Cloud alone"
