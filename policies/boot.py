"""How machines boot: user-data small and without secrets, and a metadata service that asks for a token first."""

import base64
import binascii
import gzip
import io
import re
from collections.abc import Collection, Iterator

from .reading import AZURE, UNKNOWN, Finding, Item, finding, of_types, tag, undecidable, values
from .secret_texts import secrets_in
from .settings import Setting, judged

BASE64, PLAIN = "base64", "plain"
# Type → property with user-data → how it is written.
USER_DATA = {
    "aws:ec2/launchTemplate:LaunchTemplate": {"userData": BASE64},
    "aws:ec2/instance:Instance": {"userData": PLAIN, "userDataBase64": BASE64},
    "azure-native:compute:VirtualMachine": {"osProfile.customData": BASE64, "userData": BASE64},
    "azure-native:compute:VirtualMachineScaleSet": {
        "virtualMachineProfile.osProfile.customData": BASE64,
        "virtualMachineProfile.userData": BASE64,
    },
}
# Who comes in, and as whom a machine speaks to the cloud: keys and certificates, and an identity that is its own.
NO_PASSWORD = Setting((True,), "Set it to true: keys and certificates let people in")
NO_SECRET = Setting((None, ""), "Leave it out: a password in a program is none")
IDENTITY = Setting(("UserAssigned", None), "Give it an identity of its own, which roles can name before it exists")
LOGINS = {
    "azure-native:compute:VirtualMachine": {
        "osProfile.linuxConfiguration.disablePasswordAuthentication": NO_PASSWORD,
        "osProfile.adminPassword": NO_SECRET,
        "identity.type": IDENTITY,
    },
    "azure-native:compute:VirtualMachineScaleSet": {
        "virtualMachineProfile.osProfile.linuxConfiguration.disablePasswordAuthentication": NO_PASSWORD,
        "virtualMachineProfile.osProfile.adminPassword": NO_SECRET,
        "identity.type": IDENTITY,
    },
}
# The metadata service without tokens (version 1) hands a machine's role to whoever makes it fetch a URL.
METADATA = {
    "aws:ec2/launchTemplate:LaunchTemplate": ("metadataOptions.httpTokens",),
    "aws:ec2/instance:Instance": ("metadataOptions.httpTokens",),
}
MACHINE, POOL = "landbridge:machine", "landbridge:pool"
# Each cloud's limit, before base64.
MOST_BYTES = {"AWS": 16 * 1024, "Azure": 64 * 1024 - 1}
MOST_STUB_BYTES = 4 * 1024  # ours, for machines that boot from a bundle
MOST_TEXT_BYTES = 1024 * 1024
DIGEST = re.compile(r"[0-9a-f]{40}")  # what the provider keeps of an instance's user-data
BUNDLE = "Put it in the bundle's keys, which come from the secrets store"


def findings(found: list[Item], known: Collection[str] = ()) -> Iterator[Finding]:
    """`known` are names of the fleet's, which a stub may say though they look as chance made them."""
    for item in of_types(found, USER_DATA):
        for path, written in USER_DATA[item.type].items():
            value = next(iter(values(item.props, path)), None)
            if value is UNKNOWN:
                yield undecidable(item, path)
            elif value and not (written == PLAIN and DIGEST.fullmatch(str(value))):
                yield from _user_data(item, path, str(value), written, known)
    yield from judged(found, LOGINS)
    for item in of_types(found, METADATA):
        for path in METADATA[item.type]:
            required = list(values(item.props, path))
            if UNKNOWN in required:
                yield undecidable(item, path)
            elif required != ["required"]:
                yield finding(item, path, f"{path} is not required", "Set it to required: IMDSv2 only")


def _user_data(item: Item, path: str, value: str, written: str, known: Collection[str]) -> Iterator[Finding]:
    try:
        raw = base64.b64decode(value, validate=True) if written == BASE64 else value.encode()
        text = _text(raw)
    except (ValueError, binascii.Error, OSError, EOFError) as error:
        yield finding(item, path, f"{path} can't be read: {error}", "Make it a text, in base64")
        return
    named = [tag(item, MACHINE), tag(item, POOL)]
    if UNKNOWN in named:
        yield undecidable(item, f"tags.{MACHINE}")._replace(path=path)
    cloud = "Azure" if item.type.startswith(AZURE) else "AWS"
    most, whose = (MOST_STUB_BYTES, "a stub") if any(named) else (MOST_BYTES[cloud], cloud)
    if len(raw) > most:
        what = f"{path} has {len(raw)} bytes, and {whose} may have {most}"
        yield finding(item, path, what, "Put the rest in the bundle")
    for secret in secrets_in(text, known):
        yield finding(item, path, f"{path} holds {secret}", BUNDLE)


def _text(raw: bytes) -> str:
    """The text that cloud-init would see; it unpacks gzip. Raises ValueError, OSError, EOFError."""
    if raw.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as packed:
            raw = packed.read(MOST_TEXT_BYTES)
    return raw.decode()
