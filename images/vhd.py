"""Fixed VHD, which Azure takes: qemu-img writes it, and its footer gets an id and a time that two bakes agree on.

Footer: Virtual Hard Disk Image Format Specification, Microsoft 2006; 512 bytes, big-endian, at the end.
"""

import struct
import uuid
from pathlib import Path

from .running import run

FOOTER_BYTES = 512
TIME, CHECKSUM, ID = 24, 64, 68
# Seconds of 2000-01-01 UTC, from which VHD counts.
FIRST = 946_684_800


def convert(raw: Path, vhd: Path, identity: str, epoch_seconds: int) -> None:
    """`raw` has whole MiB, which Azure asks for."""
    run(["qemu-img", "convert", "-f", "raw", "-O", "vpc", "-o", "subformat=fixed,force_size", str(raw), str(vhd)])
    with vhd.open("r+b") as file:
        file.seek(-FOOTER_BYTES, 2)
        footer = bytearray(file.read())
        struct.pack_into(">I", footer, TIME, epoch_seconds - FIRST)
        footer[ID : ID + 16] = uuid.UUID(identity).bytes
        struct.pack_into(">I", footer, CHECKSUM, 0)
        struct.pack_into(">I", footer, CHECKSUM, ~sum(footer) & 0xFFFFFFFF)
        file.seek(-FOOTER_BYTES, 2)
        file.write(footer)
