"""The picture of the packages is drawn from what they import now."""

import sys
from pathlib import Path

import pytest

from tests.support.golden import same

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import architecture  # noqa: E402
from architecture import Box  # noqa: E402


@pytest.mark.golden
def test_the_picture_is_that_of_the_imports() -> None:
    same(ROOT / "docs/img/architecture.svg", architecture.svg(architecture.packages(ROOT), architecture.topics(ROOT)))


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def test_imports_of_every_form_are_seen(tmp_path: Path) -> None:
    write(tmp_path, "stacks/region.py", "from components.network import spec\nimport fleet.model, json\n")
    write(tmp_path, "components/network/spec.py", "def late():\n    from ..pools.roles import ROLES\n")
    write(tmp_path, "components/pools/roles.py", "from . import names\nimport pulumi\n")
    write(tmp_path, "components/links/aws/hub.py", "from ... import pools\nfrom components.tags import Owner\n")
    write(tmp_path, "components/tags.py", "from fleet.model import Fleet\n")
    packages = architecture.packages(tmp_path)
    assert {name: {*known} for name, known in packages.items() if known} == {
        "stacks": {"components", "fleet"},
        "components": {"fleet"},
    }
    topics = architecture.topics(tmp_path)
    assert topics == {"links": {"pools"}, "network": {"pools"}, "pools": set()}


def test_an_arrow_goes_where_no_box_is(monkeypatch: pytest.MonkeyPatch) -> None:
    above, below = Box(0, 0, 100, 10), Box(0, 50, 100, 10)
    monkeypatch.setattr(architecture, "BOXES", {"a": above, "b": below})
    assert architecture.lane(above, below) == 50
    monkeypatch.setattr(architecture, "BOXES", {"a": above, "b": below, "c": Box(20, 20, 70, 10)})
    assert architecture.lane(above, below) == 10
    monkeypatch.setattr(architecture, "BOXES", {"a": above, "b": below, "c": Box(0, 20, 100, 10)})
    with pytest.raises(ValueError, match="move the boxes"):
        architecture.lane(above, below)
