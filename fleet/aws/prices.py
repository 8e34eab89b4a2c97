"""What AWS's machine types cost: US dollars an hour on demand, Linux, shared tenancy, before any discount.

AWS's list of 20 July 2026 for us-east-1, as aws/karpenter-provider-aws carries it (zz_generated.pricing_aws.go).
"""

import datetime

from . import sizes

# Where the table holds. A price of somewhere else would be a guess, and a cap that is kept by guessing is none.
REGION = "us-east-1"
DATE, SOURCE = datetime.date(2026, 7, 20), "AWS's list, as it comes with Landbridge"
# Families of which every size costs the same for each vCPU.
A_CPU = {
    "c6a": 0.03825,
    "c6i": 0.0425,
    "c7a": 0.05132,
    "c7i": 0.044625,
    "c8i": 0.046855,
    "m6a": 0.0432,
    "m6i": 0.048,
    "m7a": 0.05796,
    "m7i": 0.0504,
    "m8i": 0.05292,
    "r6a": 0.0567,
    "r6i": 0.063,
    "r7a": 0.076075,
    "r7i": 0.06615,
    "r8i": 0.06946,
}
# Those that follow no rule.
OTHERS = {
    "g4dn.xlarge": 0.526,
    "g4dn.2xlarge": 0.752,
    "g4dn.4xlarge": 1.204,
    "g4dn.8xlarge": 2.176,
    "g4dn.12xlarge": 3.912,
    "g4dn.16xlarge": 4.352,
    "g5.xlarge": 1.006,
    "g5.2xlarge": 1.212,
    "g5.4xlarge": 1.624,
    "g5.8xlarge": 2.448,
    "g5.12xlarge": 5.672,
    "g5.16xlarge": 4.096,
    "g5.24xlarge": 8.144,
    "g5.48xlarge": 16.288,
    "g6.xlarge": 0.8048,
    "g6.2xlarge": 0.9776,
    "g6.4xlarge": 1.3232,
    "g6.8xlarge": 2.0144,
    "g6.12xlarge": 4.6016,
    "g6.16xlarge": 3.3968,
    "g6.24xlarge": 6.6752,
    "g6.48xlarge": 13.3504,
    "g6e.xlarge": 1.861,
    "g6e.2xlarge": 2.24208,
    "g6e.4xlarge": 3.00424,
    "g6e.8xlarge": 4.52856,
    "g6e.12xlarge": 10.49264,
    "g6e.16xlarge": 7.57719,
    "g6e.24xlarge": 15.06559,
    "g6e.48xlarge": 30.13118,
    "p4d.24xlarge": 21.957642,
    "p4de.24xlarge": 27.44705,
    "p5.4xlarge": 6.88,
    "p5.48xlarge": 55.04,
    "p5en.48xlarge": 63.296,
    "p6-b200.48xlarge": 113.9328,
    "t3.small": 0.0208,
    "t3.medium": 0.0416,
    "t3.large": 0.0832,
    "t3.xlarge": 0.1664,
    "t3.2xlarge": 0.3328,
}


def price(instance_type: str) -> float | None:
    """In REGION; None for a type that the table lacks."""
    size, family = sizes.size(instance_type), instance_type.partition(".")[0]
    if size is None:
        return None
    return OTHERS.get(instance_type) or (A_CPU[family] * size.cpus if family in A_CPU else None)
