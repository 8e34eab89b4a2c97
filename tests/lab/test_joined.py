"""The rendered gateway joins what the plan joins, and nothing else."""

import pytest

from . import report, traffic
from .lab import Lab

START_SECONDS = 30.0
REGIONS = ("us-west-2", "us-east-1", "eu-west-1")


def test_all_tunnels_and_sessions_come_up(lab: Lab) -> None:
    report.note("six tunnels, sessions and routes up", f"{lab.took_seconds:.1f} s", f"{START_SECONDS:g} s")
    assert len(lab.gateway.established()) == len(lab.spec.ends) == 6
    assert lab.took_seconds < START_SECONDS


@pytest.mark.parametrize("region", REGIONS)
def test_site_and_region_reach_each_other_by_every_way(lab: Lab, region: str) -> None:
    with lab.asking(region) as there:
        pass
    assert (there.sent > 0, there.lost) == (True, 0)
    here, targets = lab.addresses(lab.networks[region]), lab.addresses(lab.lan)
    with traffic.asking(lab.hubs[region].host, here, targets) as back:
        pass
    assert (back.sent > 0, back.lost) == (True, 0)
