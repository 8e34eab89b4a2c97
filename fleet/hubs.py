"""The regions of AWS, and the BGP number of each one's hub gateway: it can't change without replacing the gateway."""

# Append only. Sites may not use 64512-64767 (`fleet.rules`), so that no two ends of a link share a number.
FIRST_ASN = 64512
REGIONS = (
    *("us-east-1", "us-east-2", "us-west-1", "us-west-2", "ca-central-1", "ca-west-1", "mx-central-1", "sa-east-1"),
    *("eu-west-1", "eu-west-2", "eu-west-3", "eu-central-1", "eu-central-2", "eu-north-1", "eu-south-1", "eu-south-2"),
    *("ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-southeast-1", "ap-southeast-2", "ap-southeast-3"),
    *("ap-southeast-4", "ap-southeast-5", "ap-southeast-7", "ap-south-1", "ap-south-2", "ap-east-1", "ap-east-2"),
    *("me-south-1", "me-central-1", "il-central-1", "af-south-1", "ap-southeast-6"),
)


def asn(region_name: str) -> int:
    """The number of a region that is in REGIONS, as `fleet.rules` sees to."""
    return FIRST_ASN + REGIONS.index(region_name)
