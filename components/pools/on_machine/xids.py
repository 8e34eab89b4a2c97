"""What NVIDIA's driver means by its numbers: Xids of a GPU, SXids of an NVSwitch. Pure.

"Analyzing Xid Errors with the Xid Catalog" (docs.nvidia.com/deploy/xid-errors); what lasts is what the catalog wants a
reset or a restart for. Since R565 the driver itself says that, too, as Xid 154: then the table need not know better.
"""

import re
from typing import Literal, NamedTuple

# Whose the fault is; each is the reason of what is reported. evidence/findings.py has the same: a test compares.
PROGRAM, OFF_BUS, MEMORY, LINK, BOARD = "GPUProgramError", "GPUOffBus", "GPUMemoryError", "GPULinkError", "GPUError"
# What ends nothing, and tells of something that may.
WARNING = "GPUWarning"
UNKNOWN = "its meaning is in NVIDIA's Xid catalog"
ACTION = 154


class Xid(NamedTuple):
    """`lasts`: until a reset or a restart; `if fatal`: where the line says so.

    What does not last ends no more than the program whose process the line names.
    """

    reason: str
    meaning: str
    lasts: Literal["yes", "no", "if fatal"] = "no"


PROGRAMS = {
    8: "the GPU stopped working on it",
    11: "broken commands",
    13: "an exception in its kernels",
    25: "broken commands",
    31: "it used memory that is not its own",
    32: "broken commands",
    39: "a copy that failed",
    40: "a copy that failed",
    41: "a copy that failed",
    43: "it was stopped after a fault of its own",
    45: "its work was cleared away after an earlier fault",
    60: "a video exception",
    68: "a video decoder's exception",
    69: "a wrong kind of work",
    70: "a copy that failed",
    80: "its commands came damaged",
    82: "a picture decoder's exception",
    137: "it used another GPU's memory that is not its own",
}
BROKEN = {
    46: Xid(BOARD, "the GPU does not answer", "yes"),
    48: Xid(MEMORY, "memory that can't be corrected", "yes"),
    54: Xid(BOARD, "its extra power is not connected", "yes"),
    56: Xid(BOARD, "a display's exception"),
    57: Xid(MEMORY, "the way to its memory did not come up", "yes"),
    58: Xid(MEMORY, "its memory's edge failed", "yes"),
    62: Xid(BOARD, "its power controller halted", "yes"),
    63: Xid(WARNING, "a row of memory is to be replaced at its next reset"),
    64: Xid(MEMORY, "a row of memory can't be replaced", "yes"),
    65: Xid(BOARD, "a video encoder's exception"),
    66: Xid(WARNING, "the driver did what it may not"),
    67: Xid(WARNING, "the driver did what it may not"),
    73: Xid(BOARD, "a video encoder's exception"),
    74: Xid(LINK, "an NVLink failed", "yes"),
    79: Xid(OFF_BUS, "it has fallen off the bus", "yes"),
    81: Xid(BOARD, "its display part failed"),
    92: Xid(WARNING, "many errors in memory, all corrected"),
    94: Xid(MEMORY, "broken memory, which ended one program"),
    95: Xid(MEMORY, "broken memory, which may have reached every program there", "yes"),
    109: Xid(BOARD, "it did not change to another program in time"),
    110: Xid(BOARD, "a security fault", "yes"),
    119: Xid(BOARD, "its own processor (GSP) does not answer", "yes"),
    120: Xid(BOARD, "its own processor (GSP) failed", "yes"),
    121: Xid(WARNING, "errors on the link to its CPU"),
    136: Xid(LINK, "an NVLink did not come up", "yes"),
    140: Xid(MEMORY, "memory that can't be corrected", "yes"),
    143: Xid(BOARD, "it did not start", "yes"),
    **{number: Xid(LINK, "an NVLink failed", "if fatal") for number in range(144, 151)},
    155: Xid(LINK, "an NVLink failed", "yes"),
    156: Xid(MEMORY, "a part of it is to be replaced at its next reset", "yes"),
    157: Xid(WARNING, "a part of it can't be replaced"),
    158: Xid(BOARD, "it does not answer", "yes"),
    167: Xid(OFF_BUS, "it does not answer on the bus", "yes"),
    171: Xid(MEMORY, "memory that can't be corrected"),
    172: Xid(MEMORY, "memory of its caches that can't be corrected"),
}
XIDS = {**{number: Xid(PROGRAM, meaning) for number, meaning in PROGRAMS.items()}, **BROKEN}
# As the driver words it, in either generation of its words: what it asks for.
ACTIONS = {
    "None": "",
    "GPU Reset Required": "a reset of the GPU",
    "PF FLR": "a reset of the GPU",
    "Node Reboot Required": "a restart of the machine",
    "OS Reboot": "a restart of the machine",
    "Drain P2P": "no more work over its NVLinks",
    "Drain and Reset": "no more work, and a reset of the GPU",
}


def of(number: int, text: str) -> Xid:
    """`text` is what stands in the line after the number. `lasts` is yes or no then."""
    known = XIDS.get(number, Xid(BOARD, UNKNOWN))
    if known.lasts != "if fatal":
        return known
    if re.search(r"\bFatal\b", text):
        return known._replace(lasts="yes")
    return Xid(WARNING, "an NVLink had an error, and goes on")


def action(text: str) -> str | None:
    """What the driver asks for by Xid 154: nothing is the empty text. None for words that nobody knows."""
    asked = re.search(r"to 0x[0-9a-f]+ \(([^)]+)\)", text)
    return ACTIONS.get(asked[1]) if asked else None
