"""Tests under load, their order and their limits; tools that are missing, hang, or can't be read."""

import fcntl
import os
from pathlib import Path
from typing import Any

import pytest

from images.burn_in import run as runs
from images.burn_in.findings import Result
from images.burn_in.run import LOCK, NoGpu, Tools, begin, bounded, burn_in
from images.burn_in.smi import Unreadable
from landbridge.image.burn_in import runners
from tests.images.burn_in.bed import LIMITS, Played, bad, outcomes, text

LOADS = ("nvbandwidth", "all_reduce_perf", "dcgmi")
LAST = {"nvbandwidth": "device_to_device", "all_reduce_perf": "all_reduce", "dcgmi": "dcgm_level_3"}


def test_a_full_burn_in_looks_loads_one_by_one_and_looks_again() -> None:
    played = Played()
    found = played.found("full")
    assert (found.outcome, found.bad) == ("passed", [])
    assert [call for call in played.calls if call in (*LOADS, "nvidia-smi", "links")] == [
        "nvidia-smi",
        "links",
        "nvidia-smi",
        *LOADS,
        "nvidia-smi",
        "links",
    ]
    assert played.locked == set(LOADS)
    assert max(played.limits.values()) == 2700
    left_out = {one.test for one in found.findings if one.outcome == "left out"}
    assert left_out == {"dcgm_nvbandwidth"}, "which DCGM skipped, and we do ourselves"


def test_a_quick_one_puts_no_load_on() -> None:
    played = Played()
    played.found()
    assert set(played.calls) & set(LOADS) == set()


@pytest.mark.parametrize(
    ("case", "edge", "test"), [(0, "48", "host_to_device"), (1, "48", "device_to_host"), (2, "335", "device_to_device")]
)
def test_copies_at_their_edge(case: int, edge: str, test: str) -> None:
    played = Played()

    def measure(value: str) -> Any:
        row = 5 if test == "device_to_device" else 0
        return lambda found: found["nvbandwidth"]["testcases"][case]["bandwidth_matrix"][row].__setitem__(4, value)

    played.document("nvbandwidth", measure(f"{edge}.000"))
    assert played.found("full").outcome == "passed"
    played.document("nvbandwidth", measure(str(float(edge) - 0.001)))
    found = bad(played.found("full"))
    part = "GPU 5" if test == "device_to_device" else "GPU 4"
    assert {key: one.outcome for key, one in found.items()} == {(part, test): "failed"}
    if test == "device_to_device":
        assert found[part, test].measured == "334.999 GB/s with GPU 4"
    played.document("nvbandwidth", measure("N/A"))
    assert outcomes(played.found("full")) == {(part, test, "error")}, "a pair that was not measured has shown nothing"


def test_a_waived_copy_is_an_error() -> None:
    played = Played()
    played.document("nvbandwidth", lambda found: found["nvbandwidth"]["testcases"][2].update(status="Waived"))
    assert {one[1:] for one in outcomes(played.found("full"))} == {("device_to_device", "error")}


@pytest.mark.parametrize(("average", "outcome"), [("460", "passed"), ("459.99", "failed")])
def test_all_reduce_at_its_edge(average: str, outcome: str) -> None:
    played = Played()
    played.says("all_reduce_perf", text("all_reduce_perf.txt").replace("479.445", average))
    found = played.found("full")
    assert found.outcome == outcome
    if found.bad:
        assert found.bad[0].summary == ("GPUs 0-7 together: NCCL all-reduce: 459.99 GB/s, allowed at least 460 GB/s")


def test_wrong_results_of_nccl() -> None:
    played = Played()
    wrong = text("all_reduce_perf.txt").replace("values : 0 OK", "values : 3 FAILED")
    played.says("all_reduce_perf", wrong, code=1)
    assert outcomes(played.found("full")) == {("GPUs 0-7 together", "all_reduce_wrong", "failed")}


def test_nccl_with_fewer_gpus_than_are_there() -> None:
    played = Played()
    lines = text("all_reduce_perf.txt").splitlines(keepends=True)
    played.says("all_reduce_perf", "".join(line for line in lines if not line.startswith("#  Rank  7")))
    assert outcomes(played.found("full")) == {("GPUs 0-7 together", "all_reduce", "error")}


