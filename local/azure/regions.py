"""Azure's regions that the local Azure has, with the zones of each (Azure docs, "List of Azure regions")."""

WITH_ZONES = (
    *("southcentralus", "eastus", "eastus2", "westus2", "westus3", "centralus", "canadacentral", "brazilsouth"),
    *("mexicocentral", "northeurope", "westeurope", "uksouth", "francecentral", "germanywestcentral", "swedencentral"),
    *("switzerlandnorth", "norwayeast", "polandcentral", "italynorth", "spaincentral", "japaneast", "japanwest"),
    *("koreacentral", "southeastasia", "eastasia", "australiaeast", "centralindia", "israelcentral", "uaenorth"),
    *("qatarcentral", "southafricanorth", "newzealandnorth", "indonesiacentral", "malaysiawest"),
)
WITHOUT = ("westus", "northcentralus", "canadaeast", "ukwest", "westindia", "southindia", "australiasoutheast")
NAMES = frozenset((*WITH_ZONES, *WITHOUT))
ZONES = ("1", "2", "3")
GLOBAL = "global"


def zones(region: str) -> tuple[str, ...]:
    return ZONES if region in WITH_ZONES else ()
