"""Verdicts: each threshold at its edge, and that nothing which was not shown is taken for good."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from images.burn_in import smi
from images.burn_in.findings import Finding, merged, verdict
from images.burn_in.thresholds import EVERY
from tests.images.burn_in.bed import LIMITS, Played, bad, outcomes, text

# Test → where nvidia-smi tells it, the last value that is allowed, and one beyond.
EDGES = {
    "persistence_mode": ("persistence_mode", "Enabled", "Disabled"),
    "ecc_mode": ("ecc_mode/current_ecc", "Enabled", "Disabled"),
    "recovery_action": ("gpu_recovery_action", "None", "GPU Reset"),
    "rows_pending": ("remapped_rows/remapped_row_pending", "No", "Yes"),
    "rows_failure": ("remapped_rows/remapped_row_failure", "No", "Yes"),
    "rows_uncorrectable": ("remapped_rows/remapped_row_unc", "512", "513"),
    "sram_uncorrectable": ("ecc_errors/volatile/sram_uncorrectable_secded", "0", "1"),
    "sram_correctable": ("ecc_errors/aggregate/sram_correctable", "10000", "10001"),
    "dram_uncorrectable": ("ecc_errors/volatile/dram_uncorrectable", "20000000", "20000001"),
    "dram_correctable": ("ecc_errors/aggregate/dram_correctable", "20000000", "20000001"),
    "pcie_width": ("pci/pci_gpu_link_info/link_widths/current_link_width", "16x", "8x"),
    "graphics_clock": ("max_clocks/graphics_clock", "1980 MHz", "1979 MHz"),
    "fabric": ("fabric/status", "Success", "Insufficient Resources"),
}
MIG = "mig_mode/current_mig"


def test_a_sound_machine_passes() -> None:
    found = Played().found()
    assert (found.outcome, found.bad, found.model) == ("passed", [], "h100-sxm")
    assert {one.test for one in found.findings} == {
        *EVERY,
        "gpus",
        "gpus_on_pci",
        "graphics_clock",
        "slowed_by",
        "fabric",
        "fabric_manager",
        "nvlinks",
        "nvlink_rate",
        "xids",
    }


def test_every_limit_has_its_edge_here() -> None:
    assert set(EVERY) - {"mig_mode"} <= set(EDGES)


@pytest.mark.parametrize("test", EDGES)
def test_a_limit_at_its_edge(test: str) -> None:
    path, last, beyond = EDGES[test]
    played = Played()
    played.gpu(3, path, last)
    assert played.found().outcome == "passed"
    played.gpu(3, path, beyond)
    assert outcomes(played.found()) == {("GPU 3", test, "failed")}
    played.gpu(3, path, None)
    assert outcomes(played.found()) == {("GPU 3", test, "failed" if test == "fabric" else "error")}


def test_slices_are_not_judged() -> None:
    played = Played()
    played.gpu(2, MIG, "Enabled")
    assert outcomes(played.found()) == {("GPU 2", "mig_mode", "error")}


def test_the_part_is_named() -> None:
    played = Played()
    played.gpu(3, EDGES["rows_uncorrectable"][0], "513")
    told = bad(played.found())["GPU 3", "rows_uncorrectable"].summary
    uuid = "GPU-00000003-1111-4222-8333-000000000004"
    assert told == f"GPU 3 (serial 1654023001021, {uuid}): uncorrectable remapped rows: 513, allowed at most 512"


@pytest.mark.parametrize(
    "reason", ["hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown", "sw_thermal_slowdown"]
)
def test_reasons_for_lower_clocks(reason: str) -> None:
    played = Played()
    played.gpu(6, "clocks_event_reasons/clocks_event_reason_sw_power_cap", "Active")
    assert played.found().outcome == "passed"
    played.gpu(6, f"clocks_event_reasons/clocks_event_reason_{reason}", "Active")
    found = bad(played.found())
    assert set(found) == {("GPU 6", "slowed_by")}
    assert found["GPU 6", "slowed_by"].measured == reason.replace("_", " ")


def test_a_reason_that_nobody_knows_yet_is_trouble_and_none_told_is_an_error() -> None:
    played = Played()

    def spoil(root: ET.Element) -> None:
        reasons = root.findall("gpu")[0].find("clocks_event_reasons")
        assert reasons is not None
        ET.SubElement(reasons, "clocks_event_reason_of_tomorrow").text = "Active"

    played.smi(spoil)
    assert outcomes(played.found()) == {("GPU 0", "slowed_by", "failed")}
    played.smi(lambda root: [one.remove(one.find("clocks_event_reasons")) for one in root.findall("gpu")])  # type: ignore[arg-type]
    assert {one[1:] for one in outcomes(played.found())} == {("slowed_by", "error")}


@pytest.mark.parametrize(
    ("gpus", "expected", "outcome"), [(8, None, "passed"), (8, 8, "passed"), (7, None, "failed"), (7, 8, "failed")]
)
def test_the_number_of_gpus(gpus: int, expected: int | None, outcome: str) -> None:
    """Without a number from the fleet it is the board's."""
    played = Played()
    played.count(gpus)
    found = played.found(expected=expected)
    assert found.outcome == outcome
    if outcome == "failed":
        assert bad(found)["machine", "gpus"].summary == "machine: GPUs of the driver: 7, allowed 8"
    assert played.found(expected=gpus).outcome == "passed"


