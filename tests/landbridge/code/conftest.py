"""What the tests of code's way share."""

from pathlib import Path

import pytest


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "experiment"
    (made / "model").mkdir(parents=True)
    (made / "train.py").write_text("print('trained')\n")
    (made / "model/net.py").write_text("LAYERS = 3\n")
    return made
