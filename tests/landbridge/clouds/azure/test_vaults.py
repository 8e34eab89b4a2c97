"""When a region's vault comes back: where Azure keeps a deleted one, and the stack has none."""

from types import SimpleNamespace
from typing import Any

import pytest

from fleet.buckets import vault_name
from landbridge.clouds.azure import vaults
from landbridge.errors import LandbridgeError

FLEET: Any = SimpleNamespace(
    fleet="test",
    azure=SimpleNamespace(subscription_id="00000000-0000-4000-8000-00000000000a"),
    regions={"south": SimpleNamespace(cloud="azure"), "west": SimpleNamespace(cloud="aws")},
)
OTHER = {"resources": [{"type": "azure-native:keyvault:Secret"}]}
STANDS = {"resources": [{"type": vaults.VAULT}]}


@pytest.mark.parametrize(
    ("region", "state", "refresh", "kept", "found"),
    [
        ("south", None, False, True, True),
        ("south", OTHER, False, True, True),
        ("south", None, False, False, False),
        ("south", STANDS, False, True, False),
        ("south", STANDS, True, True, True),
        ("south", STANDS, True, False, False),
        ("west", None, True, True, False),
    ],
    ids=["first", "without", "never", "stands", "gone-behind-our-back", "read-and-stands", "aws"],
)
def test_only_a_vault_that_azure_keeps_and_the_stack_lacks_comes_back(
    monkeypatch: pytest.MonkeyPatch, region: str, state: Any, refresh: bool, kept: bool, found: bool
) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(vaults, "is_recoverable", lambda *about: asked.append(about) or kept)
    name = vault_name(FLEET, region)
    assert vaults.to_recover(FLEET, region, state, refresh=refresh) == (name if found else None)
    nobody = region == "west" or (state is STANDS and not refresh)
    assert asked == ([] if nobody else [(FLEET.azure.subscription_id, region, name)])


def test_who_may_not_look_at_deleted_vaults_brings_up_a_region_whose_vault_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: str) -> bool:
        raise LandbridgeError("Azure can't be asked")

    monkeypatch.setattr(vaults, "is_recoverable", refused)
    assert vaults.to_recover(FLEET, "south", STANDS, refresh=True) is None
    with pytest.raises(LandbridgeError):
        vaults.to_recover(FLEET, "south", OTHER, refresh=True)
