"""What of the links a site is told."""

from typing import Any

import pytest

from fleet.world import current
from landbridge.errors import LandbridgeError
from landbridge.links import info
from tests.support.cloud import ROOT


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Those of two sites, with what keeps their keys."""

    def one(site: str, number: int) -> dict[str, Any]:
        return {"site": site, "secret": f"example/links/{site}", "hub_addresses": {f"{site}/1": f"192.0.2.{number}"}}

    told = {"connections": {"us-west-2-lab-1": one("lab", 1), "us-west-2-attic-1": one("attic", 2)}}
    monkeypatch.setattr(info, "published", lambda _place, _stack: told)
    monkeypatch.setattr(info, "up", lambda _place, stack: f"landbridge up {stack}")
    monkeypatch.setattr(info.Connections, "_keys_of", lambda _, one: {f"{one['site']}/1": f"key of {one['secret']}"})
    world, place = current(ROOT / "fleet.yaml"), object()
    return lambda site=None: info.Connections(world, place, site)  # type: ignore[arg-type]


def test_a_site_gets_addresses_and_keys_of_its_own_tunnels_alone(connections: Any) -> None:
    assert connections("lab").outside == {"lab/1": "192.0.2.1"}
    assert connections("lab").keys() == {"lab/1": "key of example/links/lab"}
    assert connections().outside == {"lab/1": "192.0.2.1", "attic/1": "192.0.2.2"}


def test_a_site_without_a_link_is_told_what_makes_one(connections: Any) -> None:
    with pytest.raises(LandbridgeError, match=r"^Site desert has no link yet\. Run `landbridge up links`\.$"):
        connections("desert")
