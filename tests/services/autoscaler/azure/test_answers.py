"""What Azure's answers mean: instances by their making and their power, operations' ends, quotas, and names of machines."""

from typing import Any

import pytest
from azure.mgmt.compute.models import Usage, VirtualMachineScaleSetVM

from services.autoscaler import provider_ids
from services.autoscaler.azure import answers, quota
from services.autoscaler.azure.answers import Instance, Place, outcome, sentence
from services.autoscaler.refusals import kind

PLACE = Place("00000000-0000-4000-8000-00000000000a", "Example-SouthCentralUS")
SET = "example-south-gpu-1"
ID = (
    "azure:///subscriptions/00000000-0000-4000-8000-00000000000a/resourceGroups/example-southcentralus/providers"
    "/Microsoft.Compute/virtualMachineScaleSets/example-south-gpu-1/virtualMachines/7"
)
H100 = "Standard_ND96isr_H100_v5"


def instance(making: str, *statuses: dict[str, str], spot: bool = False, stood: bool = False, **view: Any) -> Instance:
    told: Any = {
        "instanceId": "7",
        "properties": {
            "provisioningState": making,
            "osProfile": {"computerName": "Example-South-GPU-1000007"},
            "instanceView": {"statuses": [*statuses], **view} if statuses else None,
        },
    }
    return answers.instance(PLACE, SET, VirtualMachineScaleSetVM(told), spot=spot, stood=stood)


def power(state: str) -> dict[str, str]:
    return {"code": f"PowerState/{state}"}


FULL = {"code": "ProvisioningState/failed/AllocationFailed", "message": "Allocation failed.", "level": "Error"}


@pytest.mark.parametrize(
    ("making", "at_power", "state"),
    [
        ("Creating", "", "starting"),
        ("Updating", "", "starting"),
        ("Updating", "running", "running"),
        ("Succeeded", "running", "running"),
        ("Succeeded", "stopped", "running"),  # somebody's, who pays for it
        ("Succeeded", "deallocated", "running"),
        ("Failed", "running", "running"),
        ("Deleting", "running", "ending"),
    ],
)
def test_an_instance_is_what_its_making_and_its_power_say(making: str, at_power: str, state: str) -> None:
    found = instance(making, *([power(at_power)] if at_power else []))
    assert (found.machine.state, found.spoilt) == (state, False)
    assert found.settled == (state == "running")


def test_an_instance_that_could_not_be_made_is_no_machine_and_has_azure_s_reason() -> None:
    found = instance("Failed", FULL)
    assert (found.spoilt, found.sentence) == (True, "AllocationFailed: Allocation failed.")
    for state in ("stopped", "deallocated"):
        unknown = {"code": "ProvisioningState/failed", "displayStatus": "Provisioning failed"}
        found = instance("Failed", unknown, power(state), stood=True)
        assert (found.spoilt, found.sentence) == (True, "ProvisioningFailed: Provisioning failed"), "nothing runs there"


@pytest.mark.parametrize(
    ("statuses", "more"),
    [
        ([], {}),
        ([{"code": "ProvisioningState/failed"}], {}),
        ([{"code": "ProvisioningState/failed/VMExtensionProvisioningError", "message": "an extension failed"}], {}),
        ([FULL], {"stood": True}),
        ([FULL], {"vmAgent": {"vmAgentVersion": "2.9"}}),
        ([FULL, power("unknown")], {}),
        ([FULL, power("stopping")], {}),
    ],
)
def test_an_instance_that_failed_and_may_have_work_on_it_stays_a_machine(
    statuses: list[dict[str, str]], more: dict[str, Any]
) -> None:
    found = instance("Failed", *statuses, **more)
    assert (found.spoilt, found.sentence, found.machine.state) == (False, "", "running")
    assert not found.settled, "it is looked at again"


def test_a_spot_machine_that_was_evicted_is_gone() -> None:
    for state in ("deallocating", "deallocated"):
        assert instance("Succeeded", power(state), spot=True).spoilt
    assert not instance("Succeeded", power("running"), spot=True).spoilt
    assert not instance("Deleting", power("deallocated"), spot=True).spoilt, "it goes already"


