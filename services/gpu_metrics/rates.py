"""What NVML tells of the time between two looks at a GPU."""

import time
from typing import Any

import pynvml

# NVML's samples want a tenth of a second between them; two that read at the same time get the same figure.
LEAST_SECONDS = 0.2


class Rates:
    """Of one GPU."""

    def __init__(self) -> None:
        self.last: dict[str, tuple[float, float]] = {}
        self.found: dict[str, float] = {}
        self.sampled = 0.0
        self.sample: Any = None

    def of(self, name: str, total: float) -> float | None:
        """How much it grows in a second, from the second look on."""
        now = time.monotonic()
        before = self.last.get(name)
        if before and now - before[0] < LEAST_SECONDS:
            return self.found.get(name)
        self.last[name] = now, total
        # The driver begins at 0 again when the GPU is reset.
        if before and total >= before[1]:
            self.found[name] = (total - before[1]) / (now - before[0])
        return self.found.get(name)

    def sm_percent(self, handle: Any, whole: float) -> float | None:
        """Of all SMs those that had work, as a part of `whole` percent. Raises NVMLError."""
        if not pynvml.nvmlGpmQueryDeviceSupport(handle).isSupportedDevice:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        now = time.monotonic()
        if self.sample is not None and now - self.sampled < LEAST_SECONDS:
            return self.found.get("sm")
        before, sample = self.sample, pynvml.nvmlGpmSampleAlloc()
        try:
            pynvml.nvmlGpmSampleGet(handle, sample)
        except pynvml.NVMLError:
            pynvml.nvmlGpmSampleFree(sample)
            raise
        self.sample, self.sampled = sample, now
        if before is not None:
            try:
                self.found["sm"] = between(before, sample) / whole
            finally:
                pynvml.nvmlGpmSampleFree(before)
        return self.found.get("sm")

    def close(self) -> None:
        if self.sample is not None:
            pynvml.nvmlGpmSampleFree(self.sample)


def between(before: Any, after: Any) -> float:
    """Raises NVMLError."""
    wanted = pynvml.c_nvmlGpmMetricsGet_t()
    wanted.version, wanted.numMetrics = pynvml.NVML_GPM_METRICS_GET_VERSION, 1
    wanted.sample1, wanted.sample2 = before, after
    wanted.metrics[0].metricId = pynvml.NVML_GPM_METRIC_SM_UTIL
    found = pynvml.nvmlGpmMetricsGet(wanted).metrics[0]
    if found.nvmlReturn != pynvml.NVML_SUCCESS:
        raise pynvml.NVMLError(found.nvmlReturn)
    return float(found.value)
