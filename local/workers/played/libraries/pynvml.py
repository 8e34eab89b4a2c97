"""NVML as a local machine plays it: those functions of nvidia-ml-py that our services call, with their own names.

Services find it by their import of `pynvml`, and cannot tell. A test compares it with the real one.
"""

from types import SimpleNamespace
from typing import Any

from local.workers.played import state
from local.workers.played.errors import CLASSES, NUMBERS, NVMLError

globals().update({f"NVML_ERROR_{name}": number for name, number in NUMBERS.items()})
globals().update({one.__name__: one for one in CLASSES.values()})
NOT_SUPPORTED = NUMBERS["NOT_SUPPORTED"]
NVML_SUCCESS = 0
NVML_CLOCK_SM, NVML_CLOCK_MEM = 1, 2
NVML_TEMPERATURE_GPU = 0
NVML_VOLATILE_ECC = 0
NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 0, 1
NVML_FI_DEV_MEMORY_TEMP = 82
NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX = 138, 139
NVML_VALUE_TYPE_DOUBLE, NVML_VALUE_TYPE_UNSIGNED_INT, NVML_VALUE_TYPE_UNSIGNED_LONG = 0, 1, 2
NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, NVML_VALUE_TYPE_SIGNED_LONG_LONG = 3, 4
NVML_VALUE_TYPE_SIGNED_INT, NVML_VALUE_TYPE_UNSIGNED_SHORT = 5, 6
NVML_GPM_METRICS_GET_VERSION, NVML_GPM_METRIC_SM_UTIL = 1, 2
nvmlMemory_v2 = 0x02000028
nvmlEventTypeXidCriticalError = 8
MIB = 1 << 20
# Field → figure, and the type of its value.
KEPT = {
    NVML_FI_DEV_MEMORY_TEMP: ("memory_c", NVML_VALUE_TYPE_UNSIGNED_INT, "uiVal"),
    NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX: ("nvlink_sent_kib", NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, "ullVal"),
    NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX: ("nvlink_received_kib", NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, "ullVal"),
}
opened = [0]
energy = state.Energy()


def _open() -> None:
    """As with the real one, where whoever has it open is told of a driver that has gone. Raises NVMLError."""
    if not opened[0]:
        raise NVMLError(NUMBERS["UNINITIALIZED"])
    if not state.driver():
        raise NVMLError(NUMBERS["DRIVER_NOT_LOADED"])


def _figure(handle: int, name: str) -> Any:
    """Raises NVMLError."""
    _open()
    known = state.figures(handle)
    if known.get("lost"):
        raise NVMLError(NUMBERS["GPU_IS_LOST"])
    if known.get(name) is None:
        raise NVMLError(NOT_SUPPORTED)
    return known[name]


def nvmlInit() -> None:
    if not state.driver():
        raise NVMLError(NUMBERS["DRIVER_NOT_LOADED" if state.number() else "LIBRARY_NOT_FOUND"])
    opened[0] += 1


def nvmlShutdown() -> None:
    if not opened[0]:
        raise NVMLError(NUMBERS["UNINITIALIZED"])
    opened[0] -= 1


def nvmlSystemGetDriverVersion() -> str:
    _open()
    return str(state.RECORDED["driver"])


def nvmlDeviceGetCount() -> int:
    _open()
    return state.number()


def nvmlDeviceGetHandleByIndex(index: int) -> int:
    _open()
    if not 0 <= index < state.number():
        raise NVMLError(NUMBERS["INVALID_ARGUMENT"])
    _figure(index, "total_mib")
    return index


def nvmlDeviceGetName(handle: int) -> str:
    _figure(handle, "total_mib")
    return str(state.RECORDED["name"])


def nvmlDeviceGetUUID(handle: int) -> str:
    _figure(handle, "total_mib")
    return state.uuid_of(handle)


def nvmlDeviceGetPciInfo(handle: int) -> Any:
    _figure(handle, "total_mib")
    # The recorded one lay at 00:06.0.
    return SimpleNamespace(busId=f"00000000:00:{6 + handle:02X}.0", domain=0, bus=0, device=6 + handle)


def nvmlDeviceGetClockInfo(handle: int, type: int) -> int:
    return int(_figure(handle, {NVML_CLOCK_SM: "sm_mhz", NVML_CLOCK_MEM: "memory_mhz"}[type]))


def nvmlDeviceGetTemperature(handle: int, sensor: int) -> int:
    return int(_figure(handle, {NVML_TEMPERATURE_GPU: "gpu_c"}[sensor]))


def nvmlDeviceGetPowerUsage(handle: int) -> int:
    return int(_figure(handle, "power_mw"))


def nvmlDeviceGetTotalEnergyConsumption(handle: int) -> int:
    return energy.millijoules(handle, _figure(handle, "power_mw"))


def nvmlDeviceGetPcieReplayCounter(handle: int) -> int:
    return int(_figure(handle, "replays"))


