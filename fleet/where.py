"""Where the fleet file lies. Imports nothing large: commands ask this before they load a fleet."""

import os
from pathlib import Path

ENVIRONMENT = "LANDBRIDGE_FLEET"


def fleet_path(path: Path | None = None) -> Path:
    """The named file, else $LANDBRIDGE_FLEET, else fleet.yaml here or, failing that, at the top of the repository."""
    if path is not None:
        return path.absolute()
    if named := os.environ.get(ENVIRONMENT):
        return Path(named).absolute()
    here = Path("fleet.yaml").absolute()
    return here if here.exists() else Path(__file__).parents[1] / "fleet.yaml"