def test_a_number_of_gpus_without_a_threshold() -> None:
    played = Played()
    played.count(4)
    played.document("nvbandwidth", four)
    lines = text("all_reduce_perf.txt").splitlines(keepends=True)
    ranks = tuple(f"#  Rank  {rank}" for rank in range(4, 8))
    played.says("all_reduce_perf", "".join(line for line in lines if not line.startswith(ranks)))
    found = bad(played.found("full", expected=4))
    assert found["GPUs 0-3 together", "all_reduce"].measured == "no threshold for 4 GPUs"


def four(found: Any) -> None:
    for case in found["nvbandwidth"]["testcases"]:
        case["bandwidth_matrix"] = [row[:4] for row in case["bandwidth_matrix"]][:4]


def test_one_gpu_alone_needs_no_peer() -> None:
    played = Played()
    played.count(1)
    played.gpu(0, "fabric/state", None)
    only = lambda found: [case.update(bandwidth_matrix=[["55.0"]]) for case in found["nvbandwidth"]["testcases"][:2]]  # noqa: E731
    played.document("nvbandwidth", only)

    def first(found: Any) -> None:
        for category in found["DCGM Diagnostic"]["test_categories"]:
            for test in category["tests"]:
                test["results"] = test["results"][:1]

    played.document("dcgmi", first)
    found = played.found("full", expected=1)
    assert (found.outcome, found.bad) == ("passed", [])
    assert "all_reduce_perf" not in played.calls


@pytest.mark.parametrize("status", ["Fail", "Warn", "Skip", "Not Run", "Unheard Of"])
@pytest.mark.parametrize(("place", "test"), [((2, 0), "memory"), ((3, 1), "targeted_stress")])
def test_what_dcgm_did_not_pass(status: str, place: tuple[int, int], test: str) -> None:
    played = Played()
    category, number = place

    def spoil(found: Any) -> None:
        result = found["DCGM Diagnostic"]["test_categories"][category]["tests"][number]["results"][6]
        result.update(status=status, warnings=[{"warning": "too hot"}])

    played.document("dcgmi", spoil)
    found = bad(played.found("full"))
    assert set(found) == {("GPU 6", f"dcgm_{test}")}
    one = found["GPU 6", f"dcgm_{test}"]
    assert (one.outcome, one.measured) == ("failed" if status == "Fail" else "error", f"{status.lower()}: too hot")


def test_a_test_that_dcgm_left_away_and_a_gpu_that_nobody_knows() -> None:
    played = Played()

    def spoil(found: Any) -> None:
        tests = found["DCGM Diagnostic"]["test_categories"][3]["tests"]
        tests[1]["results"][0]["entity_id"] = 9
        del tests[2]

    played.document("dcgmi", spoil)
    found = outcomes(played.found("full"))
    assert {(f"GPU {n}", "dcgm_targeted_power", "error") for n in range(8)} <= found
    assert ("GPU 0", "dcgm_targeted_stress", "error") in found
    assert ("GPU 9 of DCGM, which the driver does not tell of", "dcgm_targeted_stress", "error") in found


def test_dcgm_3_passes_too_and_each_part_of_its_software_counts() -> None:
    played = Played()
    played.says("dcgmi", text("dcgmi-diag-3.json"))
    assert played.found("full").outcome == "passed"
    deployment = lambda found: found["DCGM GPU Diagnostic"]["test_categories"][0]["tests"]  # noqa: E731
    for status, outcome in (("WARN", "error"), ("FAIL", "failed"), ("SKIP", "passed")):
        played.document("dcgmi", lambda found, status=status: deployment(found)[4]["results"][0].update(status=status))
        assert played.found("full").outcome == outcome


@pytest.mark.parametrize("tool", LOADS)
@pytest.mark.parametrize(
    ("code", "out", "err", "outcome", "told"),
    [
        (127, "", "timeout: failed to run command", "error", "is not installed"),
        (124, "half", "", "failed", "did not end within"),
        (137, "", "", "failed", "did not end within"),
        (75, "", "", "error", "another burn-in"),
        (1, "", "CUDA driver version is insufficient", "error", "(1): CUDA driver version is insufficient"),
        (0, "", "", "error", ""),
        (0, "{", "", "error", ""),
    ],
)
def test_a_tool_that_tells_nothing(tool: str, code: int, out: str, err: str, outcome: str, told: str) -> None:
    played = Played()
    played.says(tool, out, code, err)
    found = played.found("full")
    assert found.outcome == outcome
    assert {one.outcome for one in found.bad} == {outcome}
    assert {one.test for one in found.bad} & {LAST[tool]}
    assert all(told in one.measured for one in found.bad)


