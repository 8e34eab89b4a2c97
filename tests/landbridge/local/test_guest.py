"""Mistakes at `landbridge local guest`, told before any cloud starts."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from landbridge.commands import local_guest
from landbridge.errors import UsageError

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nothing"], "nothing is no pool in a region. Pools in regions: "),
        (["west-gpu"], "west-gpu has GPUs, and a guest has none"),
        (["west-gpu", "--off", "--image", "one"], "--image or --off, not both"),
    ],
)
def test_mistakes_are_told(words: list[str], told: str) -> None:
    done = CliRunner().invoke(local_guest.guest, [*words, "--fleet", str(ROOT / "fleet.yaml")])
    assert isinstance(done.exception, UsageError), done.output
    assert told in str(done.exception)


def test_without_an_image_it_says_how_to_make_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANDBRIDGE_IMAGES", str(tmp_path))
    with pytest.raises(local_guest.ImageError, match="landbridge image bake"):
        local_guest.disk_of(None)
