"""The clouds' regions, and the BGP number of each one's hub gateway: it can't change without replacing the gateway."""

from collections.abc import Mapping

from .model import Cloud

# Append only, each. Sites may not use 64512-64767 (`fleet.regions`), so that no two ends of a link share a number.
FIRST_ASN = 64512
RESERVED_ASNS = range(FIRST_ASN, FIRST_ASN + 256)
# Each cloud's part of them: no region of one may grow into another's.
FIRST: Mapping[Cloud, int] = {"aws": FIRST_ASN, "azure": FIRST_ASN + 128}
REGIONS: Mapping[Cloud, tuple[str, ...]] = {
    "aws": (
        *("us-east-1", "us-east-2", "us-west-1", "us-west-2", "ca-central-1", "ca-west-1", "mx-central-1", "sa-east-1"),
        *("eu-west-1", "eu-west-2", "eu-west-3", "eu-central-1", "eu-central-2", "eu-north-1"),
        *("eu-south-1", "eu-south-2", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3"),
        *("ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "ap-southeast-5", "ap-southeast-7"),
        *("ap-south-1", "ap-south-2", "ap-east-1", "ap-east-2"),
        *("me-south-1", "me-central-1", "il-central-1", "af-south-1", "ap-southeast-6"),
    ),
    # Those with availability zones, by the name that Azure Resource Manager has ("Azure regions list").
    "azure": (
        *("southcentralus", "eastus", "eastus2", "westus2", "westus3", "centralus", "canadacentral", "mexicocentral"),
        *("brazilsouth", "chilecentral", "northeurope", "westeurope", "uksouth", "francecentral", "germanywestcentral"),
        *("swedencentral", "switzerlandnorth", "norwayeast", "polandcentral", "italynorth", "spaincentral"),
        *("austriaeast", "belgiumcentral", "denmarkeast", "japaneast", "japanwest", "koreacentral", "southeastasia"),
        *("eastasia", "australiaeast", "newzealandnorth", "indonesiacentral", "malaysiawest", "centralindia"),
        *("israelcentral", "uaenorth", "qatarcentral", "southafricanorth"),
    ),
}
ASNS: Mapping[str, int] = {
    region: FIRST[cloud] + n for cloud, regions in REGIONS.items() for n, region in enumerate(regions)
}


def asn(region_name: str) -> int:
    """The number of a region that is in REGIONS, as `fleet.regions` sees to."""
    return ASNS[region_name]