def test_a_machine_has_one_id_for_kubernetes_and_one_name_for_azure() -> None:
    found = instance("Succeeded").machine
    assert (found.id, found.provider, found.node) == ("example-south-gpu-1_7", ID, "example-south-gpu-1000007")
    assert provider_ids.instance(found.provider) == found.id
    assert provider_ids.instance(found.provider.replace("example-south-gpu", "EXAMPLE-South-GPU")) == found.id


@pytest.mark.parametrize(
    "other",
    ["", "azure:///x", ID.rpartition("/virtualMachines")[0], f"{ID}x", "onprem:///lab/host-1", "refused-x-1-0"],
)
def test_what_is_no_machine_of_a_scaling_group_has_no_name(other: str) -> None:
    assert provider_ids.instance(other) is None


def test_an_error_is_told_with_what_is_behind_it() -> None:
    inner = {"code": "ZonalAllocationFailed", "message": "no room in zone 1"}
    told = {"code": "VMExtensionError", "message": "it failed", "details": [inner]}
    assert sentence(told) == "VMExtensionError: it failed ZonalAllocationFailed: no room in zone 1"
    assert sentence(None) == "Azure does not say why"


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ({"status": "InProgress"}, ("going", "")),
        ({"status": "Succeeded"}, ("done", "")),
        ({"status": "Failed", "error": {"code": "A", "message": "b"}}, ("failed", "A: b")),
        ({"status": "Canceled"}, ("failed", "Azure does not say why")),
        # A later size has taken its place, and is what is judged.
        ({"status": "Canceled", "error": {"code": "OperationPreempted", "message": "by another"}}, ("done", "")),
    ],
)
def test_an_operation_is_over_when_its_document_says_so(document: dict[str, Any], found: tuple[str, str]) -> None:
    assert outcome(document) == found


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (
            "AllocationFailed: Allocation failed. We do not have sufficient capacity for the requested VM size.",
            "capacity",
        ),
        ("ZonalAllocationFailed: Allocation failed.", "capacity"),
        ("OverconstrainedAllocationRequest: Allocation failed. Constraints applied are: - VM Size", "capacity"),
        ("OverconstrainedZonalAllocationRequest: Allocation failed.", "capacity"),
        ("SkuNotAvailable: The requested VM size is currently not available in location 'southcentralus'.", "capacity"),
        ("SkuNotAvailable: The requested size for Spot is currently not available in zones '1'.", "spot"),
        ("AllocationFailed: no capacity for low priority machines", "spot"),
        ("QuotaExceeded: 2 more of a shape need 192 vCPUs", "quota"),
        (
            "OperationNotAllowed: Operation could not be completed as it results in exceeding approved "
            "standardNDSH100v5Family Cores quota.",
            "quota",
        ),
        ("OperationNotAllowed: exceeding approved LowPriorityCores quota.", "quota"),
        ("SubnetIsFull: Subnet private-1 does not have enough capacity for 3 IP addresses.", "capacity"),
        ("OperationNotAllowed: Deletion is not allowed while it is locked.", "other"),
        ("VMStartTimedOut: the machine did not start in time", "other"),
        ("ImageNotFound: The Image 'x' was not found.", "other"),
    ],
)
def test_each_of_azure_s_sentences_has_its_kind(said: str, code: str) -> None:
    assert kind(said).code == code


def usage(**rows: tuple[int, int]) -> list[Usage]:
    return [
        Usage(unit="Count", name={"value": row}, current_value=used, limit=most) for row, (used, most) in rows.items()
    ]


def test_a_quota_that_is_too_small_is_told_before_anything_is_asked() -> None:
    rows = usage(cores=(100, 1000), standardNDSH100v5Family=(96, 288), lowPriorityCores=(0, 96))
    assert quota.lacking(rows, H100, 2, spot=False) == ""
    assert quota.lacking(rows, H100, 3, spot=False) == (
        f"QuotaExceeded: 3 more of {H100} need 288 vCPUs, and of the 288 in the quota standardNDSH100v5Family 96 are used"
    )
    assert "lowPriorityCores" in quota.lacking(rows, H100, 2, spot=True)
    assert quota.lacking(rows, H100, 1, spot=True) == "", "of the family spot machines take nothing"
    assert "the quota cores" in quota.lacking(usage(cores=(1000, 1000)), H100, 1, spot=False)
    assert quota.lacking(rows, "Standard_Unheard_v9", 99, spot=False) == ""
