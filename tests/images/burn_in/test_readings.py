"""What tools say, whole and broken. A text that is not what the format says is never read as good."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from images.burn_in import smi, tools
from images.burn_in.run import pci, version
from images.burn_in.smi import Unreadable
from images.burn_in.tools import AllReduce, Cell, Diagnosis, Xid
from tests.images.burn_in.bed import PCI, text

PARSERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "nvidia-smi": (smi.parse, "nvidia-smi.xml"),
    "links": (smi.links, "nvidia-smi-nvlink.txt"),
    "nvbandwidth": (tools.bandwidth, "nvbandwidth.json"),
    "all_reduce_perf": (tools.all_reduce, "all_reduce_perf.txt"),
    "dcgmi 4": (tools.diagnoses, "dcgmi-diag-4.json"),
    "dcgmi 3": (tools.diagnoses, "dcgmi-diag-3.json"),
}


def test_nvidia_smi_tells_of_each_gpu() -> None:
    machine = smi.parse(text("nvidia-smi.xml"))
    assert (machine.driver, len(machine.gpus)) == ("580.178.04", 8)
    gpu = machine.gpus[5]
    assert gpu.part == "GPU 5 (serial 1654023001035, GPU-00000005-1111-4222-8333-000000000006)"
    assert gpu.readings == {
        "persistence_mode": "Enabled",
        "ecc_mode": "Enabled",
        "mig_mode": "Disabled",
        "recovery_action": "None",
        "rows_pending": "No",
        "rows_failure": "No",
        "rows_uncorrectable": 2,
        "pcie_width": 16,
        "graphics_clock": 1980,
        "sram_correctable": 0,
        "sram_uncorrectable": 0,
        "dram_correctable": 0,
        "dram_uncorrectable": 0,
    }
    assert (gpu.reasons, gpu.at_work, gpu.fabric) == (("gpu_idle",), (), "Completed/Success")
    # The board's life counts beside the driver's.
    assert machine.gpus[3].readings["dram_correctable"] == 6


def test_older_drivers_are_understood() -> None:
    """DTD v11: one count of SRAM errors, and throttle reasons."""
    old = text("nvidia-smi.xml").replace("clocks_event_reason", "clocks_throttle_reason")
    for part in ("parity", "secded"):
        old = old.replace(f"sram_uncorrectable_{part}", "sram_uncorrectable" if part == "parity" else "of_old")
    gpu = smi.parse(old).gpus[0]
    assert (gpu.reasons, gpu.readings["sram_uncorrectable"]) == (("gpu_idle",), 0)


@pytest.mark.parametrize("silent", smi.SILENT)
def test_what_has_no_value_is_not_told(silent: str) -> None:
    spoilt = text("nvidia-smi.xml").replace("<current_ecc>Enabled", f"<current_ecc>{silent}")
    assert "ecc_mode" not in smi.parse(spoilt).gpus[0].readings


def test_half_of_the_kinds_of_errors_is_no_sum() -> None:
    spoilt = text("nvidia-smi.xml").replace("<sram_uncorrectable_secded>0", "<sram_uncorrectable_secded>N/A")
    assert "sram_uncorrectable" not in smi.parse(spoilt).gpus[0].readings


def test_programs_on_a_gpu_are_told() -> None:
    process = "<processes><process_info><pid>77</pid><type>C</type><process_name>python3</process_name></process_info>"
    assert smi.parse(text("nvidia-smi.xml").replace("<processes>", process, 1)).gpus[0].at_work == ("77 (python3)",)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<attached_gpus>8", "<attached_gpus>7"),
        ("<attached_gpus>8</attached_gpus>", ""),
        ("<uuid>GPU-00000003", "<old>GPU-00000003"),
        ("NVIDIA H100 80GB HBM3", "N/A"),
    ],
)
def test_nvidia_smi_that_contradicts_itself(old: str, new: str) -> None:
    spoilt = text("nvidia-smi.xml").replace(old, new)
    if new.startswith("<old>"):
        spoilt = spoilt.replace("000000000004</uuid>", "000000000004</old>")
    with pytest.raises(Unreadable):
        smi.parse(spoilt)


def test_links() -> None:
    found = smi.links(text("nvidia-smi-nvlink.txt"))
    assert {len(rates) for rates in found.values()} == {18}
    assert len(found) == 8
    one = "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-a)\n\t Link 0: 25 GB/s\n\t Link 1: <inactive>\n\t Link 2: Inactive\n"
    assert smi.links(one) == {"GPU-a": [25.0, None, None]}


@pytest.mark.parametrize(
    "spoilt",
    [
        "GPU 0: NVIDIA A100 (UUID: GPU-a)\n\t Link 1: 25 GB/s\n",
        "\t Link 0: 25 GB/s\n",
        "GPU 0: NVIDIA A100 (UUID: GPU-a)\n\t Link 0: fast\n",
        "Failed to initialize NVML: Driver/library version mismatch\n",
    ],
)
def test_links_out_of_place(spoilt: str) -> None:
    with pytest.raises(Unreadable):
        smi.links(spoilt)


def test_copies() -> None:
    found = tools.bandwidth("nvbandwidth Version: v0.9\n" + text("nvbandwidth.json"))
    assert found["host_to_device_memcpy_ce"][0] == Cell(0, None, 54.589)
    between = found["device_to_device_memcpy_read_ce"]
    assert {(cell.gpu, cell.peer) for cell in between} == {(a, b) for a in range(8) for b in range(8) if a != b}


@pytest.mark.parametrize("status", ["Waived", "Error", "Not Found", "Running", None])
def test_a_copy_that_did_not_pass_has_no_measure(status: str | None) -> None:
    document = json.loads(text("nvbandwidth.json"))
    document["nvbandwidth"]["testcases"][0]["status"] = status
    assert set(tools.bandwidth(json.dumps(document))) == {"device_to_host_memcpy_ce", "device_to_device_memcpy_read_ce"}


@pytest.mark.parametrize(
    "spoilt",
    [
        '{"nvbandwidth": {"error": "CUDA_ERROR_NO_DEVICE", "testcases": []}}',
        '{"nvbandwidth": {}}',
        '{"nvbandwidth": {"testcases": [{"status": "Passed", "bandwidth_matrix": []}]}}',
        '{"nvbandwidth": {"testcases": [{"name": "x", "status": "Passed", "bandwidth_matrix": [["fast"]]}]}}',
        '{"nvbandwidth": {"testcases": [{"name": "x", "status": "Passed", "bandwidth_matrix": [["nan"]]}]}}',
        '{"nvbandwidth": {"testcases": [7]}}',
        "[]",
    ],
)
def test_copies_that_are_none(spoilt: str) -> None:
    with pytest.raises(Unreadable):
        tools.bandwidth(spoilt)


def test_all_reduce() -> None:
    good = text("all_reduce_perf.txt")
    assert tools.all_reduce(good) == AllReduce(8, 0, 479.445)
    assert tools.all_reduce(good.replace("values : 0 OK", "values : 50 FAILED")).wrong == 50
    assert tools.all_reduce(good.replace("values : 0 OK", "values : 0 FAILED")).wrong == 1


@pytest.mark.parametrize("lost", ["# Out of bounds", "# Avg bus", "#  Rank", " 17179869184"])
def test_an_all_reduce_that_lacks_something(lost: str) -> None:
    lines = text("all_reduce_perf.txt").splitlines(keepends=True)
    with pytest.raises(Unreadable, match="did not come to its end"):
        tools.all_reduce("".join(line for line in lines if not line.startswith(lost)))


@pytest.mark.parametrize("file", ["dcgmi-diag-4.json", "dcgmi-diag-3.json"])
def test_both_formats_of_dcgm(file: str) -> None:
    found = tools.diagnoses("Successfully ran diagnostic for group.\n" + text(file))
    assert Diagnosis("targeted_stress", 7, "pass", "") in found
    assert {one.status for one in found if one.test == "software"} == {"pass"}
    assert {one.test for one in found} >= {"software", "memory", "diagnostic", "pcie", "targeted_power"}


def test_what_dcgm_warns_of_is_told() -> None:
    result = {"entity_group": "GPU", "entity_id": 2, "status": "Fail", "warnings": [{"warning": "hot", "error_id": 9}]}
    test = {"name": "memory", "results": [result, {"entity_group": "CPU", "entity_id": 0, "status": "Pass"}]}
    document = {"DCGM Diagnostic": {"test_categories": [{"category": "Hardware", "tests": [test]}]}}
    assert tools.diagnoses(json.dumps(document)) == [
        Diagnosis("memory", 2, "fail", "hot"),
        Diagnosis("memory", None, "pass", ""),
    ]


@pytest.mark.parametrize(
    ("spoilt", "told"),
    [
        ('{"DCGM Diagnostic": {"runtime_error": "no host engine"}}', "no host engine"),
        ('{"DCGM Diagnostic": {"test_categories": []}}', "no test"),
        ('{"DCGM Diagnostic": {"test_categories": [{"tests": [{"name": "a"}]}]}}', "without"),
        ('{"DCGM Diagnostic": {"test_categories": [{"tests": [{"name": "a", "results": [{}]}]}]}}', "without"),
        ('{"another": {}}', "no diagnosis"),
        ("Error: unable to establish a connection to the specified host: localhost\n", "no whole JSON"),
    ],
)
def test_dcgm_that_ran_nothing(spoilt: str, told: str) -> None:
    with pytest.raises(Unreadable, match=told):
        tools.diagnoses(spoilt)


@pytest.mark.parametrize("tool", PARSERS)
@pytest.mark.parametrize("part", [0.0, 0.3, 0.97])
def test_what_is_cut_off_is_not_read(tool: str, part: float) -> None:
    """nvidia-smi's list of links has no end mark: there the counts tell, and judge wants them."""
    parse, file = PARSERS[tool]
    whole = text(file)
    cut = whole[: int(len(whole) * part)]
    if tool == "links" and part:
        assert sum(map(len, parse(cut.rpartition("\n")[0]).values())) < 8 * 18
        return
    if tool == "all_reduce_perf" and part > 0.9:
        cut = cut[: cut.index("# Avg")]
    with pytest.raises(Unreadable):
        parse(cut)


def test_xids_by_their_gpu() -> None:
    assert tools.xids(text("kernel.txt")) == [
        Xid((0, 0x44, 0), 31, "pid=5120, name=python3, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS"),
        Xid((0, 0x44, 0), 79, "pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
    ]
    assert tools.address("00000000:44:00.0") == (0, 0x44, 0)
    assert tools.xids("[12.3] nvrm: xid (PCI:0001:AF:00.0): 48\n") == [Xid((1, 0xAF, 0), 48, "")]
    assert tools.address("N/A") is None


def test_the_bus_and_the_fabric_manager() -> None:
    assert pci(PCI) == (8, 4)
    assert pci("0x8086 0x030000\n") == (0, 0)
    assert version("Fabric Manager version is : 580.178.04\n") == "580.178.04"
    for parse in (pci, version):
        with pytest.raises(Unreadable):
            parse("\n")