@pytest.mark.parametrize("tool", LOADS)
def test_an_exit_code_counts_though_all_that_was_said_is_good(tool: str) -> None:
    played = Played()
    played.says(tool, played.tools[tool].out, 3)
    found = played.found("full")
    assert [one.measured for one in found.bad] == [f"exit code 3 of {tool}"]
    assert found.outcome == "error"


@pytest.mark.parametrize(
    ("tool", "code", "out", "test", "outcome"),
    [
        ("links", 127, "", "nvlinks", "error"),
        ("links", 124, "", "nvlinks", "failed"),
        ("journalctl", 127, "", "xids", "error"),
        ("journalctl", 1, "", "xids", "error"),
        ("journalctl", 124, "", "xids", "failed"),
        ("id", 0, "1000\n", "xids", "error"),
        ("nv-fabricmanager", 127, "", "fabric_manager", "error"),
        ("sh", 1, "", "gpus_on_pci", "error"),
    ],
)
def test_a_look_that_tells_nothing(tool: str, code: int, out: str, test: str, outcome: str) -> None:
    played = Played()
    played.says(tool, out, code)
    assert {(one[1], one[2]) for one in outcomes(played.found())} == {(test, outcome)}


def test_work_on_gpus_is_not_disturbed() -> None:
    played = Played()
    good = played.tools["nvidia-smi"].out
    process = "<processes><process_info><pid>77</pid><process_name>python3</process_name></process_info>"
    # It came between the first look and the load.
    played.meanwhile["nvidia-smi", 2] = lambda: played.says("nvidia-smi", good.replace("<processes>", process, 1))
    found = played.found("full")
    assert outcomes(found) == {("GPU 0", "at_work", "error")}
    assert found.bad[0].measured == "77 (python3)"
    assert set(played.calls) & set(LOADS) == set()
    played.says("nvidia-smi", good.replace("<processes>", process, 1))
    assert played.found("quick").outcome == "passed", "looking disturbs nobody"


def test_a_driver_that_goes_silent_before_the_load_gets_none() -> None:
    played = Played()
    played.meanwhile["nvidia-smi", 2] = lambda: played.says("nvidia-smi", "", 124)
    assert outcomes(played.found("full")) == {("machine", "nvidia_smi", "failed")}
    assert set(played.calls) & set(LOADS) == set()


def test_after_a_failure_no_load_is_put_on() -> None:
    played = Played()
    played.gpu(3, "remapped_rows/remapped_row_pending", "Yes")
    found = played.found("full")
    assert outcomes(found) == {("GPU 3", "rows_pending", "failed")}
    assert set(played.calls) & set(LOADS) == set()


def test_what_the_load_has_broken_is_seen() -> None:
    played = Played()
    played.meanwhile["nvidia-smi", 3] = lambda: played.gpu(1, "ecc_errors/volatile/sram_uncorrectable_parity", "1")
    assert outcomes(played.found("full")) == {("GPU 1", "sram_uncorrectable", "failed")}
    lost = Played()
    lost.meanwhile["nvidia-smi", 3] = lambda: lost.says("nvidia-smi", "", 15, "Unable to determine: GPU is lost")
    found = lost.found("full")
    assert outcomes(found) == {("machine", "nvidia_smi", "failed")}
    assert "GPU is lost" in found.bad[0].measured


NO_DRIVER = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
NONE = "<nvidia_smi_log><attached_gpus>0</attached_gpus></nvidia_smi_log>"


