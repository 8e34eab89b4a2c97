"""A machine with eight H100 as its tools tell of it: outputs/ has the texts, and each test spoils what it is about."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from images.burn_in import thresholds
from images.burn_in.findings import Finding, Kind, Result
from images.burn_in.run import NoGpu, Ran, Tools, begin, burn_in
from images.burn_in.thresholds import Thresholds

OUTPUTS = Path(__file__).with_name("outputs")
LIMITS = thresholds.load()
PCI = "0x10de 0x030200\n" * 8 + "0x10de 0x068000\n" * 4 + "0x8086 0x060400\n"
MANAGER = "Fabric Manager version is : 580.178.04\n"


def text(name: str) -> str:
    return (OUTPUTS / name).read_text()


class Played:
    """What each tool says, by its name (`links` is nvidia-smi's other one); `calls` are those that ran."""

    def __init__(self) -> None:
        self.tools: dict[str, Ran] = {
            "sh": Ran(0, PCI, ""),
            "id": Ran(0, "0\n", ""),
            "nvidia-smi": Ran(0, text("nvidia-smi.xml"), ""),
            "links": Ran(0, text("nvidia-smi-nvlink.txt"), ""),
            "journalctl": Ran(0, "", ""),
            "nv-fabricmanager": Ran(0, MANAGER, ""),
            "nvbandwidth": Ran(0, text("nvbandwidth.json"), ""),
            "all_reduce_perf": Ran(0, text("all_reduce_perf.txt"), ""),
            "dcgmi": Ran(0, text("dcgmi-diag-4.json"), ""),
        }
        self.calls: list[str] = []
        self.locked: set[str] = set()
        self.limits: dict[str, float] = {}
        # Before the call of that name and number.
        self.meanwhile: dict[tuple[str, int], Callable[[], None]] = {}

    def __call__(self, argv: Sequence[str], seconds: float) -> Ran:
        words = list(argv)
        command = words[words.index("timeout") + 3 :]
        name = "links" if command[:2] == ["nvidia-smi", "nvlink"] else command[0]
        self.calls.append(name)
        self.limits[name] = seconds
        assert words[words.index("timeout") + 2] == f"{seconds:.0f}"
        if "flock" in words:
            self.locked.add(name)
        if change := self.meanwhile.get((name, self.calls.count(name))):
            change()
        return self.tools[name]

    def says(self, name: str, out: str, code: int = 0, err: str = "") -> None:
        self.tools[name] = Ran(code, out, err)

    def smi(self, spoil: Callable[[ET.Element], None]) -> None:
        """Changes what nvidia-smi tells."""
        root = ET.fromstring(self.tools["nvidia-smi"].out)
        spoil(root)
        self.says("nvidia-smi", ET.tostring(root, encoding="unicode"))

    def gpu(self, number: int, path: str, value: str | None) -> None:
        """A value of one GPU's, None for one that is not told."""

        def spoil(root: ET.Element) -> None:
            one = root.findall("gpu")[number].find(path)
            assert one is not None, path
            one.text = "N/A" if value is None else value

        self.smi(spoil)

    def document(self, name: str, change: Callable[[Any], None]) -> None:
        found = json.loads(self.tools[name].out)
        change(found)
        self.says(name, json.dumps(found))

    def count(self, gpus: int) -> None:
        """The machine has fewer GPUs, and its driver and bus agree on that."""

        def spoil(root: ET.Element) -> None:
            for one in root.findall("gpu")[gpus:]:
                root.remove(one)
            root.find("attached_gpus").text = str(gpus)  # type: ignore[union-attr]

        self.smi(spoil)
        self.says("sh", "0x10de 0x030200\n" * gpus)

    def found(self, kind: Kind = "quick", expected: int | None = None, limits: Thresholds = LIMITS) -> Result:
        told = self.any(kind, expected, limits)
        assert isinstance(told, Result), told
        return told

    def any(self, kind: Kind = "quick", expected: int | None = None, limits: Thresholds = LIMITS) -> Result | NoGpu:
        tools = Tools(self, lambda _: None)
        begun = begin(tools)
        return begun if isinstance(begun, NoGpu) else burn_in(tools, begun, limits, kind, expected)


def bad(found: Result) -> dict[tuple[str, str], Finding]:
    """By the GPU's number, or the part, and the test."""
    return {(one.part.partition(" (")[0], one.test): one for one in found.bad}


def outcomes(found: Result) -> set[tuple[str, str, str]]:
    return {(*key, one.outcome) for key, one in bad(found).items()}
