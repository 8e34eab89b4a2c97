"""What a machine finds wrong with itself before work begins: by real tools' words, and by programs of its owners."""

import time
from pathlib import Path

import pytest

from tests.components.pools import joining_bed  # noqa: F401  (the scripts' folders)

import node_fitness  # isort: skip
import node_looks  # isort: skip

REAL = Path(__file__).parents[2] / "images/burn_in/outputs/real"
QUERY = (REAL / "nvidia-smi-q-x-1xh100-idle.xml").read_text()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of its own in the place of /sys, /proc and /etc, and programs in the place of all others."""
    for name in ("OWN", "GPUS", "NICS", "INFINIBAND"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(node_fitness, name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(node_looks, "mounts", list)
    return tmp_path


def program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def card(machine: Path, name: str, carrier: str = "1", flags: str = "0x1003") -> None:
    folder = machine / "NICS" / name
    (folder / "device").mkdir(parents=True, exist_ok=True)
    (folder / "carrier").write_text(f"{carrier}\n")
    (folder / "flags").write_text(f"{flags}\n")


def mlx(machine: Path, state: str) -> None:
    port = machine / "INFINIBAND/mlx5_0/ports/1"
    port.mkdir(parents=True, exist_ok=True)
    (port / "state").write_text(f"{state}\n")


def test_nothing_is_wrong_with_a_machine_that_has_nothing(machine: Path) -> None:
    assert node_fitness.Fitness().look() == []
    assert machine.exists()


def test_its_owners_programs_say_what_is_wrong(machine: Path) -> None:
    program(machine / "OWN/10-fan", "echo looking; echo fan 3 stands still; exit 1")
    program(machine / "OWN/20-fine", "echo well")
    (machine / "OWN/README").write_text("no program")
    assert node_fitness.Fitness().look() == ["10-fan: fan 3 stands still"]


def test_a_look_that_does_not_end_is_wrong_and_holds_no_other_up(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_fitness.ran, "__defaults__", (1.0,))
    program(machine / "OWN/10-slow", "exec sleep 60")
    program(machine / "OWN/20-slow", "exec sleep 60")
    begun = time.monotonic()
    assert node_fitness.Fitness().look() == ["10-slow has not ended after 1 s", "20-slow has not ended after 1 s"]
    assert time.monotonic() - begun < 5, "side by side"


def test_links_that_were_there_are_missed_and_ports_without_a_cable_are_not(machine: Path) -> None:
    card(machine, "eth0")
    card(machine, "eth1", carrier="0")
    mlx(machine, "4: ACTIVE")
    fitness = node_fitness.Fitness()
    assert fitness.look() == []
    card(machine, "eth0", carrier="0")
    mlx(machine, "1: DOWN")
    assert fitness.look() == ["eth0 is down", "mlx5_0 port 1 is down"]
    card(machine, "eth0")
    mlx(machine, "4: ACTIVE")
    assert fitness.look() == []


@pytest.mark.parametrize(
    ("told", "cards", "wrong"),
    [
        (QUERY, 1, []),
        (QUERY, 2, ["nvidia-smi tells of 1 GPUs, and there are 2"]),
        (
            QUERY.replace("<gpu_recovery_action>None<", "<gpu_recovery_action>Reset<"),
            1,
            ["GPU 00000000:04:00.0 wants: Reset"],
        ),
        (
            QUERY.replace("<remapped_row_failure>No<", "<remapped_row_failure>Yes<"),
            1,
            ["GPU 00000000:04:00.0 has rows of memory that could not be replaced"],
        ),
        (QUERY[:400], 1, ["nvidia-smi: no whole XML document (no element found: line 12, column 13)"]),
    ],
)
def test_gpus_by_the_words_of_a_real_h100(machine: Path, told: str, cards: int, wrong: list[str]) -> None:
    for number in range(cards):
        (machine / f"GPUS/0000:0{number}:00.0").mkdir()
    (machine / "told.xml").write_text(told)
    program(machine / "bin/nvidia-smi", f"[ \"$*\" = '-q -x' ] && cat {machine}/told.xml")
    found = node_fitness.Fitness().look()
    if "XML" in str(wrong):
        assert [one.partition("(")[0] for one in found] == [one.partition("(")[0] for one in wrong]
    else:
        assert [one.replace(bus(told), "00000000:04:00.0") for one in found] == wrong


def bus(text: str) -> str:
    return text.partition('<gpu id="')[2].partition('"')[0]


def test_a_driver_that_fails_is_told_in_its_own_words(machine: Path) -> None:
    (machine / "GPUS/0000:04:00.0").mkdir()
    program(
        machine / "bin/nvidia-smi", "echo 'Unable to determine the device handle for GPU0: Unknown Error'; exit 255"
    )
    assert node_fitness.Fitness().look() == [
        "nvidia-smi failed (255): Unable to determine the device handle for GPU0: Unknown Error"
    ]


@pytest.mark.parametrize(
    ("script", "wrong"),
    [
        ("echo A9FEA97B,169.254.169.123,4,1795960000.1,0.00001,0,0.00001,-7.1,0,0,0.0003,0.0002,16.1,Normal", []),
        (
            "echo 00000000,,0,0.0,0.0,0.0,0.0,-7.1,0,0,1.0,1.0,0.0,'Not synchronised'",
            ["the clock follows no other one"],
        ),
        (
            "echo '506 Cannot talk to daemon'; exit 1",
            ["the clock follows no other one: 506 Cannot talk to daemon"],
        ),
    ],
)
def test_a_clock_by_the_words_of_chrony(machine: Path, script: str, wrong: list[str]) -> None:
    program(machine / "bin/chronyc", script)
    assert node_fitness.Fitness().look() == wrong


def test_a_share_that_does_not_answer(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def mounted(point: str, kind: str) -> node_looks.Mount:
        return node_looks.Mount(point, kind, "10.0.0.5:/home", "0:50", frozenset({"rw"}), frozenset({"rw"}))

    found = [mounted(str(machine), "nfs4"), mounted("/nowhere/at-all", "nfs4"), mounted("/other", "tmpfs")]
    monkeypatch.setattr(node_looks, "mounts", lambda: found)
    (gone,) = node_fitness.Fitness().look()
    assert gone.startswith("the share at /nowhere/at-all: stat: ")
    monkeypatch.setattr(node_fitness, "SECONDS", 1.5)
    program(machine / "bin/stat", "exec sleep 60")
    assert node_fitness.Fitness().look() == [
        f"the share at {machine} does not answer",
        "the share at /nowhere/at-all does not answer",
    ]
