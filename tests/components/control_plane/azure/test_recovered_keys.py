"""Keys of a cluster that is rebuilt in Azure: out of the vault of the region that is left, while any is wanted."""

from pathlib import Path
from typing import Any

import pytest

from components.control_plane.azure import recovered_keys
from components.control_plane.azure.recovered_keys import recovered
from components.control_plane.pki import Generations
from components.control_plane.rotation import SUBJECTS, all_generations
from fleet.buckets import vault_name
from fleet.loader import load
from fleet.rebuilds import Origin

GOOD = Path(__file__).parents[3] / "fleet/good/azure.yaml"
ORIGIN = Origin(
    lost="southcentralus",
    region="westeurope",
    secret="both/main/recovery/1f2e3d4c",
    snapshot="copies/southcentralus/main/main/2026-11-21T154500Z-4711.db",
    issuer="https://old",
    generations=dict.fromkeys(SUBJECTS, (1,)),
)


def test_they_are_read_in_the_region_that_is_left_and_no_more_when_all_have_rotated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fleet, asked = load(GOOD), list[tuple[Any, ...]]()

    def secret(*given: Any) -> str:
        asked.append(given)
        return "keys"

    monkeypatch.setattr(recovered_keys, "secret", secret)
    provider: Any = "provider"
    found = recovered(fleet, ORIGIN, all_generations({}), provider)
    assert found is not None
    assert (found.text, found.has("encryption", 1), found.has("encryption", 2)) == ("keys", True, False)
    (one,) = asked
    assert one[:3] == (vault_name(fleet, "westeurope"), ORIGIN.secret, "provider")
    assert "recover it in the vault" in one[3]
    assert recovered(fleet, None, all_generations({}), provider) is None
    later = {subject: Generations((2,), 2) for subject in SUBJECTS}
    assert recovered(fleet, ORIGIN, later, provider) is None
    assert len(asked) == 1
