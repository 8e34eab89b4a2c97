"""The tools of releases are scripts beside each other: tests find them where make does."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tools"))
