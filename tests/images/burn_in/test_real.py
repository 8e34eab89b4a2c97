"""What real GPUs said: machines with one H100 or H200 that was passed through, driver 580.159.04, CUDA 13.0.

Only serial numbers, UUIDs and PDIs are replaced. Neither machine had journalctl, DCGM or a second GPU.
"""

import pytest

from images.burn_in import tools
from images.burn_in.findings import Kind
from images.burn_in.run import MISSING
from images.burn_in.tools import AllReduce
from tests.images.burn_in.bed import Played, bad, outcomes, text

UNJUDGED = ("machine", "xids", "error")
MEASURED = ("host_to_device", "device_to_host", "device_to_device")


def machine(what: str) -> Played:
    """One of h100-idle, h100-busy and h200-idle; what tools said of links is an empty text, on both."""
    played = Played()
    played.says("sh", "0x8086 0x060000\n0x1af4 0x020000\n0x10de 0x030200\n")
    played.says("nvidia-smi", text(f"real/nvidia-smi-q-x-1x{what}.xml"))
    played.says("links", "")
    for name in ("journalctl", "dcgmi", "nv-fabricmanager"):
        played.says(name, "", MISSING)
    played.says("nvbandwidth", text("real/nvbandwidth-1xh100.json"))
    played.says("all_reduce_perf", text("real/all_reduce_perf-1xh100.txt"))
    return played


@pytest.mark.parametrize("what", ["h100-idle", "h100-busy", "h200-idle"])
def test_a_real_gpu_is_sound_but_for_what_could_not_be_asked(what: str) -> None:
    found = machine(what).found("quick", expected=1)
    assert outcomes(found) == {UNJUDGED}
    assert {one.test for one in found.findings if one.outcome == "left out"} == {"nvlinks"}
    assert sum(one.outcome == "passed" for one in found.findings) == 16


def test_copies_to_and_from_a_real_gpu_are_fast_enough_and_it_has_no_peer() -> None:
    played = machine("h100-idle")
    found = played.found("full", expected=1)
    assert outcomes(found) == {UNJUDGED, ("machine", "dcgm_level_3", "error")}
    assert {one.test: (one.measured, one.outcome) for one in found.findings if one.test in MEASURED} == {
        "host_to_device": ("54.9678 GB/s", "passed"),
        "device_to_host": ("55.1131 GB/s", "passed"),
        "device_to_device": ("one GPU has no peer", "left out"),
    }
    assert "all_reduce_perf" not in played.calls


def test_a_program_at_work_on_a_real_gpu_is_left_alone() -> None:
    """A power cap slows the clock of a GPU that multiplies with all it has: that is no fault."""
    played = machine("h100-busy")
    found = played.found("full", expected=1)
    assert bad(found)["GPU 0", "at_work"].measured == "837 (python3)"
    assert not {"nvbandwidth", "dcgmi"} & set(played.calls)
    slowed = {one.measured for one in found.findings if one.test == "slowed_by"}
    assert slowed == {"sw power cap"}


@pytest.mark.parametrize("kind", ["quick", "full"])
def test_a_board_of_eight_that_shows_one_gpu_has_failed(kind: Kind) -> None:
    """Seven GPUs that fell off the bus leave a machine that says nothing wrong of the eighth."""
    played = machine("h100-idle")
    assert ("machine", "gpus", "failed") in outcomes(played.found(kind))
    assert "nvbandwidth" not in played.calls


def test_the_real_all_reduce_of_one_gpu_measures_no_bus() -> None:
    assert tools.all_reduce(text("real/all_reduce_perf-1xh100.txt")) == AllReduce(ranks=1, wrong=0, gb_s=0.0)
