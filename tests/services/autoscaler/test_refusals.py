"""AWS's sentences, and what they mean for another pool."""

import pytest

from services.autoscaler.refusals import kind


@pytest.mark.parametrize(
    ("sentence", "code"),
    [
        (
            "We currently do not have sufficient p5.48xlarge capacity in the Availability Zone you requested "
            "(us-west-2a). Launching EC2 instance failed.",
            "capacity",
        ),
        ("Could not launch Spot Instances. UnfulfillableCapacity - Unable to fulfill capacity.", "spot"),
        ("Could not launch Spot Instances. SpotMaxPriceTooLow - Your Spot request price is too low.", "spot"),
        ("Could not launch Spot Instances. MaxSpotInstanceCountExceeded - Max spot instance count exceeded", "quota"),
        (
            "You have requested more vCPU capacity than your current vCPU limit of 192 allows (VcpuLimitExceeded).",
            "quota",
        ),
        ("There are insufficient free addresses in the subnet 'subnet-1'.", "capacity"),
        ("The image id '[ami-0]' does not exist. Launching EC2 instance failed.", "other"),
    ],
)
def test_each_sentence_has_its_kind(sentence: str, code: str) -> None:
    found = kind(sentence)
    assert found.code == code
    assert found.elsewhere == (code != "other")
