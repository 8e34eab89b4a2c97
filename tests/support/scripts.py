"""Where the scripts that lie in one folder on a machine come from: tests import them as that machine does."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = [
    *(
        str(folder)
        for scripts in sorted((ROOT / "components").glob("*/on_machine"))
        for folder in (
            scripts,
            *(one for one in sorted(scripts.iterdir()) if one.is_dir() and one.name != "__pycache__"),
        )
    ),
    str(ROOT),  # the client of Kubernetes' API, which others have as well
]
# Before all packages: one of them has a `watchdog` as well.
sys.path[:0] = FOLDERS
