"""NVML as local machines play it, beside the package nvidia-ml-py: what services use of it is the same."""

import ast
import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pynvml as real

from local.workers import images
from local.workers.played.errors import TEXTS

ROOT = Path(__file__).parents[3]


def played() -> ModuleType:
    spec = importlib.util.spec_from_file_location("played_pynvml", images.LIBRARIES / "pynvml.py")
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


PLAYED = played()


def used() -> set[str]:
    return {
        node.attr
        for path in (ROOT / "services/gpu_metrics").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "pynvml"
    }


def form(function: Any) -> list[tuple[str, Any]]:
    return [(one.name, one.default) for one in inspect.signature(function).parameters.values()]


def test_functions_and_numbers_are_those_of_the_real_one() -> None:
    assert real.__file__ != PLAYED.__file__
    names = used()
    assert len(names) > 50
    functions = {name for name in names if inspect.isfunction(getattr(real, name))}
    assert {name: form(getattr(PLAYED, name)) for name in functions} == {
        name: form(getattr(real, name)) for name in functions
    }
    numbers = {name for name in names if isinstance(getattr(real, name), int)}
    assert {name: getattr(PLAYED, name) for name in numbers} == {name: getattr(real, name) for name in numbers}
    assert names - functions - numbers == {"NVMLError", "c_nvmlGpmMetricsGet_t"}


def test_errors_are_those_of_the_real_one() -> None:
    names = {name for name in dir(real) if name.startswith("NVML_ERROR_")}
    assert {name: getattr(PLAYED, name) for name in names} == {name: getattr(real, name) for name in names}
    classes = {name for name in dir(real) if name.startswith("NVMLError_")}
    assert {name for name in dir(PLAYED) if name.startswith("NVMLError_")} == classes
    for name in names:
        of_real, of_played = (module.NVMLError(getattr(module, name)) for module in (real, PLAYED))
        assert type(of_real).__name__ == type(of_played).__name__ in classes
        assert of_real.value == of_played.value == getattr(PLAYED, type(of_played).__name__)().value
        if name.removeprefix("NVML_ERROR_") in TEXTS:
            assert str(of_real) == str(of_played)


def test_structures_have_the_fields_that_services_read() -> None:
    assert {"version", "numMetrics", "sample1", "sample2", "metrics"} <= set(vars(PLAYED.c_nvmlGpmMetricsGet_t()))
    assert {"version", "numMetrics", "sample1", "sample2", "metrics"} == {
        name for name, _ in real.c_nvmlGpmMetricsGet_t._fields_
    }
    for structure, read in (
        (real.c_nvmlGpmMetric_t, {"metricId", "nvmlReturn", "value"}),
        (real.c_nvmlFieldValue_t, {"nvmlReturn", "valueType", "value"}),
        (real.c_nvmlValue_t, {"dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal"}),
        (real.c_nvmlMemory_v2_t, {"used", "free"}),
        (real.c_nvmlUtilization_t, {"gpu", "memory"}),
        (real.c_nvmlEventData_t, {"eventType", "eventData"}),
        (real.c_nvmlGpmSupport_t, {"isSupportedDevice"}),
        (real.nvmlPciInfo_t, {"busId"}),
    ):
        assert read <= {name for name, _ in structure._fields_}, structure


def test_the_image_of_services_loads_it_on_local_machines() -> None:
    known = images.of("localhost/landbridge-services:1")
    assert known
    first, *_ = known.environment["PYTHONPATH"].split(":")
    assert first == str(images.LIBRARIES)
    assert [one.name for one in Path(first).glob("*.py")] == ["pynvml.py"], "it hides nothing else"
    assert first not in sys.path
