"""Where the scripts that lie in one folder on a machine come from: tests import them as that machine does."""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTEST = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
# The last is the client of Kubernetes' API, which others have as well.
FOLDERS = [*(str(ROOT / folder) for folder in PYTEST["pythonpath"]), str(ROOT)]
# For what imports tests and is none, such as benchmarks. Before all packages: one of them has a `watchdog` as well.
sys.path[:0] = FOLDERS
