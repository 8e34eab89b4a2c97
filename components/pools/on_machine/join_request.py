"""What a certificate signing request asks for, compared byte by byte with what it may ask for. Decides only.

There is no ASN.1 in Python's library, and text that a program prints of a request can be made to look like another
one's by names with commas and line ends in them. So what a machine may ask for is written down in DER here, and nothing
but the key may differ. That the request is whole and signed with its key the API server checks when it is made.
"""

import base64
import re
from collections.abc import Sequence
from typing import NamedTuple

PEM = re.compile(
    r"-----BEGIN CERTIFICATE REQUEST-----\n([A-Za-z0-9+/=\n]+)\n-----END CERTIFICATE REQUEST-----\n?", re.ASCII
)
MOST_CHARACTERS = 16 << 10
SEQUENCE, SET, OID, OCTETS, INTEGER, ATTRIBUTES = 0x30, 0x31, 0x06, 0x04, 0x02, 0xA0
UTF8, PRINTABLE = 0x0C, 0x13
DNS, IP = 0x82, 0x87
# X.520's organizationName and commonName; PKCS #9's extensionRequest; RFC 5280's subjectAltName.
ORGANIZATION, COMMON_NAME = b"\x55\x04\x0a", b"\x55\x04\x03"
EXTENSION_REQUEST, ALTERNATIVE_NAMES = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x0e", b"\x55\x1d\x11"
NODES = "system:nodes"


class Malformed(ValueError):
    """It is no request that a kubelet would make."""


class SubjectFields(NamedTuple):
    """DER: the whole subject, and all attributes, which hold the other names."""

    subject: bytes
    attributes: bytes


def subject_fields(pem: str) -> SubjectFields:
    """Raises Malformed."""
    found = PEM.fullmatch(pem) if len(pem) <= MOST_CHARACTERS else None
    if not found:
        raise Malformed("it is not one request in PEM and nothing else")
    text = found[1].replace("\n", "")
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Malformed("it is no base64") from None
    if base64.b64encode(data).decode() != text:
        raise Malformed("its base64 is not the usual one")
    whole, end = _take(data, 0, SEQUENCE)
    if end != len(data):
        raise Malformed("something stands after it")
    info, at = _take(whole, 0, SEQUENCE)
    _take(whole, at, SEQUENCE)  # how it is signed, and so on: the API server's business
    version, at = _take(info, 0, INTEGER)
    if version != b"\0":
        raise Malformed("it is of an unknown version")
    begin = at
    _, at = _take(info, at, SEQUENCE)
    subject = info[begin:at]
    _, at = _take(info, at, SEQUENCE)  # the key
    attributes = info[at:]
    _, end = _take(info, at, ATTRIBUTES)
    if end != len(info):
        raise Malformed("something stands after its attributes")
    return SubjectFields(subject, attributes)


def _take(data: bytes, at: int, tag: int) -> tuple[bytes, int]:
    """The content of the element that stands there, and where the next one begins. DER's lengths alone."""
    try:
        if data[at] != tag:
            raise Malformed(f"byte {at} is {data[at]:#x}, where {tag:#x} was expected")
        length, start = data[at + 1], at + 2
        if length >= 0x80:
            size = length - 0x80
            length, start = int.from_bytes(data[start : start + size], "big"), start + size
            if not 1 <= size <= 2 or length < (0x80, 0x100)[size - 1]:
                raise Malformed("it is not in DER")
    except IndexError:
        raise Malformed("it ends too early") from None
    if start + length > len(data):
        raise Malformed("it ends too early")
    return data[start : start + length], start + length


def der(tag: int, *content: bytes) -> bytes:
    data = b"".join(content)
    size = len(data)
    head = bytes([size]) if size < 0x80 else bytes([0x81, size]) if size < 0x100 else b"\x82" + size.to_bytes(2, "big")
    return bytes([tag]) + head + data


def subjects(name: str) -> list[bytes]:
    """O=system:nodes, CN=system:node:NAME, in both kinds of text that programs use."""
    return [
        der(SEQUENCE, _name(kind, ORGANIZATION, NODES), _name(kind, COMMON_NAME, f"system:node:{name}"))
        for kind in (PRINTABLE, UTF8)
    ]


def _name(kind: int, what: bytes, text: str) -> bytes:
    return der(SET, der(SEQUENCE, der(OID, what), der(kind, text.encode())))


# Of a certificate for clients: no other names, no wishes.
NOTHING = der(ATTRIBUTES)


def alternative_names(names: Sequence[str], addresses: Sequence[bytes]) -> bytes:
    """Attributes that ask for these names and IPv4 addresses, and for nothing else."""
    wished = [der(DNS, name.encode()) for name in names] + [der(IP, address) for address in addresses]
    extension = der(SEQUENCE, der(OID, ALTERNATIVE_NAMES), der(OCTETS, der(SEQUENCE, *wished)))
    return der(ATTRIBUTES, der(SEQUENCE, der(OID, EXTENSION_REQUEST), der(SET, der(SEQUENCE, extension))))


def address_asked(attributes: bytes, name: str) -> bytes | None:
    """The one IPv4 address of a request for `name` and an address; None if it asks for anything else."""
    address = attributes[-4:]
    return address if attributes == alternative_names([name], [address]) else None