@pytest.mark.parametrize(
    ("bus", "code", "out", "told"),
    [
        ("0x8086 0x030000\n", 127, "", "no GPU: nothing was tested"),
        ("0x8086 0x030000\n", 9, NO_DRIVER, "no GPU: nothing was tested"),
        ("", 0, NONE, "no GPU: nothing was tested"),
        ("0x10de 0x030200\n", 127, "", "1 GPUs on PCI, and no driver that answers"),
        ("0x10de 0x030200\n", 9, NO_DRIVER, "1 GPUs on PCI, and no driver that answers"),
        ("0x10de 0x030200\n", 6, "No devices were found\n", "1 GPUs on PCI, and no driver that answers"),
        ("0x10de 0x030200\n", 0, NONE, "1 GPUs on PCI, and no driver that answers"),
    ],
)
def test_no_gpu_is_said_and_concludes_nothing(bus: str, code: int, out: str, told: str) -> None:
    played = Played()
    played.says("sh", bus)
    played.says("nvidia-smi", out, code)
    found = played.any()
    assert isinstance(found, NoGpu)
    assert told in found.why
    assert "nothing was tested" in found.why


@pytest.mark.parametrize(("code", "outcome"), [(124, "failed"), (0, "error"), (255, "error")])
def test_a_driver_that_is_stuck_has_failed_and_one_that_is_not_understood_is_an_error(code: int, outcome: str) -> None:
    played = Played()
    played.says("nvidia-smi", "<nvidia_smi_log><gpu>", code)
    found = played.any("full")
    assert isinstance(found, Result)
    assert (found.outcome, found.gpus, played.calls) == (outcome, (), ["sh", "nvidia-smi"])


def test_a_machine_that_lets_nobody_become_root_is_no_machine_without_gpus() -> None:
    played = Played()
    for tool in ("sh", "nvidia-smi"):
        played.says(tool, "", 1, "sudo: a password is required")
    found = played.any()
    assert isinstance(found, Result)
    assert "sudo: a password is required" in found.bad[0].measured
    assert found.outcome == "error"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's tools as programs that say what outputs/ has, for the commands as they really run."""
    says = Played().tools
    for name in ("nvbandwidth", "all_reduce_perf", "dcgmi", "nv-fabricmanager", "journalctl", "sh", "id"):
        (tmp_path / f"{name}.out").write_text(says[name].out)
        program(tmp_path / name, f"/bin/cat {tmp_path}/{name}.out")
    for name in ("nvidia-smi", "links"):
        (tmp_path / f"{name}.out").write_text(says[name].out)
    smi = f'[ "$1" = nvlink ] && exec /bin/cat {tmp_path}/links.out; exec /bin/cat {tmp_path}/nvidia-smi.out'
    program(tmp_path / "nvidia-smi", smi)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def program(file: Path, body: str) -> None:
    file.write_text(f"#!/bin/bash\n{body}\n")
    file.chmod(0o755)


def test_the_commands_really_run(programs: Path) -> None:
    """env, flock and timeout are this machine's own."""
    said: list[str] = []
    tools = Tools(runners.here, said.append)
    begun = begin(tools)
    assert not isinstance(begun, NoGpu)
    found = burn_in(tools, begun, LIMITS, "full", 8)
    assert (found.outcome, found.bad) == ("passed", [])
    assert "nvbandwidth: up to 5 min" in said
    (programs / "dcgmi").unlink()
    with Path(LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = burn_in(tools, begun, LIMITS, "full", 8)
    assert {one.measured for one in found.bad} == {"another burn-in is at it"}
    assert {one.measured for one in burn_in(tools, begun, LIMITS, "full", 8).bad} == {"dcgmi is not installed"}


def test_a_command_ends_when_its_time_is_over() -> None:
    value, code = Tools(runners.here, lambda _: None).read(["sleep", "20"], str, 1)
    assert (code, value) == (124, runs.Trouble("sleep did not end within 1 s", failed=True))
    assert bounded(["a"], 60)[:3] == ["env", "LC_ALL=C", "CUDA_DEVICE_ORDER=PCI_BUS_ID"]


def test_a_way_that_does_not_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "GRACE_SECONDS", 0.2)
    assert runners.here(["sleep", "20"], 0.3).code == 124


def test_exit_codes_of_nvidia_smi_count() -> None:
    """14: a GPU's infoROM is damaged, and the document beside it is whole."""
    played = Played()
    played.says("nvidia-smi", text("nvidia-smi.xml"), 14)
    assert outcomes(played.found()) == {("machine", "nvidia_smi", "error")}
    with pytest.raises(Unreadable):
        runs.version("")
