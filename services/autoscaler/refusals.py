"""Why a cloud did not launch a machine, in one word, from its own sentence.

Sources: EC2 Auto Scaling user guide, "Troubleshoot: EC2 instance launch failures"; EC2 API, "Error codes"; Azure,
"Troubleshoot allocation failures", "Resolve errors for SKU not available", "Resolve errors for resource quotas". A
launch that fails for a reason of its own (a template's mistake) is no want of capacity, and another region would not
help.
"""

import re
from typing import Literal, NamedTuple

Code = Literal["capacity", "quota", "spot", "other"]


class Kind(NamedTuple):
    """`elsewhere`: whether another pool may well have what this one has not."""

    code: Code
    elsewhere: bool


CAPACITY, QUOTA, SPOT, OTHER = (
    Kind("capacity", elsewhere=True),
    Kind("quota", elsewhere=True),
    Kind("spot", elsewhere=True),
    Kind("other", elsewhere=False),
)
# The first that fits counts: spot's own words come before those that spot and on demand share.
SENTENCES: tuple[tuple[re.Pattern[str], Kind], ...] = tuple(
    (re.compile(text, re.IGNORECASE), kind)
    for text, kind in (
        (r"MaxSpotInstanceCountExceeded|max spot instance count", QUOTA),
        (r"SpotMaxPriceTooLow|spot (request )?price|no spot capacity|UnfulfillableCapacity", SPOT),
        (r"VcpuLimitExceeded|InstanceLimitExceeded|vCPU (capacity|limit)|limit of .* instances", QUOTA),
        (r"VolumeLimitExceeded|MaxIOPSLimitExceeded|volume limit", QUOTA),
        (r"InsufficientInstanceCapacity|insufficient capacity|not have sufficient|capacity-not-available", CAPACITY),
        (r"InsufficientFreeAddressesInSubnet|insufficient free addresses", CAPACITY),
        # Azure's, with the code in front. A quota that is used up comes as OperationNotAllowed too, which means much.
        (r"QuotaExceeded|SpotQuota|exceeding (approved|quota)|exceeds? .*quota limit|quota.* exceeded", QUOTA),
        (r"(Allocation|SkuNotAvailable).*\b(spot|low.priority)\b|\bspot\b.*not available", SPOT),
        (r"AllocationFailed|AllocationRequest|SkuNotAvailable|NotAvailableForSubscription", CAPACITY),
        (r"SubnetIsFull", CAPACITY),
    )
)


def kind(sentence: str) -> Kind:
    """What the cloud's sentence means."""
    return next((found for pattern, found in SENTENCES if pattern.search(sentence)), OTHER)