def nvmlDeviceGetUtilizationRates(handle: int) -> Any:
    return SimpleNamespace(gpu=_figure(handle, "gpu_percent"), memory=_figure(handle, "memory_percent"))


def nvmlDeviceGetEncoderUtilization(handle: int) -> list[int]:
    return [_figure(handle, "encoder_percent"), 0]


def nvmlDeviceGetDecoderUtilization(handle: int) -> list[int]:
    return [_figure(handle, "decoder_percent"), 0]


def nvmlDeviceGetMemoryInfo(handle: int, version: int | None = None) -> Any:
    known = {name: _figure(handle, f"{name}_mib") * MIB for name in ("total", "reserved", "used", "free")}
    if version is None:
        known["used"] += known.pop("reserved")
    return SimpleNamespace(**known)


def nvmlDeviceGetTotalEccErrors(handle: int, errorType: int, counterType: int) -> int:
    if counterType != NVML_VOLATILE_ECC:
        raise NVMLError(NOT_SUPPORTED)
    corrected = errorType == NVML_MEMORY_ERROR_TYPE_CORRECTED
    return int(_figure(handle, "single_bit" if corrected else "double_bit"))


def nvmlDeviceGetRemappedRows(device: int) -> tuple[int, ...]:
    wanted = ("remapped_correctable", "remapped_uncorrectable", "remap_pending", "remap_failed")
    return tuple(int(_figure(device, name)) for name in wanted)


def nvmlDeviceGetFieldValues(handle: int, fieldIds: list[int | tuple[int, int]]) -> list[Any]:
    _figure(handle, "total_mib")
    return [_kept(handle, one if isinstance(one, int) else one[0]) for one in fieldIds]


def _kept(handle: int, number: int) -> Any:
    name, kind, part = KEPT[number]
    try:
        value = SimpleNamespace(**{part: _figure(handle, name)})
    except NVMLError as error:
        return SimpleNamespace(nvmlReturn=error.value)
    return SimpleNamespace(nvmlReturn=NVML_SUCCESS, valueType=kind, value=value)


class _Events:
    """Of each GPU, how many of its Xids were heard."""

    def __init__(self) -> None:
        self.heard: dict[int, int] = {}


def nvmlEventSetCreate() -> _Events:
    _open()
    return _Events()


def nvmlDeviceRegisterEvents(handle: int, eventTypes: int, eventSet: _Events) -> None:
    _figure(handle, "total_mib")
    if eventTypes != nvmlEventTypeXidCriticalError:
        raise NVMLError(NOT_SUPPORTED)
    eventSet.heard[handle] = len(state.fault(handle).get("xids") or ())


def nvmlEventSetWait_v2(eventSet: _Events, timeoutms: int) -> Any:
    """Only whoever does not wait is honoured."""
    _open()
    if timeoutms:
        raise NVMLError(NUMBERS["INVALID_ARGUMENT"])
    for handle, heard in eventSet.heard.items():
        xids = state.fault(handle).get("xids") or []
        # Whoever takes them back begins anew.
        eventSet.heard[handle] = min(heard, len(xids))
        if new := xids[eventSet.heard[handle] :]:
            eventSet.heard[handle] += 1
            return SimpleNamespace(device=handle, eventType=nvmlEventTypeXidCriticalError, eventData=new[0])
    for handle in eventSet.heard:
        _figure(handle, "total_mib")
    raise NVMLError(NUMBERS["TIMEOUT"])


def nvmlEventSetFree(eventSet: _Events) -> None:
    eventSet.heard.clear()


class c_nvmlGpmMetricsGet_t:
    def __init__(self) -> None:
        self.version = self.numMetrics = 0
        self.sample1: Any = None
        self.sample2: Any = None
        self.metrics = [SimpleNamespace(metricId=0, nvmlReturn=NVML_SUCCESS, value=0.0)]


def nvmlGpmQueryDeviceSupport(device: int) -> Any:
    """No recorded form tells how busy SMs are: there where somebody has written `sm_percent`."""
    _figure(device, "total_mib")
    return SimpleNamespace(version=1, isSupportedDevice=int("sm_percent" in state.figures(device)))


def nvmlGpmSampleAlloc() -> Any:
    _open()
    return SimpleNamespace(percent=None)


def nvmlGpmSampleGet(device: int, gpmSample: Any) -> Any:
    gpmSample.percent = float(_figure(device, "sm_percent"))
    return gpmSample


def nvmlGpmSampleFree(gpmSample: Any) -> None:
    gpmSample.percent = None


def nvmlGpmMetricsGet(metricsGet: c_nvmlGpmMetricsGet_t) -> c_nvmlGpmMetricsGet_t:
    if metricsGet.sample1.percent is None or metricsGet.metrics[0].metricId != NVML_GPM_METRIC_SM_UTIL:
        raise NVMLError(NUMBERS["INVALID_ARGUMENT"])
    metricsGet.metrics[0].value = metricsGet.sample2.percent
    return metricsGet
