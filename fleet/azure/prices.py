"""What Azure's machine types cost: US dollars an hour, Linux, pay as you go, before any discount.

Azure's retail prices of 18 June 2026 for eastus, as Azure/karpenter-provider-azure carries them
(zz_generated.pricing.go). It has two prices of some AMD sizes, and none of H200 there: those are not here.
"""

import datetime

from . import sizes

# Where the table holds (see `fleet.prices`).
REGION = "eastus"
DATE, SOURCE = datetime.date(2026, 6, 18), "Azure's list, as it comes with Landbridge"
# Series of which every size costs the same for each vCPU; the list rounds to a tenth of a cent.
A_CPU = {
    "Bs_v2": 0.0416,
    "Ds_v5": 0.048,
    "Dds_v5": 0.0565,
    "Dls_v5": 0.0425,
    "Es_v5": 0.063,
    "Eds_v5": 0.072,
    "Fs_v2": 0.0423,
}
# Those that follow no rule.
OTHERS = {
    "Standard_E96s_v5": 6.048,
    "Standard_E96ds_v5": 6.912,
    "Standard_NC4as_T4_v3": 0.526,
    "Standard_NC8as_T4_v3": 0.752,
    "Standard_NC16as_T4_v3": 1.204,
    "Standard_NC64as_T4_v3": 4.352,
    "Standard_NC24ads_A100_v4": 3.673,
    "Standard_NC48ads_A100_v4": 7.346,
    "Standard_NC96ads_A100_v4": 14.692,
    "Standard_NC40ads_H100_v5": 6.98,
    "Standard_NC80adis_H100_v5": 13.96,
    "Standard_ND96asr_v4": 27.197,
    "Standard_ND96amsr_A100_v4": 32.77,
    "Standard_ND96isr_H100_v5": 98.32,
}


def price(instance_type: str) -> float | None:
    """In REGION; None for a type that the table lacks."""
    size, (series, _) = sizes.size(instance_type), sizes.series_of(instance_type) or ("", 0)
    if size is None:
        return None
    return OTHERS.get(instance_type) or (A_CPU[series] * size.cpus if series in A_CPU else None)
