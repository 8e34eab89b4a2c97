"""The same in Azure: a tunnel, a scale set, a role, and a resource group with all that is in it, subnets and names too."""

import pytest

from tests.e2e.test_lifecycle import changes
from tests.support.cloud import Cloud

from ..worlds import SUBSCRIPTION

pytestmark = [pytest.mark.cloud, pytest.mark.matrix, pytest.mark.timeout(1500)]
SOUTH = "southcentralus"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/test-{SOUTH}"


def test_up_with_refresh_makes_anew_what_is_gone(in_both: Cloud) -> None:
    listed = in_both.azure_inventory()
    (connection, *_) = listed["Microsoft.Network/connections"]
    (scale_set,) = (one for one in listed["Microsoft.Compute/virtualMachineScaleSets"] if "south-cpu" in one)
    # The autoscaler's over a scale set, which add-ons bring.
    (role,) = (one for one in listed["Microsoft.Authorization/roleAssignments"] if "south-gpu" in one)
    for one in (connection, scale_set, role):
        in_both.azure("DELETE", one)
    anew = changes(in_both.report("up", "--local", "--refresh", "--yes", seconds=900))
    assert {stack for stack, found in anew.items() if set(found) != {"same"}} == {"links", "south-cpu", "main-addons"}
    in_both.run("up", "--local", "--full", "--expect-no-changes", seconds=600)


def test_a_whole_resource_group_comes_back(in_both: Cloud) -> None:
    in_both.azure("DELETE", GROUP)
    in_both.run("up", "--local", "--refresh", "--yes", seconds=900)
    in_both.run("up", "--local", "--full", "--expect-no-changes", seconds=600)


def test_destroy_does_not_stumble_over_a_group_that_is_gone(in_both: Cloud) -> None:
    in_both.azure("DELETE", GROUP)
    in_both.run("destroy", "--local", "--yes", "--ignore-protect", "--with-volumes", seconds=900)