def test_a_gpu_that_the_bus_has_and_the_driver_not() -> None:
    played = Played()
    played.count(7)
    played.says("sh", "0x10de 0x030200\n" * 8)
    assert outcomes(played.found(expected=7)) == {("machine", "gpus_on_pci", "failed")}


def test_a_model_without_thresholds_is_not_judged() -> None:
    played = Played()
    played.says("nvidia-smi", text("nvidia-smi.xml").replace("NVIDIA H100 80GB HBM3", "NVIDIA L4"))
    assert outcomes(played.found(expected=8)) == {("machine", "model", "error")}
    found = played.found()
    assert found.outcome == "error"
    assert bad(found)["machine", "gpus"].allowed == "--expect NUMBER"


def test_a_machine_of_two_models_is_not_judged() -> None:
    played = Played()
    played.gpu(1, "product_name", "NVIDIA H200")
    assert outcomes(played.found(expected=8)) == {("machine", "model", "error")}


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("Link 17: 26.562 GB/s\n", "Link 17: <inactive>\n", ("nvlinks", "failed")),
        ("Link 17: 26.562 GB/s\n", "Link 17: 25 GB/s\n", None),
        ("Link 17: 26.562 GB/s\n", "Link 17: 24.9 GB/s\n", ("nvlink_rate", "failed")),
        ("\t Link 17: 26.562 GB/s\n", "", ("nvlinks", "failed")),
    ],
)
def test_links(old: str, new: str, wanted: tuple[str, str] | None) -> None:
    played = Played()
    played.says("links", text("nvidia-smi-nvlink.txt").replace(old, new, 1))
    assert outcomes(played.found()) == ({("GPU 0", *wanted)} if wanted else set())


def test_a_gpu_whose_links_are_not_told() -> None:
    played = Played()
    played.says("links", "".join(text("nvidia-smi-nvlink.txt").partition("GPU 7:")[:1]))
    assert outcomes(played.found()) == {("GPU 7", "nvlinks", "error"), ("GPU 7", "nvlink_rate", "error")}


def test_one_gpu_has_no_links_and_no_fabric() -> None:
    played = Played()
    played.count(1)
    played.gpu(0, "fabric/state", None)
    found = played.found(expected=1)
    assert (found.outcome, "links" in played.calls) == ("passed", False)
    assert [one.test for one in found.findings if one.outcome == "left out"] == ["nvlinks"]


def test_xids_of_the_list_and_of_programs() -> None:
    played = Played()
    log = text("kernel.txt")
    played.says("journalctl", "".join(line for line in log.splitlines(keepends=True) if "): 79" not in line))
    assert played.found().outcome == "passed", "31 is a program's own mistake"
    played.says("journalctl", log)
    found = bad(played.found())
    assert set(found) == {("GPU 3", "xids")}
    assert found["GPU 3", "xids"].measured.startswith("79 (")
    played.says("journalctl", log.replace("0000:44:00", "0000:45:00"))
    assert "not there at PCI 0000:45:00" in bad(played.found())["machine", "xids"].measured


@pytest.mark.parametrize("code", LIMITS.xids.fatal)
def test_each_xid_of_the_list(code: int) -> None:
    played = Played()
    played.says("journalctl", f"NVRM: Xid (PCI:0000:0a:00): {code}, pid=1\n")
    assert outcomes(played.found()) == {("GPU 0", "xids", "failed")}


def test_a_fabric_manager_of_another_version() -> None:
    played = Played()
    played.says("nv-fabricmanager", "Fabric Manager version is : 580.65.06\n")
    assert outcomes(played.found()) == {("machine", "fabric_manager", "failed")}


F = Finding("GPU 0", "u", "rows", "0", "0", "passed")


@pytest.mark.parametrize(
    ("some", "wanted"),
    [
        ([], "error"),
        (["left out"], "error"),
        (["passed"], "passed"),
        (["passed", "left out"], "passed"),
        (["passed", "error"], "error"),
        (["passed", "error", "failed"], "failed"),
    ],
)
def test_verdicts_over_all(some: list[Any], wanted: str) -> None:
    assert verdict([F._replace(outcome=one) for one in some]) == wanted


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [("passed", "failed", "failed"), ("failed", "passed", "failed"), ("error", "passed", "error")],
)
def test_after_the_load_nothing_gets_better(first: Any, second: Any, wanted: str) -> None:
    found = merged([F._replace(outcome=first)], [F._replace(outcome=second)])
    assert [one.outcome for one in found] == [wanted]


def test_the_digest_is_of_what_was_found() -> None:
    played = Played()
    first, again = played.found(), played.found()
    assert first.digest == again.digest
    played.gpu(0, EDGES["rows_uncorrectable"][0], "1")
    assert played.found().digest != first.digest
    assert smi.parse(played.tools["nvidia-smi"].out).gpus[0].readings["rows_uncorrectable"] == 1
