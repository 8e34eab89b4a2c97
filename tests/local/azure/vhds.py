"""Fixed VHDs as bytes: what is uploaded to disks and accounts."""

import struct


def footer(size: int, *, kind: int = 2) -> bytes:
    """Of a disk of so many bytes; `kind` 2 is a fixed one (Virtual Hard Disk Image Format Specification)."""
    made = bytearray(512)
    made[:8] = b"conectix"
    struct.pack_into(">Q", made, 48, size)
    struct.pack_into(">I", made, 60, kind)
    struct.pack_into(">I", made, 64, ~sum(made) & 0xFFFFFFFF)
    return bytes(made)
