"""Answers that tests go through, and the fleets that come of them."""

import datetime
from pathlib import Path

from fleet.world import World, current
from landbridge.init import making
from landbridge.init.answers import Answers, Place

DAY = datetime.date(2026, 1, 1)
EAST, WEST = Place("aws", "us-east-1"), Place("aws", "us-west-2")
TOKYO, EUROPE, SOUTH = Place("aws", "ap-northeast-1"), Place("azure", "westeurope"), Place("azure", "southcentralus")
TABLE = {
    "usual": Answers(),
    "azure": Answers("cloudy", (EUROPE,)),
    "both": Answers("both", (EAST, SOUTH, WEST), gpus=1600),
    "azure-first": Answers("both", (SOUTH, EAST), ("lab",), gpus=16),
    "a-room": Answers("room", (TOKYO,), ("lab",), gpus=12),
    "rooms-alone": Answers("rooms", (EAST,), ("lab", "attic"), gpus=0),
    "no-gpus": Answers("plain", (EAST,), gpus=0),
    "many-gpus": Answers("large", (EAST,), gpus=1600),
    "as-many-as-a-cluster-has": Answers("huge", (EAST, WEST), gpus=38_000),
    "beside-others": Answers("beside", (EAST,), reserved=("10.0.0.0/8", "192.168.7.0/24")),
}


def written(folder: Path, answers: Answers) -> World:
    """As `landbridge init` writes it."""
    made = making.made(answers, None, DAY)
    (folder / "fleet.yaml").write_text(made.text)
    (folder / "fleet.lock.yaml").write_text(made.ledger)
    return current(folder / "fleet.yaml")
