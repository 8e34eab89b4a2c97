"""Which figures are told, under DCGM's names: what each means, and how NVML is asked for it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pynvml

from .rates import Rates

GAUGE, COUNTER = "gauge", "counter"
MIB, MILLIWATTS, PERCENT = 1 << 20, 1000, 100
# Of a field's value, by its type.
VALUES = {
    pynvml.NVML_VALUE_TYPE_DOUBLE: "dVal",
    pynvml.NVML_VALUE_TYPE_UNSIGNED_INT: "uiVal",
    pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG: "ulVal",
    pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG: "ullVal",
    pynvml.NVML_VALUE_TYPE_SIGNED_LONG_LONG: "sllVal",
    pynvml.NVML_VALUE_TYPE_SIGNED_INT: "siVal",
    pynvml.NVML_VALUE_TYPE_UNSIGNED_SHORT: "usVal",
}
# Of all links together: nvml.h has it so of NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX.
ALL_LINKS = 0xFFFFFFFF
# As nvmlDeviceGetRemappedRows has them.
CORRECTABLE, UNCORRECTABLE, _PENDING, FAILED = range(4)


class Asked(NamedTuple):
    """A GPU by its handle in NVML, and what of it grows."""

    handle: Any
    rates: Rates


class Field(NamedTuple):
    """`read` raises NVMLError; None is a figure that comes with the next look."""

    name: str
    help: str
    kind: str
    read: Callable[[Asked], float | None]


def field(handle: Any, *wanted: int | tuple[int, int]) -> float:
    """The sum of what NVML keeps as fields. Raises NVMLError."""
    values = pynvml.nvmlDeviceGetFieldValues(handle, list(wanted))
    for one in values:
        if one.nvmlReturn != pynvml.NVML_SUCCESS:
            raise pynvml.NVMLError(one.nvmlReturn)
    return float(sum(getattr(one.value, VALUES[one.valueType]) for one in values))


def memory(one: Asked) -> Any:
    """Without what the driver keeps for itself, as DCGM has it: the first version counts that as used."""
    return pynvml.nvmlDeviceGetMemoryInfo(one.handle, pynvml.nvmlMemory_v2)


def ecc(one: Asked, kind: int) -> float:
    return float(pynvml.nvmlDeviceGetTotalEccErrors(one.handle, kind, pynvml.NVML_VOLATILE_ECC))


def rows(one: Asked, which: int) -> float:
    return float(pynvml.nvmlDeviceGetRemappedRows(one.handle)[which])


def links_kib(handle: Any) -> float:
    return field(
        handle,
        (pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, ALL_LINKS),
        (pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, ALL_LINKS),
    )


FIELDS = (
    Field(
        "DCGM_FI_DEV_SM_CLOCK",
        "SM clock frequency (in MHz).",
        GAUGE,
        lambda one: pynvml.nvmlDeviceGetClockInfo(one.handle, pynvml.NVML_CLOCK_SM),
    ),
    Field(
        "DCGM_FI_DEV_MEM_CLOCK",
        "Memory clock frequency (in MHz).",
        GAUGE,
        lambda one: pynvml.nvmlDeviceGetClockInfo(one.handle, pynvml.NVML_CLOCK_MEM),
    ),
    Field(
        "DCGM_FI_DEV_MEMORY_TEMP",
        "Memory temperature (in C).",
        GAUGE,
        lambda one: field(one.handle, pynvml.NVML_FI_DEV_MEMORY_TEMP),
    ),
    Field(
        "DCGM_FI_DEV_GPU_TEMP",
        "GPU temperature (in C).",
        GAUGE,
        lambda one: pynvml.nvmlDeviceGetTemperature(one.handle, pynvml.NVML_TEMPERATURE_GPU),
    ),
    Field(
        "DCGM_FI_DEV_POWER_USAGE",
        "Power draw (in W).",
        GAUGE,
        lambda one: pynvml.nvmlDeviceGetPowerUsage(one.handle) / MILLIWATTS,
    ),
    Field(
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "Total energy consumption since boot (in mJ).",
        COUNTER,
        lambda one: pynvml.nvmlDeviceGetTotalEnergyConsumption(one.handle),
    ),
    Field(
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
        "Total number of PCIe retries.",
        COUNTER,
        lambda one: pynvml.nvmlDeviceGetPcieReplayCounter(one.handle),
    ),
    Field(
        "DCGM_FI_DEV_GPU_UTIL",
        "GPU utilization (in %).",
        GAUGE,
        lambda one: pynvml.nvmlDeviceGetUtilizationRates(one.handle).gpu,
    ),
    Field(
        "DCGM_FI_DEV_MEM_COPY_UTIL",
        "Memory utilization (in %).",
        GAUGE,
        lambda one: pynvml.nvmlDeviceGetUtilizationRates(one.handle).memory,
    ),
    Field(
        "DCGM_FI_DEV_ENC_UTIL",
        "Encoder utilization (in %).",
        GAUGE,
        lambda one: pynvml.nvmlDeviceGetEncoderUtilization(one.handle)[0],
    ),
    Field(
        "DCGM_FI_DEV_DEC_UTIL",
        "Decoder utilization (in %).",
        GAUGE,
        lambda one: pynvml.nvmlDeviceGetDecoderUtilization(one.handle)[0],
    ),
    Field(
        "DCGM_FI_PROF_SM_ACTIVE",
        "Ratio of cycles in which an SM has at least one warp assigned.",
        GAUGE,
        lambda one: one.rates.sm_percent(one.handle, PERCENT),
    ),
    Field("DCGM_FI_DEV_FB_FREE", "Framebuffer memory free (in MiB).", GAUGE, lambda one: memory(one).free // MIB),
    Field("DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).", GAUGE, lambda one: memory(one).used // MIB),
    Field(
        "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
        "Total number of single-bit volatile ECC errors.",
        COUNTER,
        lambda one: ecc(one, pynvml.NVML_MEMORY_ERROR_TYPE_CORRECTED),
    ),
    Field(
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
        "Total number of double-bit volatile ECC errors.",
        COUNTER,
        lambda one: ecc(one, pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
    ),
    # DCGM calls it a counter, and tells how fast it grows, in thousands of KiB a second: dashboards reckon with both.
    Field(
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
        "Total number of NVLink bandwidth counters for all lanes",
        COUNTER,
        lambda one: one.rates.of("links", links_kib(one.handle) / 1000),
    ),
    Field(
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
        "Number of remapped rows for uncorrectable errors",
        COUNTER,
        lambda one: rows(one, UNCORRECTABLE),
    ),
    Field(
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
        "Number of remapped rows for correctable errors",
        COUNTER,
        lambda one: rows(one, CORRECTABLE),
    ),
    Field(
        "DCGM_FI_DEV_ROW_REMAP_FAILURE",
        "Whether remapping of rows has failed",
        GAUGE,
        lambda one: rows(one, FAILED),
    ),
)
# Of events that were heard, which a GPU keeps beyond its loss.
XID = ("DCGM_FI_DEV_XID_ERRORS", "Value of the last XID error encountered.", GAUGE)
