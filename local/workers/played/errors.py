"""NVML's errors by name and number, and their classes as the package nvidia-ml-py makes them."""

import string

NUMBERS = {
    "UNINITIALIZED": 1,
    "INVALID_ARGUMENT": 2,
    "NOT_SUPPORTED": 3,
    "NO_PERMISSION": 4,
    "ALREADY_INITIALIZED": 5,
    "NOT_FOUND": 6,
    "INSUFFICIENT_SIZE": 7,
    "INSUFFICIENT_POWER": 8,
    "DRIVER_NOT_LOADED": 9,
    "TIMEOUT": 10,
    "IRQ_ISSUE": 11,
    "LIBRARY_NOT_FOUND": 12,
    "FUNCTION_NOT_FOUND": 13,
    "CORRUPTED_INFOROM": 14,
    "GPU_IS_LOST": 15,
    "RESET_REQUIRED": 16,
    "OPERATING_SYSTEM": 17,
    "LIB_RM_VERSION_MISMATCH": 18,
    "IN_USE": 19,
    "MEMORY": 20,
    "NO_DATA": 21,
    "VGPU_ECC_NOT_SUPPORTED": 22,
    "INSUFFICIENT_RESOURCES": 23,
    "FREQ_NOT_SUPPORTED": 24,
    "ARGUMENT_VERSION_MISMATCH": 25,
    "DEPRECATED": 26,
    "NOT_READY": 27,
    "GPU_NOT_FOUND": 28,
    "INVALID_STATE": 29,
    "RESET_TYPE_NOT_SUPPORTED": 30,
    "UNKNOWN": 999,
}
TEXTS = {
    "UNINITIALIZED": "Uninitialized",
    "INVALID_ARGUMENT": "Invalid Argument",
    "NOT_SUPPORTED": "Not Supported",
    "NO_PERMISSION": "Insufficient Permissions",
    "ALREADY_INITIALIZED": "Already Initialized",
    "NOT_FOUND": "Not Found",
    "INSUFFICIENT_SIZE": "Insufficient Size",
    "INSUFFICIENT_POWER": "Insufficient External Power",
    "DRIVER_NOT_LOADED": "Driver Not Loaded",
    "TIMEOUT": "Timeout",
    "IRQ_ISSUE": "Interrupt Request Issue",
    "LIBRARY_NOT_FOUND": "NVML Shared Library Not Found",
    "FUNCTION_NOT_FOUND": "Function Not Found",
    "CORRUPTED_INFOROM": "Corrupted infoROM",
    "GPU_IS_LOST": "GPU is lost",
    "RESET_REQUIRED": "GPU requires restart",
    "OPERATING_SYSTEM": "The operating system has blocked the request.",
    "LIB_RM_VERSION_MISMATCH": "RM has detected an NVML/RM version mismatch.",
    "MEMORY": "Insufficient Memory",
    "UNKNOWN": "Unknown Error",
}
NAMES = {number: name for name, number in NUMBERS.items()}


class NVMLError(Exception):
    """By its number it is one of the classes below, as with the real one."""

    value: int

    def __new__(cls, *args: int) -> "NVMLError":
        """Each class has its number."""
        if cls is not NVMLError:
            return super().__new__(cls)
        (number,) = args
        made = super().__new__(CLASSES.get(number, cls))
        made.value = number
        return made

    def __str__(self) -> str:
        return TEXTS.get(NAMES.get(self.value, ""), f"NVML Error with code {self.value}")


def class_name(name: str) -> str:
    return f"NVMLError_{string.capwords(name, '_').replace('_', '')}"


CLASSES: dict[int, type[NVMLError]] = {
    number: type(class_name(name), (NVMLError,), {"value": number}) for name, number in NUMBERS.items()
}
