"""One GPU: what names it, what it tells now, and the last Xid that was heard of it."""

import contextlib
from typing import Any, NamedTuple

import pynvml

from .fields import FIELDS, Asked
from .rates import Rates

# Of a figure that this GPU, its driver or this container's rights don't have: it is left out, for 0 would be a lie.
ABSENT = {
    pynvml.NVML_ERROR_NOT_SUPPORTED,
    pynvml.NVML_ERROR_NO_PERMISSION,
    pynvml.NVML_ERROR_INVALID_ARGUMENT,
    pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
    pynvml.NVML_ERROR_NO_DATA,
    pynvml.NVML_ERROR_NOT_READY,
    pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
    pynvml.NVML_ERROR_DEPRECATED,
}
# Nothing of it answers any more.
GONE = {pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_GPU_NOT_FOUND}
# More events than one look takes are left to the next.
MOST_EVENTS = 64


class Told(NamedTuple):
    """Of one GPU. `why` is empty for one that is well."""

    labels: dict[str, str]
    figures: dict[str, float]
    xid: int | None
    why: str


class Gpu:
    """By its index. All raise nothing: what fails is told."""

    def __init__(self, index: int) -> None:
        self.labels = {"gpu": str(index), "device": f"nvidia{index}"}
        self.index, self.rates = index, Rates()
        self.handle: Any = None
        self.events: Any = None
        # None where the driver tells of no events.
        self.xid: int | None = None

    def known(self) -> None:
        """Raises NVMLError."""
        if self.handle is not None:
            return
        handle = pynvml.nvmlDeviceGetHandleByIndex(self.index)
        self.labels |= {
            "UUID": pynvml.nvmlDeviceGetUUID(handle),
            "pci_bus_id": pynvml.nvmlDeviceGetPciInfo(handle).busId,
            "modelName": pynvml.nvmlDeviceGetName(handle),
        }
        self.handle = handle
        with contextlib.suppress(pynvml.NVMLError):
            self.register()

    def register(self) -> None:
        """A set of its own: of a GPU that is lost, an event's handle would not tell which it is. Raises NVMLError."""
        events = pynvml.nvmlEventSetCreate()
        try:
            pynvml.nvmlDeviceRegisterEvents(self.handle, pynvml.nvmlEventTypeXidCriticalError, events)
        except pynvml.NVMLError:
            pynvml.nvmlEventSetFree(events)
            raise
        self.events, self.xid = events, 0

    def listen(self) -> None:
        """What has happened since it last did."""
        if self.events is None:
            return
        # It ends in a timeout when there is nothing more, and in a loss when the GPU is.
        with contextlib.suppress(pynvml.NVMLError):
            for _ in range(MOST_EVENTS):
                heard = pynvml.nvmlEventSetWait_v2(self.events, 0)
                if heard.eventType == pynvml.nvmlEventTypeXidCriticalError:
                    self.xid = int(heard.eventData)

    def look(self) -> Told:
        figures: dict[str, float] = {}
        try:
            self.known()
        except pynvml.NVMLError as error:
            return Told(self.labels, figures, self.xid, str(error))
        self.listen()
        why, asked = "", Asked(self.handle, self.rates)
        for one in FIELDS:
            try:
                found = one.read(asked)
            except pynvml.NVMLError as error:
                if error.value in ABSENT:
                    continue
                why = why or str(error)
                if error.value in GONE:
                    break
            else:
                if found is not None:
                    figures[one.name] = float(found)
        return Told(self.labels, figures, self.xid, why)

    def close(self) -> None:
        with contextlib.suppress(pynvml.NVMLError):
            self.rates.close()
            if self.events is not None:
                pynvml.nvmlEventSetFree(self.events)
