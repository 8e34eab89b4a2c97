"""What a scrape gives: of well GPUs, of each failure, and of a machine without a driver."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.gpu_metrics.fields import FIELDS
from tests.support.waiting import eventually

from .exporter import GPUS, NODE, Exporter

ALL = {str(index) for index in range(GPUS)}
# What `nvidia-smi -q -x` said of a real H100, idle and at work.
IDLE = {
    "DCGM_FI_DEV_SM_CLOCK": 345,
    "DCGM_FI_DEV_MEM_CLOCK": 2619,
    "DCGM_FI_DEV_MEMORY_TEMP": 38,
    "DCGM_FI_DEV_GPU_TEMP": 36,
    "DCGM_FI_DEV_POWER_USAGE": 72.77,
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": 0,
    "DCGM_FI_DEV_GPU_UTIL": 0,
    "DCGM_FI_DEV_MEM_COPY_UTIL": 0,
    "DCGM_FI_DEV_ENC_UTIL": 0,
    "DCGM_FI_DEV_DEC_UTIL": 0,
    "DCGM_FI_DEV_XID_ERRORS": 0,
    "DCGM_FI_DEV_FB_FREE": 81079,
    "DCGM_FI_DEV_FB_USED": 0,
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": 0,
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": 0,
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": 0,
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": 0,
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": 0,
}
BUSY = IDLE | {
    "DCGM_FI_DEV_SM_CLOCK": 1665,
    "DCGM_FI_DEV_MEMORY_TEMP": 58,
    "DCGM_FI_DEV_GPU_TEMP": 68,
    "DCGM_FI_DEV_POWER_USAGE": 696.51,
    "DCGM_FI_DEV_GPU_UTIL": 100,
    "DCGM_FI_DEV_MEM_COPY_UTIL": 42,
    "DCGM_FI_DEV_FB_FREE": 79979,
    "DCGM_FI_DEV_FB_USED": 1101,
}
ENERGY = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
# Figures that no recorded form has.
LEFT_OUT = {"DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"}
XID, OWN = "DCGM_FI_DEV_XID_ERRORS", "landbridge_gpu_exporter"


@pytest.fixture
def exporter(tmp_path: Path) -> Iterator[Exporter]:
    made = Exporter(tmp_path)
    yield made
    made.end()


def of(exporter: Exporter, gpu: int) -> dict[str, float]:
    seen = exporter.seen()
    return {name: values[str(gpu)] for name, values in seen.items() if str(gpu) in values and name != ENERGY}


def test_a_well_machine_tells_what_a_real_one_did(exporter: Exporter) -> None:
    exporter.write("gpus.json", {"node": NODE, "held": {"2": "team/train"}})
    assert of(exporter, 0) == IDLE
    assert of(exporter, 2) == BUSY
    seen = exporter.seen()
    assert {name for name in seen if name.startswith("DCGM")} == {*IDLE, ENERGY}
    assert all(set(seen[name]) == ALL for name in (*IDLE, ENERGY))
    assert {one.name for one in FIELDS} - set(seen) == LEFT_OUT, "what is not known is left out, not 0"
    assert (seen[f"{OWN}_gpus"], seen[f"{OWN}_driver"], seen[f"{OWN}_failing_gpus"]) == ({"": 8}, {"": 1}, {"": 0})
    time.sleep(0.1)
    later = exporter.seen()[ENERGY]
    assert all(later[gpu] > before for gpu, before in seen[ENERGY].items()), "it is a counter"
    assert later["2"] - seen[ENERGY]["2"] > 5 * (later["0"] - seen[ENERGY]["0"])


def test_names_kinds_and_labels_are_those_of_dcgm_exporter(exporter: Exporter) -> None:
    text = exporter.page("/metrics")
    for one in FIELDS:
        if one.name not in LEFT_OUT:
            assert f"# HELP {one.name} {one.help}\n# TYPE {one.name} {one.kind}\n{one.name}{{gpu=" in text
    assert f"# TYPE {XID} gauge\n" in text
    assert f"# TYPE {ENERGY} counter\n" in text
    labels = exporter.labels("DCGM_FI_DEV_GPU_TEMP")
    assert len({one["UUID"] for one in labels.values()}) == GPUS
    assert labels["3"] == {
        "gpu": "3",
        "UUID": labels["3"]["UUID"],
        "pci_bus_id": "00000000:00:09.0",
        "device": "nvidia3",
        "modelName": "NVIDIA H100 80GB HBM3",
        "Hostname": NODE,
        "DCGM_FI_DRIVER_VERSION": "580.159.04",
    }


def test_each_failure_is_seen_on_its_gpu_alone(exporter: Exporter) -> None:
    exporter.faults(
        {
            1: {"xids": [31, 63]},
            2: {"double_bit": 2, "single_bit": 7},
            3: {"remap_failed": 1, "remapped_uncorrectable": 4, "remapped_correctable": 5},
            4: {"gpu_c": 92, "memory_c": 104},
            5: {"replays": 11, "memory_c": None},
        }
    )
    wanted = {
        0: IDLE,
        1: IDLE | {XID: 63},
        2: IDLE | {"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": 2, "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": 7},
        3: IDLE
        | {
            "DCGM_FI_DEV_ROW_REMAP_FAILURE": 1,
            "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": 4,
            "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": 5,
        },
        4: IDLE | {"DCGM_FI_DEV_GPU_TEMP": 92, "DCGM_FI_DEV_MEMORY_TEMP": 104},
        5: {name: value for name, value in IDLE.items() if name != "DCGM_FI_DEV_MEMORY_TEMP"}
        | {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER": 11},
    }
    assert {gpu: of(exporter, gpu) for gpu in wanted} == wanted
    assert exporter.seen()[f"{OWN}_failing_gpus"] == {"": 0}, "they still tell all"


def test_a_lost_gpu_takes_nothing_from_seven_well_ones(exporter: Exporter) -> None:
    before = exporter.labels(XID)["6"]
    exporter.faults({6: {"lost": True, "xids": [79]}})
    seen = exporter.seen()
    assert seen[f"{OWN}_gpus"] == {"": 8}
    assert seen[f"{OWN}_failing_gpus"] == {"": 1}
    assert seen[f"{OWN}_driver"] == {"": 1}
    assert all(set(seen[name]) == ALL - {"6"} for name in (*IDLE, ENERGY) if name != XID)
    assert seen[XID] == {**dict.fromkeys(ALL, 0), "6": 79}, "why it went is told beyond its loss"
    assert exporter.labels(f"{OWN}_gpu_error") == {"6": {**before, "error": "GPU is lost"}}
    exporter.faults({6: {"xids": [79]}})
    assert of(exporter, 6) == IDLE | {XID: 79}
    assert exporter.log.read_text() == "gpu_metrics: GPU 6: GPU is lost\ngpu_metrics: GPU 6: it answers again\n"


def test_a_gpu_that_was_lost_before_has_an_index_alone(tmp_path: Path) -> None:
    (tmp_path / "gpu-faults.json").write_text('{"gpus": {"0": {"lost": true}}}')
    exporter = Exporter(tmp_path, 2)
    seen = exporter.seen()
    assert (seen[f"{OWN}_gpus"], seen[f"{OWN}_failing_gpus"]) == ({"": 2}, {"": 1})
    assert set(seen["DCGM_FI_DEV_GPU_TEMP"]) == set(seen[XID]) == {"1"}
    exporter.faults({})
    assert of(exporter, 0) == IDLE
    exporter.end()


def test_an_xid_between_two_scrapes_is_heard(exporter: Exporter) -> None:
    exporter.faults({0: {"xids": [48]}})
    time.sleep(2.5)
    # As when the driver was asked again for it: nothing is new.
    exporter.faults({})
    assert exporter.seen()[XID]["0"] == 48
    exporter.faults({0: {"xids": [94]}})
    assert exporter.seen()[XID]["0"] == 94


def test_sms_and_links_are_told_from_the_second_look_on(exporter: Exporter) -> None:
    exporter.faults({0: {"sm_percent": 37.5, "nvlink_sent_kib": 1000, "nvlink_received_kib": 0}})
    assert not LEFT_OUT & set(exporter.seen())
    begun = time.monotonic()
    time.sleep(0.5)
    exporter.faults({0: {"sm_percent": 37.5, "nvlink_sent_kib": 1_001_000, "nvlink_received_kib": 3_000_000}})
    seen = exporter.seen()
    assert seen["DCGM_FI_PROF_SM_ACTIVE"] == {"0": 0.375}
    (rate,) = seen["DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"].values()
    assert 4000 / (time.monotonic() - begun + 1) < rate <= 4000 / 0.5, "thousands of KiB a second"


@pytest.mark.parametrize("libraries", ["played", None])
def test_without_a_driver_it_says_so_and_stays(tmp_path: Path, libraries: str | None) -> None:
    """By the real package, too: there is no library here that it could load."""
    exporter = Exporter(tmp_path, 0) if libraries else Exporter(tmp_path, libraries=None)
    for _ in range(2):
        seen = exporter.seen()
        assert (seen[f"{OWN}_driver"], seen[f"{OWN}_gpus"]) == ({"": 0}, {"": 0})
        assert not any(name.startswith("DCGM") for name in seen)
    assert exporter.page("/healthz") == "ok\n"
    assert exporter.log.read_text() == "gpu_metrics: driver: NVML Shared Library Not Found\n", "once"
    if libraries:
        exporter.write("hardware.json", {"gpus": 8})
        assert set(exporter.seen()["DCGM_FI_DEV_GPU_TEMP"]) == ALL, "it tries again"
        exporter.faults({}, driver="gone")
        assert exporter.seen()[f"{OWN}_driver"] == {"": 0}
        exporter.faults({})
        assert eventually(lambda: exporter.seen()[f"{OWN}_gpus"] == {"": 8}, 10)
    exporter.end()
