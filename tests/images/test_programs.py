"""Programs of images that are no packages: built from Go modules whose checksums are pinned, and from no others."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from images import recipe

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))

import go_tools  # noqa: E402
from progress import Progress  # noqa: E402
from running import SetupError, cache_folder  # noqa: E402

MODULE = "github.com/containerd/containerd/v2"


def test_every_program_of_the_recipe_has_one_version() -> None:
    own = recipe.load().recipe
    names = {*own.node.programs, *(name for one in own.variants.values() for name in one.programs)}
    built = {tool.name for tool in (*go_tools.IMAGE_TOOLS, *go_tools.TOOLKIT_TOOLS, *go_tools.CONTROL_PLANE_TOOLS)}
    assert names - built == set()
    for module, version in (("containerd", go_tools.CONTAINERD), ("nvidia-container-toolkit", go_tools.TOOLKIT)):
        pinned = re.search(rf"/{module}(?:/v2)? v(\S+)", (ROOT / "tools" / module / "go.mod").read_text())
        assert pinned is not None
        assert pinned[1] == version


def test_a_module_of_another_checksum_is_not_built(tmp_path: Path) -> None:
    folder = tmp_path / "tools"
    shutil.copytree(ROOT / "tools/containerd", folder / "containerd")
    shutil.copy(ROOT / "tools/go.lock", folder)
    sums = folder / "containerd/go.sum"
    changed = re.sub(rf"(?m)^({re.escape(MODULE)} \S+) h1:....", r"\1 h1:AAAA", sums.read_text())
    assert changed != sums.read_text()
    sums.write_text(changed)
    # Go itself lies in the user's own cache.
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/tools").symlink_to(cache_folder() / "tools")
    ctr = next(tool for tool in go_tools.IMAGE_TOOLS if tool.name == "ctr")
    with pytest.raises(SetupError, match="checksum mismatch"):
        go_tools.build((ctr,), "spoilt", folder, tmp_path / "cache", tmp_path / "logs", Progress())
    (cache_folder() / "tools/spoilt.lock").unlink()
    assert list((cache_folder() / "tools").glob("spoilt*")) == []
