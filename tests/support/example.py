"""The example fleet as a file of a test's own: what of it is in AWS, for tests that have no Azure beside."""

import datetime
from pathlib import Path

from ruamel.yaml import YAML

from fleet.address import ledger as ledgers
from fleet.world import drafted

ROOT = Path(__file__).parents[2]


def in_aws(folder: Path) -> Path:
    """Written there with its ledger."""
    yaml, file = YAML(), folder / "fleet.yaml"
    told = yaml.load((ROOT / "fleet.yaml").read_text())
    regions = {name: one for name, one in told["regions"].items() if one["cloud"] == "aws"}
    pools = {name: one for name, one in told["pools"].items() if one.get("region") in (None, *regions)}
    del told["azure"]
    with file.open("w") as text:
        yaml.dump({**told, "regions": regions, "pools": pools}, text)
    ledgers.write(ledgers.ledger_path(file), drafted(file, datetime.date(2026, 1, 1))[2].ledger)
    return file
